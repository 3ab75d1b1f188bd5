/**
 * Hashes of documents and checksums of collections. The expected values were computed by a program in Python,
 * from the words of docs/formats/truth-env.md.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { escapeContent } from '../../../src/store/body.js'
import { addSums, checksum64Of, checksumOf, contentHash, stateHash, subtractSums, sumsOf } from '../../../src/store/document_hash.js'
import { nothingCounted } from '../../../src/store/tally.js'

const PLAIN = { key: 'a', lang: 'en', meta: '{}', contentMd: '', addedAt: 1_700_000_000, updatedAt: 1_700_000_000, expiresAt: 0 }
const OTHER = {
  key: 'Schlüssel',
  lang: 'de',
  meta: '{"b":["ü","1"]}',
  contentMd: 'Grüße\n"x"',
  addedAt: 1_700_000_000,
  updatedAt: 1_700_000_001,
  expiresAt: 1_800_000_000,
}
const hashOf = (document: typeof PLAIN): bigint => contentHash(document, escapeContent(document.contentMd))

describe('hashes of documents', () => {
  it('document hash: contents, states and collections have the values of another implementation', () => {
    assert.deepEqual([hashOf(PLAIN), hashOf(OTHER)], [0x5413b90ede4eea33n, 0xb0ca31992f631543n])
    const states = [PLAIN, OTHER].map((document) => stateHash(hashOf(document), document))
    assert.deepEqual(states, [0x9a39050816bf63d3n, 0x1c3d68bd152dc49n])
    const sums = nothingCounted()
    for (const document of [PLAIN, OTHER]) addSums(sums, sumsOf(hashOf(document), document))
    assert.deepEqual([checksumOf(sums), checksum64Of(sums)], ['05df644d', 'f9b689176dace5e5'])
    for (const document of [PLAIN, OTHER]) subtractSums(sums, sumsOf(hashOf(document), document))
    assert.deepEqual(sums, nothingCounted())
    assert.deepEqual([checksumOf(sums), checksum64Of(sums)], ['00000000', '0000000000000000'])
  })

  it('document hash: texts that are cut otherwise between the fields have other hashes', () => {
    const text = 'abcd'
    const cuts = [0, 1, 2, 3, 4].flatMap((one) =>
      [0, 1, 2, 3, 4].flatMap((two) => [0, 1, 2, 3, 4].map((three) => [one, two, three] as const)),
    )
    const hashes = cuts
      .filter(([one, two, three]) => one <= two && two <= three)
      .map(([one, two, three]) =>
        contentHash({ key: text.slice(0, one), lang: text.slice(one, two), meta: text.slice(two, three) }, Buffer.from(text.slice(three))),
      )
    assert.equal(hashes.length, 35)
    assert.equal(new Set(hashes).size, 35)
  })
})
