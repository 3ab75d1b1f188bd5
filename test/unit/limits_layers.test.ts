/** The limits in src/limits: each has one owner, one reason, and code that enforces it. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const source = join(import.meta.dirname, '../../../src')
const layers = readdirSync(join(source, 'limits')).map((file) => ({ file, text: readFileSync(join(source, 'limits', file), 'utf8') }))
const bounds = layers
  .filter(({ file }) => file !== 'units.ts')
  .flatMap(({ file, text }) => [...text.matchAll(/^export (?:const|type) (\w+)/gm)].map(([, name = '']) => ({ file, name })))

/** The text without its comments: a comment that names a bound does not enforce it. */
const codeOf = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, '')

describe('bounds by layer', () => {
  it('a bound is declared once, in one file', () => {
    const names = bounds.map(({ name }) => name)
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    )
  })

  it('every bound is used: the code of a file of src other than the bounds names it', () => {
    assert.equal(codeOf('/**\n * of A_MAX\n */\nfirst(B_MAX) // below C_MAX\n  // D_MAX\n'), '\nfirst(B_MAX)\n\n')
    const words = new Set<string>()
    for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.parentPath === join(source, 'limits')) continue
      const text = readFileSync(join(entry.parentPath, entry.name), 'utf8')
      for (const [word] of codeOf(text).matchAll(/\w+/g)) words.add(word)
    }
    assert.deepEqual(
      bounds.filter(({ name }) => !words.has(name)),
      [],
    )
  })

  it('every bound says its arithmetic or its reason; bounds that belong together share one comment', () => {
    const silent = layers.flatMap(({ file, text }) =>
      [...text.matchAll(/^(.*)\nexport (?:const|type) (\w+)/gm)]
        .filter(([, before = '']) => file !== 'units.ts' && !/\*\/$|^export const /.test(before))
        .map(([, , name = '']) => `${file}: ${name}`),
    )
    assert.deepEqual(silent, [])
  })

  it('bounds are pure data: they import nothing but other bounds', () => {
    const foreign = layers.flatMap(({ text }) => [...text.matchAll(/from '([^']+)'/g)].map(([, target = '']) => target))
    assert.deepEqual(
      foreign.filter((target) => !/^\.\/\w+\.js$/.test(target)),
      [],
    )
  })
})
