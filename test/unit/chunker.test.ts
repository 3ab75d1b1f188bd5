/**
 * The chunker through its TypeScript interface: golden examples of both modes, its instance, its time on
 * hostile texts.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type ChunkMode, createChunker } from '../../src/engine/chunker.js'
import { DOCUMENT_BYTES_MAX } from '../../src/limits/input.js'

const chunker = createChunker()

function chunksOf(text: Buffer, mode: ChunkMode, budget: number, overlap = 0): string[] {
  const ranges = chunker.chunk(text, mode, budget, overlap)
  return Array.from({ length: ranges.length / 2 }, (_, index) => text.toString('utf8', ranges[2 * index], ranges[2 * index + 1]))
}

interface Golden {
  readonly name: string
  readonly mode: ChunkMode
  readonly budget: number
  readonly overlap?: number
  readonly text: readonly string[]
  readonly chunks: readonly (readonly string[])[]
}

describe('chunks by example', () => {
  const path = new URL('../../../test/golden/chunks.json', import.meta.url)
  for (const { name, mode, budget, overlap, text, chunks } of JSON.parse(readFileSync(path, 'utf8')) as Golden[]) {
    it(`chunks: ${name}`, () => {
      const found = chunksOf(Buffer.from(text.join('\n')), mode, budget, overlap)
      assert.deepEqual(
        found.map((chunk) => chunk.split('\n')),
        chunks,
      )
    })
  }
})

describe('the chunker', () => {
  it('chunks: a text within the budget is one chunk, a blank one none', () => {
    assert.deepEqual(chunksOf(Buffer.from('# A\n\ntext\n\n# B\n\nmore\n'), 'prose', 1500), ['# A\n\ntext\n\n# B\n\nmore'])
    for (const mode of ['prose', 'code'] as const)
      for (const text of ['', ' \n\t\r\n\u3000']) assert.deepEqual(chunksOf(Buffer.from(text), mode, 9), [])
  })

  it('chunks: the budget counts characters, not bytes or UTF-16 units', () => {
    assert.deepEqual(chunksOf(Buffer.from('😀'.repeat(7)), 'prose', 3), ['😀😀😀', '😀😀😀', '😀'])
    assert.deepEqual(chunksOf(Buffer.from('中文字'), 'code', 2), ['中文', '字'])
  })

  it('chunks: a large text is cut by an instance that is not kept', () => {
    const large = Buffer.from('word and word. '.repeat(DOCUMENT_BYTES_MAX / 15))
    assert.ok(chunker.chunk(large, 'prose', 1500, 0).length > 20_000)
    assert.deepEqual(chunksOf(Buffer.from('still there'), 'prose', 1500), ['still there'])
  })

  it('chunks: the largest document of one mark takes a few seconds at most, whatever the mark', () => {
    const whole = ['{', '[{]}', '"', '\n', 'x', '. ', '- a\n']
    const quarter = [
      '(',
      '}',
      "'",
      '`',
      '/',
      '/*',
      '//',
      '<!--',
      '#',
      '\\',
      'a=/[',
      ' ',
      '\u00a0',
      '中',
      '。',
      '.',
      '! ',
      '# a\n',
      '|a|\n',
    ].concat(['```\n', '> \n', 'a |\n|-|\n', 'a{\n', 'f(a){b}', ';', "'''", ' # ', '---\n', '\ta\n\n'])
    const sizes = [
      ...whole.map((mark) => [mark, DOCUMENT_BYTES_MAX] as const),
      ...quarter.map((mark) => [mark, DOCUMENT_BYTES_MAX / 4] as const),
    ]
    for (const [mark, bytes] of sizes) {
      const text = Buffer.from(mark.repeat(bytes / Buffer.byteLength(mark)))
      for (const mode of ['prose', 'code'] as const) {
        const begin = process.cpuUsage()
        chunker.chunk(text, mode, 1500, 0)
        const { user, system } = process.cpuUsage(begin)
        // Linear work takes a tenth of this; quadratic work would take hours.
        assert.ok(user + system < 8e6, `${mode} ${JSON.stringify(mark)}: ${(user + system) / 1e6} s`)
      }
    }
  })
})
