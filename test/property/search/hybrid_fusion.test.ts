/** Fusion of two lists compared with the contract's formulas, evaluated document by document. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fuse, type Scored } from '../../../src/domain/hybrid/fusion.js'
import { holds } from '../../harness/property.js'

interface Row {
  readonly docid: number
  readonly combined: number
}

const list = (least: number): fc.Arbitrary<Scored[]> =>
  fc
    .uniqueArray(fc.record({ docid: fc.integer({ min: 1, max: 30 }), score: fc.integer({ min: least, max: 40 }).map((n) => n / 8) }), {
      selector: ({ docid }) => docid,
      maxLength: 20,
    })
    .map((scored) => scored.sort((one, other) => other.score - one.score || one.docid - other.docid))

const scoreIn = (scored: readonly Scored[], docid: number): number | undefined => scored.find((each) => each.docid === docid)?.score
/**
 * Equal scores are ordered by the rank of the words, then by the similarity of meaning, then by age, the
 * oldest first.
 */
const order =
  (words: readonly Scored[], meanings: readonly Scored[]) =>
  (one: Row, other: Row): number =>
    other.combined - one.combined ||
    (scoreIn(words, other.docid) ?? 0) - (scoreIn(words, one.docid) ?? 0) ||
    (scoreIn(meanings, other.docid) ?? 0) - (scoreIn(meanings, one.docid) ?? 0) ||
    one.docid - other.docid
const docidsOf = (...lists: readonly (readonly Scored[])[]): number[] => [...new Set(lists.flat().map(({ docid }) => docid))]

test('hybrid: alpha fusion equals the formula for every document, best first, of equals that with the better words', () => {
  holds(
    fc.property(list(1), list(-8), fc.integer({ min: 0, max: 4 }), (words, meanings, quarter) => {
      const alpha = quarter / 4
      const [least, most] = [Math.min(...words.map(({ score }) => score)), Math.max(...words.map(({ score }) => score))]
      const expected = docidsOf(words, meanings).map((docid) => {
        const word = scoreIn(words, docid)
        const normalised = word === undefined ? 0 : most === least ? 1 : (word - least) / (most - least)
        return { docid, combined: (1 - alpha) * normalised + alpha * (scoreIn(meanings, docid) ?? 0) }
      })
      expected.sort(order(words, meanings))
      const found = fuse({ kind: 'alpha', alpha }, words, meanings)
      assert.deepEqual(
        found.map(({ docid, combined }) => ({ docid, combined })),
        expected,
      )
      for (const { docid, words: word, meaning } of found)
        assert.deepEqual([word, meaning], [scoreIn(words, docid) ?? 0, scoreIn(meanings, docid) ?? 0])
    }),
    { numRuns: 1000 },
  )
})

test('hybrid: rank fusion equals the sum of 1 / (k + rank) over the lists that have the document', () => {
  holds(
    fc.property(list(1), list(-8), fc.integer({ min: 1, max: 100 }), (words, meanings, k) => {
      const share = (scored: readonly Scored[], docid: number): number => {
        const at = scored.findIndex((each) => each.docid === docid)
        return at < 0 ? 0 : 1 / (k + at + 1)
      }
      const expected = docidsOf(words, meanings).map((docid) => ({ docid, combined: share(words, docid) + share(meanings, docid) }))
      expected.sort(order(words, meanings))
      const found = fuse({ kind: 'rrf', k }, words, meanings)
      assert.deepEqual(
        found.map(({ docid, combined }) => ({ docid, combined })),
        expected,
      )
    }),
    { numRuns: 1000 },
  )
})
