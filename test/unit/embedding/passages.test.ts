/** Passages in place of documents: expensive work checks whether the request is still wanted. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EMBEDDING_CHUNK_CHARACTERS_DEFAULT } from '../../../src/config/options/vector_options.js'
import { Passages } from '../../../src/domain/search/shown_passages.js'
import { createChunker } from '../../../src/engine/text/chunker.js'
import { ServiceError } from '../../../src/errors.js'

describe('passages of documents', () => {
  const config = {
    embeddingChunkMode: 'prose',
    embeddingChunkEnabled: true,
    embeddingChunkSize: EMBEDDING_CHUNK_CHARACTERS_DEFAULT,
  } as const
  const document = { json: Buffer.from('{"id":"a|b|en","key":"b","lang":"en","meta":{},"contentMd":"some words"}') }

  it('no further document is cut once the request has been stopped', () => {
    let polls = 0
    const stop = { shouldStop: () => ++polls > 2 }
    const passages = new Passages({ config, chunker: createChunker() }, { mode: 'chunk', windowSize: 0 }, false, stop)
    const cut = (): string | undefined => passages.of(document as never, [])?.fields
    assert.equal(cut(), ',"chunkIndex":0,"chunkText":"some words"')
    cut()
    assert.throws(cut, (error) => error instanceof ServiceError && error.message.includes('deadline'))
  })
})
