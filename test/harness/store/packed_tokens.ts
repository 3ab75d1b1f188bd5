/**
 * A strict reader of packed tokens, written from docs/formats/packed-tokens.md alone: every check that the
 * format requires of a reader is an assertion.
 */
import assert from 'node:assert/strict'

export interface PackedTerm {
  readonly term: string
  readonly positions: readonly number[]
}

/** Terms in the order of the record. Fails if the record is not well formed. */
export function readPackedTokens(record: Uint8Array): PackedTerm[] {
  assert.equal(record.length % 4, 0, 'length is a multiple of 4')
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength)
  const u32 = (index: number): number => view.getUint32(index * 4, true)
  assert.equal(u32(0), 0x314b544d, 'magic')
  const [positionCount, length, termCount, termBytes] = [u32(1), u32(2), u32(3), u32(4)]
  const bytesAt = (5 + 2 * termCount + length) * 4
  assert.equal(record.length, bytesAt + Math.ceil(termBytes / 4) * 4, 'size')
  assert.ok(
    record.subarray(bytesAt + termBytes).every((byte) => byte === 0),
    'padding is zero',
  )
  const terms: PackedTerm[] = []
  let termBegin = 0
  let positionAt = 5 + 2 * termCount
  let last = -1
  for (let index = 0; index < termCount; index++) {
    const termEnd = u32(5 + index)
    const tf = u32(5 + termCount + index)
    assert.ok(termEnd > termBegin && termEnd - termBegin <= 255 && termEnd <= termBytes, 'a term has 1 to 255 bytes')
    assert.ok(tf >= 1, 'tf is at least 1')
    const positions = Array.from({ length: tf }, (_, offset) => u32(positionAt + offset))
    assert.ok(
      positions.every((position, offset) => offset === 0 || position > (positions[offset - 1] ?? 0)),
      'positions of a term ascend',
    )
    last = Math.max(last, positions.at(-1) ?? 0)
    terms.push({ term: decodeTerm(record.subarray(bytesAt + termBegin, bytesAt + termEnd)), positions })
    termBegin = termEnd
    positionAt += tf
  }
  assert.equal(termBegin, termBytes, 'terms end where their bytes end')
  assert.equal(positionAt * 4, bytesAt, 'tf adds up to length')
  assert.ok(last < positionCount || (termCount === 0 && length === 0), 'positions lie below positionCount')
  assert.equal(new Set(terms.map(({ term }) => term)).size, terms.length, 'terms are distinct')
  return terms
}

function decodeTerm(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}
