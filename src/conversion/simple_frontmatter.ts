/**
 * The frontmatter of pages that import-url fetches: lines `name: value`, as the contract has it there. Quotes
 * around a value are stripped, commas split it into several values, and lines that begin with `#` are
 * comments. Anything else in the block is ignored. Pure.
 */
import { type Frontmatter, FRONTMATTER_BYTES_MAX } from './frontmatter.js'

const BLOCK = /^\uFEFF?---[ \t]*\r?\n([^]*?\r?\n)?---[ \t]*(?:\r?\n|$)/

const NONE: Frontmatter = { meta: {}, bodyOffset: 0 }

export function readSimpleFrontmatter(text: string): Frontmatter {
  // No block that ends later is one, so nothing behind it is looked at.
  const match = BLOCK.exec(text.slice(0, FRONTMATTER_BYTES_MAX))
  if (match === null) return NONE
  const lists = new Map<string, string[]>()
  for (const line of (match[1] ?? '').split(/\r?\n/)) {
    // Not by a pattern: blanks in front of a colon that does not come would be looked at once for each blank.
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trim()
    if (name === '' || name.startsWith('#')) continue
    const values = valuesOf(line.slice(colon + 1).trim())
    if (values.length > 0) lists.set(name, values)
  }
  // fromEntries defines own properties, so a key `__proto__` stays data.
  return { meta: Object.fromEntries(lists), bodyOffset: match[0].length }
}

/** A quoted value is one, with its commas. */
function valuesOf(text: string): string[] {
  const quoted = /^(?:"(.*)"|'(.*)')$/.exec(text)
  if (quoted !== null && !/^"[^"]*"\s*,/.test(text) && !/^'[^']*'\s*,/.test(text)) return [quoted[1] ?? quoted[2] ?? '']
  return text
    .split(',')
    .map((each) => each.trim().replace(/^(["'])(.*)\1$/, '$2'))
    .filter((each) => each !== '')
}
