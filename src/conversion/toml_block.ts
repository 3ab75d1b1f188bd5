/**
 * A block of TOML as Maps, arrays and texts, for frontmatter.ts. Pure. The parser is loaded on first use,
 * because few files have TOML.
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/**
 * Numbers are written as JavaScript does (`1.10` is `1.1`), dates and times as in the file.
 * @param depthMax nesting of arrays and tables
 * @throws Error whose message names the line
 */
export function parseTomlBlock(block: string, depthMax: number): Map<unknown, unknown> {
  const { parse } = require('smol-toml') as typeof import('smol-toml')
  try {
    return mapOf(parse(block, { maxDepth: depthMax, integersAsBigInt: 'asNeeded' }), depthMax)
  } catch (error) {
    const line = error instanceof Error && 'line' in error ? ` (line ${Number(error.line) + 1})` : ''
    throw new Error(`${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}${line}`)
  }
}

/** A dotted name of 256 KB makes a table of 128 K levels, which must not be recursed into. */
function mapOf(table: object, levels: number): Map<unknown, unknown> {
  if (levels === 0) throw new Error('nested too deep')
  return new Map(Object.entries(table).map(([name, value]) => [name, plain(value, levels - 1)]))
}

function plain(value: unknown, levels: number): unknown {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map((item) => plain(item, levels))
  return typeof value === 'object' && value !== null ? mapOf(value, levels) : value
}
