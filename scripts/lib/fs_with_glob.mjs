/**
 * Gives a program `fs.globSync`, which Node has since version 22, for `node --import`: the conformance suite
 * of MCP imports it, and calls it only to compare reports.
 */
import { register } from 'node:module'

const HOOKS = `
  export async function resolve(specifier, context, next) {
    if (specifier !== 'fs' || context.parentURL?.includes('/conformance/') !== true) return await next(specifier, context)
    return { url: 'mds:fs', shortCircuit: true }
  }
  export async function load(url, context, next) {
    if (url !== 'mds:fs') return await next(url, context)
    const source = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => []"
    return { format: 'module', shortCircuit: true, source }
  }
`
register(`data:text/javascript,${encodeURIComponent(HOOKS)}`)
