/**
 * Finds the bounds of the server: the constants of `src` in capitals that are numbers and have a comment,
 * their own or that of the line before. A bound stands beside its only reader, else in `src/limits`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const DECLARATION = /^(export )?const ([A-Z][A-Z0-9_]*)(?:: number)? = (.+?)(?: \/\/.*)?$/
/** A number, or arithmetic over numbers and other constants. */
const ARITHMETIC = /^[\w\s.*/+()-]+$/
const NUMBER = /^-?\d|\b(?:\d|[KMG]IB\b|[A-Z][A-Z0-9]*_[A-Z0-9_]+\b)/
const WORDS = /\b(?:new|true|false|null|undefined)\b|[a-z]{3}/

const isNumber = (value) => ARITHMETIC.test(value) && NUMBER.test(value) && !WORDS.test(value.replaceAll(/Math\.\w+|\b0x[\da-f_]+/g, ''))

/** The comment that ends above the line, as one line of text. */
function commentAbove(lines, at) {
  if (!/\*\/$/.test(lines[at - 1] ?? '')) return undefined
  let first = at - 1
  while (!/^\/\*\*/.test(lines[first])) first--
  const text = lines.slice(first, at).map((line) => line.replace(/^\s*\/?\*+\/?\s?/, '').replace(/\s*\*\/$/, ''))
  // The comment of the file is none of its first constant.
  return first === 0 ? undefined : text.join(' ').trim()
}

/**
 * @param path below `src`
 * @returns {path, line, name, value, comment, isExported}, in the order of the file
 */
export function boundsIn(path, text) {
  const lines = text.split('\n')
  const bounds = []
  let last
  for (const [at, line] of lines.entries()) {
    const [, exported, name, start] = DECLARATION.exec(line) ?? []
    if (name === undefined || !isNumber(start)) continue
    const comment = commentAbove(lines, at) ?? (last?.line === at ? last.comment : undefined)
    if (comment === undefined) continue
    last = { path, line: at + 1, name, value: start, comment, isExported: exported !== undefined }
    bounds.push(last)
  }
  return bounds
}

/** All bounds of `src` below the root, by path. */
export function boundsOf(root) {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .flatMap((path) => boundsIn(path, readFileSync(join(root, 'src', path), 'utf8')))
}
