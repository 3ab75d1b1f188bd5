/** The bytes of index batches compared with vectors written by hand from docs/formats/index-batch.md. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeDelete, encodeDrop, encodeUpsert, joinBatch, stampUpsert } from '../../../src/engine/search/index_batch.js'

const TOKENS = new Uint8Array([0x4d, 0x54, 0x4b, 0x31, 9, 9, 9, 9])

const DOCUMENT = {
  collection: 7,
  key: 'a/é',
  lang: 'en',
  meta: [['tag', 'rust!']] as const,
  fields: [
    ['content', TOKENS],
    ['meta.tag', new Uint8Array(0)],
  ] as const,
}

/** Text to bytes: hexadecimal pairs, `'text'` for ASCII; white space is free. */
function bytes(text: string): string {
  return text.replace(/'([^']*)'/g, (_, ascii: string) => Buffer.from(ascii).toString('hex')).replace(/\s+/g, '')
}

function hex(value: Uint8Array): string {
  return Buffer.from(value).toString('hex')
}

const UPSERT = `
  7c000000 01 00 0000 07000000 00000000 0000000000000000
  0000000000000000 0000000000000000
  04000000 02000000 01000000 02000000
  'a/' c3a9  'en' 0000
  03000000 05000000 'tag' 00 'rust!' 000000
  07000000 08000000 'content' 00 4d544b31 09090909
  08000000 00000000 'meta.tag'`

describe('index batch', () => {
  it('encodes an upsert as the format says, padded with zeros', () => {
    assert.equal(hex(encodeUpsert(DOCUMENT)), bytes(UPSERT))
  })

  it('sets bit 0 of the flags for a replacement at an equal LSN', () => {
    const plain = Buffer.from(encodeUpsert(DOCUMENT))
    const replacing = Buffer.from(encodeUpsert(DOCUMENT, { replaceEqual: true }))
    assert.equal(replacing[5], 1)
    replacing[5] = 0
    assert.deepEqual(replacing, plain)
  })

  it('owns its whole buffer, so that it can be transferred', () => {
    const op = encodeUpsert({ ...DOCUMENT, fields: [] })
    assert.equal(op.byteOffset, 0)
    assert.equal(op.buffer.byteLength, op.length)
  })

  it('stamps an upsert in place, and nothing else in it', () => {
    const op = encodeUpsert(DOCUMENT)
    stampUpsert(op, { collection: 9, docid: 0xfffffffe, lsn: 0x0102030405060708n, addedAt: 1, updatedAt: -2 })
    const header = `7c000000 01 00 0000 09000000 feffffff 0807060504030201 0100000000000000 feffffffffffffff`
    const rest = bytes(UPSERT).slice(bytes(header).length)
    assert.equal(hex(op), bytes(header) + rest)
  })

  it('stamps an op inside a larger buffer', () => {
    const op = encodeUpsert(DOCUMENT)
    const larger = new Uint8Array(op.length + 24)
    larger.set(op, 12)
    stampUpsert(larger.subarray(12, 12 + op.length), { collection: 7, docid: 3, lsn: 4n, addedAt: 5, updatedAt: 6 })
    stampUpsert(op, { collection: 7, docid: 3, lsn: 4n, addedAt: 5, updatedAt: 6 })
    assert.equal(hex(larger.subarray(12, 12 + op.length)), hex(op))
    assert.equal(hex(larger.subarray(0, 12)) + hex(larger.subarray(12 + op.length)), '00'.repeat(24))
  })

  it('refuses to stamp anything but an upsert', () => {
    assert.throws(
      () => stampUpsert(encodeDelete(1, 2, 3n), { collection: 1, docid: 2, lsn: 3n, addedAt: 0, updatedAt: 0 }),
      /not an upsert/,
    )
  })

  it('encodes deletes and drops', () => {
    assert.equal(hex(encodeDelete(7, 5, 258n)), bytes('18000000 02 00 0000 07000000 05000000 0201000000000000'))
    assert.equal(hex(encodeDrop(7, 258n)), bytes('18000000 03 00 0000 07000000 00000000 0201000000000000'))
  })

  it('joins ops behind a header with their number and the last LSN', () => {
    const ops = [encodeUpsert(DOCUMENT), encodeDelete(7, 5, 258n)]
    const header = `'MIB1' 02000000 0301000000000000`
    assert.equal(hex(joinBatch(ops, 259n)), bytes(header) + ops.map(hex).join(''))
    assert.equal(hex(joinBatch([], 1n)), bytes(`'MIB1' 00000000 0100000000000000`))
  })
})
