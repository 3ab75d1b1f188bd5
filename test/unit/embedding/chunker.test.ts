/**
 * The chunker through its TypeScript interface: golden examples of both modes, its instance. Its time on
 * hostile texts: chunker_time.deep.test.ts.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type ChunkMode, createChunker } from '../../../src/engine/text/chunker.js'
import { DOCUMENT_BYTES_MAX } from '../../../src/limits/documents.js'

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
  const path = new URL('../../../../test/golden/chunks.json', import.meta.url)
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
})
