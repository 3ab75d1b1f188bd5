/** Frontmatter in TOML: values as texts, hostile blocks, and any text. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FRONTMATTER_BYTES_MAX, readFrontmatter } from '../../../src/conversion/frontmatter.js'
import { holds } from '../../harness/property.js'

const read = (block: string): ReturnType<typeof readFrontmatter> => readFrontmatter(`+++\n${block}\n+++\nbody\n`)

describe('frontmatter in TOML', () => {
  it('gives large numbers, dates, times and names of prototypes as they are written', () => {
    const { meta, problem } = read('n = 99999999999999999\nt = 07:32:00\nd = 1979-05-27T07:32:00Z\nb = true\n__proto__ = "p"\n"a.b" = 1')
    assert.equal(problem, undefined)
    assert.deepEqual(Object.entries(meta), [
      ['n', ['99999999999999999']],
      ['t', ['07:32:00.000']],
      ['d', ['1979-05-27T07:32:00.000Z']],
      ['b', ['true']],
      ['__proto__', ['p']],
      ['a.b', ['1']],
    ])
  })

  it('that is hostile is a problem of the block, in time, and the text stays', () => {
    const size = FRONTMATTER_BYTES_MAX - 16
    assert.match(read(`${'a.'.repeat(40)}a=1`).problem ?? '', /nested too deep/)
    for (const block of [
      `${'a.'.repeat(size / 2)}a=1`,
      `x=${'['.repeat(size)}`,
      `x=${'{a='.repeat(size / 4)}`,
      `[${'a.'.repeat(size / 2)}a]`,
      `x = """${'\n'.repeat(size / 2)}`,
      'a = 1\na = 2',
    ]) {
      const { meta, bodyOffset, problem } = read(block)
      assert.deepEqual(meta, {})
      assert.ok(bodyOffset > 0)
      assert.ok(problem?.startsWith('frontmatter: ') === true && !problem.includes('\n') && problem.length < 300, problem?.slice(0, 300))
    }
  })

  it('of any text never throws, and gives lists of texts', () => {
    const part = fc.constantFrom(
      'a',
      '=',
      '.',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '\n',
      '\\u',
      '1',
      '-',
      ':',
      ',',
      '#',
      ' ',
      '+++\n',
      '"""',
      'true',
    )
    holds(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const { meta } = read(parts.join(''))
        for (const values of Object.values(meta)) assert.ok(values.every((value) => typeof value === 'string'))
      }),
    )
  })
})
