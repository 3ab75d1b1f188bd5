/**
 * Frontmatter of `mds import`: which values become metadata and in which form, and that no block can lose or
 * damage the document.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { flattenMetadata, FRONTMATTER_BYTES_MAX, FRONTMATTER_DEPTH_MAX, readFrontmatter } from '../../../src/conversion/frontmatter.js'

function metaOf(block: string): Readonly<Record<string, string[]>> {
  const { meta, problem } = readFrontmatter(`---\n${block}\n---\nbody\n`)
  assert.equal(problem, undefined)
  return meta
}

describe('frontmatter values', () => {
  it('scalars become lists of one text, as written in the file', () => {
    assert.deepEqual(metaOf('title: Hello\nversion: 1.10\ndraft: True\nzip: 01234\ndate: 2024-05-01\nn: 0x1F'), {
      title: ['Hello'],
      version: ['1.10'],
      draft: ['True'],
      zip: ['01234'],
      date: ['2024-05-01'],
      n: ['0x1F'],
    })
  })

  it('tags of YAML are not followed: the value is the text of the file', () => {
    const block = 'a: !!binary aGk=\nb: !own x\nc: !!js/function "return 1"\nd: !!set {x}\ne: !!timestamp 2001-12-14'
    const { a, b, c, e } = metaOf(block)
    assert.deepEqual([a, b, c, e], [['aGk='], ['x'], ['return 1'], ['2001-12-14']])
  })

  it('lists stay lists, in order, in both notations', () => {
    assert.deepEqual(metaOf('tags: [b, a, 3]\nauthor:\n  - Ann\n  - Bob'), { tags: ['b', 'a', '3'], author: ['Ann', 'Bob'] })
  })

  it('nested maps and lists of maps become dotted keys', () => {
    assert.deepEqual(metaOf('faq:\n  - question: Why?\n    answer: So.\n  - question: How?\nseo:\n  robots: {index: yes}'), {
      'faq.0.question': ['Why?'],
      'faq.0.answer': ['So.'],
      'faq.1.question': ['How?'],
      'seo.robots.index': ['yes'],
    })
  })

  it('nulls and empty collections say nothing', () => {
    assert.deepEqual(metaOf('a:\nb: ~\nc: []\nd: {}\ne: [null, x]'), { e: ['x'] })
  })

  it('a key named __proto__ is data', () => {
    const meta = metaOf('__proto__: x\nconstructor: y')
    assert.deepEqual(Object.entries(meta), [
      ['__proto__', ['x']],
      ['constructor', ['y']],
    ])
    assert.equal(JSON.stringify(meta), '{"__proto__":["x"],"constructor":["y"]}')
  })

  it('aliases are followed', () => {
    assert.deepEqual(metaOf('a: &x [1, 2]\nb: *x'), { a: ['1', '2'], b: ['1', '2'] })
  })
})

describe('frontmatter blocks', () => {
  it('the body begins behind the closing line, with either line end and behind a byte order mark', () => {
    for (const text of ['---\na: b\n---\nbody', '---\r\na: b\r\n---\r\nbody', '\uFEFF---\na: b\n...\nbody']) {
      const { meta, bodyOffset } = readFrontmatter(text)
      assert.deepEqual(meta, { a: ['b'] })
      assert.equal(text.slice(bodyOffset), 'body')
    }
  })

  it('an empty block is a block without metadata', () => {
    const text = '---\n---\nbody'
    assert.deepEqual(readFrontmatter(text), { meta: {}, bodyOffset: 8 })
  })

  it('a thematic break, an unclosed block and plain text are no frontmatter', () => {
    for (const text of ['---\nJust a paragraph.\n---\n', '---\na: b\nno end', '# Title\n---\na: b\n---\n', '']) {
      assert.deepEqual(readFrontmatter(text), { meta: {}, bodyOffset: 0 })
    }
  })

  it('a broken block is reported and gives no metadata', () => {
    for (const block of ['a: [1, 2', 'a: b: c', 'a: 1\na: 2', 'a: *missing']) {
      const { meta, problem } = readFrontmatter(`---\n${block}\n---\nbody`)
      assert.deepEqual(meta, {})
      assert.match(problem ?? '', /^frontmatter: .+/, block)
    }
  })

  it('an alias bomb is refused, not expanded', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `a${i}: &a${i} [${Array(9)
          .fill(i === 0 ? 'x' : `*a${i - 1}`)
          .join(', ')}]`,
    )
    const startMs = Date.now()
    const { meta, problem } = readFrontmatter(`---\n${levels.join('\n')}\n---\n`)
    assert.deepEqual(meta, {})
    assert.match(problem ?? '', /alias/)
    assert.ok(Date.now() - startMs < 5000)
  })

  it('a block over the bound is reported, not parsed', () => {
    const { meta, problem } = readFrontmatter(`---\na: ${'x'.repeat(FRONTMATTER_BYTES_MAX)}\n---\n`)
    assert.deepEqual(meta, {})
    assert.match(problem ?? '', /over \d+ bytes/)
  })

  it('nesting beyond the bound is reported, however deep and in whichever notation', () => {
    for (const depth of [FRONTMATTER_DEPTH_MAX + 1, 400, 20_000]) {
      const indented = depth > 400 ? [] : [Array.from({ length: depth }, (_, i) => `${' '.repeat(i)}k:`).join('\n')]
      for (const block of [`a: ${'['.repeat(depth)}x${']'.repeat(depth)}`, `a:\n  ${'- '.repeat(depth)}x`, ...indented]) {
        const { meta, problem } = readFrontmatter(`---\n${block}\n---\n`)
        assert.deepEqual(meta, {})
        assert.match(problem ?? '', /nested deeper/, block.slice(0, 40))
      }
    }
  })

  it('nesting within the bound is taken', () => {
    const depth = FRONTMATTER_DEPTH_MAX - 2
    assert.equal(Object.keys(metaOf(`a: ${'{k: '.repeat(depth)}x${'}'.repeat(depth)}`)).length, 1)
  })

  it('a block full of keys costs time in proportion to its size', () => {
    const block = Array.from({ length: FRONTMATTER_BYTES_MAX / 10 }, (_, i) => `k${i}: 1`).join('\n')
    const before = process.cpuUsage()
    const { meta, problem } = readFrontmatter(`---\n${block.slice(0, FRONTMATTER_BYTES_MAX)}\n---\n`)
    assert.equal(problem, undefined)
    assert.equal(Object.keys(meta).length, block.split('\n').length)
    // Processor time, so that a busy machine does not matter: 0.4 s here; comparing every pair of keys took 8
    // s.
    assert.ok(process.cpuUsage(before).user < 4e6)
  })
})

describe('flattenMetadata', () => {
  it('a dotted key and a nested one of the same name share a list', () => {
    const values = new Map<unknown, unknown>([
      ['a.b', 'x'],
      ['a', new Map([['b', 'y']])],
    ])
    assert.deepEqual(flattenMetadata(values), { 'a.b': ['x', 'y'] })
  })
})
