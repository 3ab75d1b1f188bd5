/**
 * The cache of term vectors in a lane: when a vector is made, which state it belongs to, and the byte limit.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TermVectors } from '../../../src/domain/search/term_vectors.js'
import type { StoredDocument } from '../../../src/store/documents/document_cache.js'

function documentOf(docid: number, lsn = 1n, bytes = 100): StoredDocument {
  const mark = { lastLsn: lsn, soonestExpiry: undefined }
  return { collection: 7, docid, lsn, indexedLsn: lsn, expiresAt: 0, json: Buffer.alloc(bytes), mark }
}

describe('term vectors', () => {
  it('are wanted of a state of a document that is shown the second time', () => {
    const vectors = new TermVectors(1_000_000)
    assert.equal(vectors.wants(documentOf(1)), false)
    assert.equal(vectors.wants(documentOf(2)), false)
    assert.equal(vectors.wants(documentOf(1)), true)
    assert.equal(vectors.wants(documentOf(2, 2n)), false, 'another state is another document')
    assert.equal(vectors.wants(documentOf(2, 2n)), true)
  })

  it('belong to the state that they were made of', () => {
    const vectors = new TermVectors(1_000_000)
    const made = vectors.put(documentOf(1), 20, new Uint8Array(5))
    assert.equal(vectors.of(documentOf(1)), made)
    assert.equal(vectors.of(documentOf(1, 2n)), undefined)
    assert.equal(vectors.of(documentOf(2)), undefined)
    const later = vectors.put(documentOf(1, 2n), 20, new Uint8Array(6))
    assert.equal(vectors.of(documentOf(1)), undefined)
    assert.equal(vectors.of(documentOf(1, 2n)), later)
  })

  it('stay within their bound in bytes, of which one vector may take a quarter, and some are still found when twice the capacity is used', () => {
    const bytesMax = 100_000
    const vectors = new TermVectors(bytesMax)
    let found = 0
    for (let round = 0; round < 20; round++)
      for (let docid = 1; docid <= 200; docid++) {
        const document = documentOf(docid, 1n)
        if (vectors.of(document) === undefined) vectors.put(document, 0, new Uint8Array(700 + (docid % 7) * 10))
        else if (round > 1) found++
        assert.ok(vectors.bytes <= bytesMax)
      }
    assert.ok(found > 200, `${found} of 3600 found`)
    for (const bytes of [25_001, 7 * 1024 * 1024]) for (const _ of [1, 2]) assert.equal(vectors.wants(documentOf(900, 1n, bytes)), false)
    vectors.put(documentOf(901), 0, new Uint8Array(25_001))
    assert.equal(vectors.of(documentOf(901))?.vector.length, 0, 'it is not made again and again')
  })

  it('are not built when the capacity is 0', () => {
    const vectors = new TermVectors(0)
    for (const _ of [1, 2, 3]) assert.equal(vectors.wants(documentOf(1)), false)
    assert.equal(vectors.bytes, 0)
  })
})
