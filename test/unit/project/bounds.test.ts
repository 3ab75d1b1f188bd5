/** The bounds of `src`: each has one place and one reason, and those of src/limits have several readers. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { OVERRIDABLE } from '../../../src/limits/overridable.js'

interface Bound {
  readonly path: string
  readonly line: number
  readonly name: string
  readonly value: string
  readonly comment: string
  readonly isExported: boolean
}

const root = join(import.meta.dirname, '../../../..')
const { boundsIn, boundsOf } = (await import(pathToFileURL(join(root, 'scripts/lib/bounds.mjs')).href)) as {
  readonly boundsIn: (path: string, text: string) => readonly Bound[]
  readonly boundsOf: (root: string) => readonly Bound[]
}
const bounds = boundsOf(root)
const texts = new Map(
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, readFileSync(join(root, 'src', path), 'utf8')]),
)
const LIMIT = /_(?:MAX|MIN|DEFAULT)(?:_|$)/
/** A file of this length takes no further bound: what it reads alone is in src/limits. */
const LONG_FILE_LINES = 400

/** The text without its comments: a comment that names a bound does not enforce it. */
const codeOf = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, '')

describe('bounds', () => {
  it('are found by their form: a number in capitals with a comment, or in the line below one', () => {
    const text = `/** The file. */
import { MIB } from './units.js'

/**
 * Why
 * so many.
 */
export const A_MAX = 16 * MIB
const B_MAX = 2 * A_MAX - 1

const NOT_ONE = 5

/** A text. */
const NAME = 'x'
/** A list. */
const LIST = [1]
`
    assert.deepEqual(boundsIn('a/x.ts', text), [
      { path: 'a/x.ts', line: 8, name: 'A_MAX', value: '16 * MIB', comment: 'Why so many.', isExported: true },
      { path: 'a/x.ts', line: 9, name: 'B_MAX', value: '2 * A_MAX - 1', comment: 'Why so many.', isExported: false },
    ])
    assert.deepEqual(boundsIn('a/x.ts', '/** The file. */\nconst A_MAX = 5\n'), [])
  })

  it('are declared once, those that other files may read', () => {
    assert.ok(bounds.length > 700)
    const names = bounds.filter(({ name, isExported }) => isExported && LIMIT.test(name)).map(({ name }) => name)
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    )
  })

  it('say their arithmetic or their reason: no limit or default is without a comment', () => {
    const known = new Set(bounds.map(({ path, name }) => `${path}: ${name}`))
    const silent = [...texts].flatMap(([path, text]) =>
      // Not the greatest number of a width: 2 ** 32 - 1.
      [...text.matchAll(/^(?:export )?const ([A-Z][A-Z0-9_]*)(?:: number)? = (?!0x|2n? \*\*)[\d(]/gm)]
        .filter(([, name = '']) => LIMIT.test(name) && !known.has(`${path}: ${name}`))
        .map(([, name = '']) => `${path}: ${name}`),
    )
    assert.deepEqual(silent, [])
  })

  it('of src/limits have several readers, or may be lowered by a test, or are read by a file that is long', () => {
    const codes = [...texts].map(([path, text]) => ({ path, words: new Set(codeOf(text).match(/\w+/g)), lines: text.split('\n').length }))
    const alone = bounds.filter(({ path, name }) => {
      if (!path.startsWith('limits/') || path === 'limits/units.ts' || name in OVERRIDABLE) return false
      if (codeOf(texts.get(path)!).split(new RegExp(`\\b${name}\\b`)).length > 2) return false
      const readers = codes.filter((file) => file.path !== path && file.words.has(name))
      return (
        readers.length === 0 || (readers.length === 1 && !readers[0]!.path.startsWith('limits/') && readers[0]!.lines < LONG_FILE_LINES)
      )
    })
    assert.deepEqual(
      alone.map(({ path, name }) => `${path}: ${name}`),
      [],
    )
  })

  it('of src/limits are pure data: they import nothing but each other', () => {
    const foreign = [...texts]
      .filter(([path]) => path.startsWith('limits/'))
      .flatMap(([, text]) => [...text.matchAll(/from '([^']+)'/g)].map(([, target = '']) => target))
    assert.deepEqual(
      foreign.filter((target) => !/^\.\/\w+\.js$/.test(target)),
      [],
    )
  })
})
