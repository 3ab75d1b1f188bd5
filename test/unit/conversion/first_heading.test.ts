/** The first heading of a markdown text. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { firstHeading } from '../../../src/conversion/first_heading.js'
import { holds } from '../../harness/property.js'

describe('the first heading', () => {
  it('of a text is found in both forms, behind frontmatter and code, as plain text', () => {
    for (const [markdown, title] of [
      ['# One\n# Two', 'One'],
      ['text\n\n### Deep ###\n', 'Deep'],
      ['Title\r\n=====\r\n', 'Title'],
      ['Title\n---\n', 'Title'],
      ['---\na: b\n---\n# T', 'T'],
      ['+++\na = "# x"\n+++\n# T', 'T'],
      ['````\n```\n# no\n````\n# yes', 'yes'],
      ['# See [the `API`](https://x.y/z) {#api}', 'See the API'],
      ['# C#', 'C#'],
      ['#\n## ##\n# last', 'last'],
      ['#hashtag\n', undefined],
      ['- item\n---\n', undefined],
      ['    # code\n', undefined],
      ['', undefined],
    ] as const)
      assert.equal(firstHeading(markdown), title, JSON.stringify(markdown))
  })

  it('is cut to 300 characters, and to no half of one', () => {
    assert.equal(firstHeading(`# ${'a'.repeat(298)}😀😀\n`), `${'a'.repeat(298)}`)
    assert.equal(firstHeading(`${'a'.repeat(299)}😀😀\n===\n`), 'a'.repeat(299))
    assert.equal(firstHeading(`${'a'.repeat(298)}😀😀\n===\n`), `${'a'.repeat(298)}😀`)
  })

  it('of any text is found in linear time, and has no end of line', () => {
    const part = fc.constantFrom('#', ' ', '\n', '\r', '`', '~~~', '---\n', '===', '[', '](', '{#', '*', 'a', '\uFEFF', '+++\n', '\t', '>')
    holds(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const title = firstHeading(parts.join(''))
        assert.ok(title === undefined || (title.trim() !== '' && !title.includes('\n')))
      }),
    )
    for (const piece of ['# ', '#', '](', '{#', '[', '`', '```\n', 'a\n', '---\n', '\n'])
      assert.doesNotThrow(() => firstHeading(piece.repeat(2_000_000 / piece.length)))
  })
})
