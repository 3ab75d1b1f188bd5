/** The frontmatter of fetched pages, whose writers nobody knows. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readSimpleFrontmatter } from '../../../src/conversion/simple_frontmatter.js'
import { holds } from '../../harness/property.js'

/** Some milliseconds on a quiet machine; a time that grows with the square would be half a minute. */
const HOSTILE_MS_MAX = 2_000

describe('simple frontmatter', () => {
  it('a line of 200 000 blanks, or of quotes and commas, is read at once', () => {
    const begin = performance.now()
    for (const piece of [' ', '\t', '"', "'", ',', '",', ': ', '#', '---', '--- \n', '\r', 'a\n'])
      for (const line of [`a${piece.repeat(200_000 / piece.length)}b`, `a: ${piece.repeat(200_000 / piece.length)}b`])
        readSimpleFrontmatter(`---\n${line}\n---\ntext`)
    assert.ok(performance.now() - begin < HOSTILE_MS_MAX)
  })

  it('a block ends at its closing line, and a text without one has none', () => {
    assert.deepEqual(readSimpleFrontmatter('---\na: b'), { meta: {}, bodyOffset: 0 })
    assert.deepEqual(readSimpleFrontmatter(' ---\na: b\n---\n'), { meta: {}, bodyOffset: 0 })
    assert.deepEqual(readSimpleFrontmatter('---\n---\ntext'), { meta: {}, bodyOffset: 8 })
    assert.deepEqual(readSimpleFrontmatter('---\n__proto__: x\n: y\n---'), { meta: { ['__proto__']: ['x'] }, bodyOffset: 24 })
  })

  it('any text gives lists of texts and an offset within it', () => {
    const piece = fc.constantFrom('---\n', 'a: b\n', '"', "'", ',', ':', ' ', '#', 'x', '\r\n', '\n')
    holds(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('')
        const { meta, bodyOffset } = readSimpleFrontmatter(text)
        assert.ok(bodyOffset >= 0 && bodyOffset <= text.length)
        for (const values of Object.values(meta)) assert.ok(values.length > 0 && values.every((value) => typeof value === 'string'))
      }),
    )
  })
})
