/** The search of the gate for a header of the PROXY protocol, compared with a plain search of all bytes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { PROXY_SIGNATURE, SignatureSearch } from '../../../src/surface/http/gate/proxy_header.js'
import { holds } from '../../harness/property.js'

/** Bytes that a search may get wrong: pieces of the signature, whole ones, carriage returns, others. */
const piece = fc.oneof(
  fc.tuple(fc.nat(PROXY_SIGNATURE.length), fc.nat(PROXY_SIGNATURE.length)).map(([from, to]) => PROXY_SIGNATURE.subarray(from, to)),
  fc.constant(PROXY_SIGNATURE),
  fc.constant(Buffer.from('\r')),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
)
const sent = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.concat(pieces))

function divided(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((one, other) => one - other)
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end))
}

/** Where signatures end, as the number of bytes up to there. */
function endsIn(bytes: Buffer): readonly number[] {
  const ends: number[] = []
  for (let at = bytes.indexOf(PROXY_SIGNATURE); at >= 0; at = bytes.indexOf(PROXY_SIGNATURE, at + 1)) ends.push(at + PROXY_SIGNATURE.length)
  return ends
}

describe('the search for a header of the PROXY protocol', () => {
  it('tls gate: the signature is found in each chunk in which it ends, and in no other, however the bytes are divided', () => {
    holds(
      fc.property(sent, fc.array(fc.nat(), { maxLength: 20 }), (bytes, cuts) => {
        const ends = endsIn(bytes)
        const search = new SignatureSearch()
        let before = 0
        for (const chunk of divided(bytes, cuts)) {
          const after = before + chunk.length
          assert.equal(search.isIn(chunk), ends.some((end) => end > before && end <= after), `bytes ${before} to ${after}`) // prettier-ignore
          before = after
        }
      }),
      { numRuns: 5_000 },
    )
  })
})
