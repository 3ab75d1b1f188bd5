/**
 * The bytes of search plans and hits compared with vectors written by hand from docs/formats/search-plan.md.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expandPlan } from '../../../src/engine/search/expanded_plan.js'
import { decodeHits } from '../../../src/engine/search/hits.js'
import { encodePlan, NO_POLL_WORD } from '../../../src/engine/search/search_plan.js'
import type { PlanNode, SearchPlan } from '../../../src/engine/types.js'

function bytes(text: string): Buffer {
  return Buffer.from(text.replace(/'([^']*)'/g, (_, ascii: string) => Buffer.from(ascii).toString('hex')).replace(/\s+/g, ''), 'hex')
}

const PLAN: SearchPlan = {
  collection: 7,
  algorithm: 'bm25f',
  k1: 1.5,
  b: 0.75,
  k: 10,
  skip: 2,
  sort: 'updatedAt',
  descending: true,
  exactTotal: true,
  fields: [
    ['content', 1],
    ['meta.title', 3],
  ],
  filters: [
    ['tag', ['a', 'bc']],
    ['author', null],
    ['none', []],
  ],
  terms: [
    ['rust', 2],
    ['wal', 1, [1]],
  ],
  root: {
    kind: 'andNot',
    wanted: {
      kind: 'and',
      children: [{ kind: 'or', children: [{ kind: 'term', term: 0 }, { kind: 'all' }] }, { kind: 'none' }],
    },
    excluded: {
      kind: 'phrase',
      scoring: 'bm25',
      terms: [
        { term: 0, offset: 0 },
        { term: 1, offset: 2 },
      ],
    },
  },
}

const PLAN_BYTES = `
  'MSQ2' 07000000 02000000 0000c03f 0000403f 0a000000 02000000 02000000 01000000 01000000 40000000
  02000000  0000803f 07000000 'content' 00  00004040 0a000000 'meta.title' 0000
  03000000  03000000 'tag' 00 02000000 01000000 'a' 000000 02000000 'bc' 0000
            06000000 'author' 0000 ffffffff
            04000000 'none' 00000000
  02000000  00000040 03000000 00000000 04000000 'rust'  0000803f 02000000 00000000 03000000 'wal' 00
  04000000
    02000000 02000000  03000000 02000000 01000000 00000000 06000000  07000000
    05000000 01000000 02000000 00000000 00000000 01000000 02000000`

describe('search plan', () => {
  it('is encoded as the format says', () => {
    assert.equal(Buffer.from(encodePlan(PLAN, 64)).toString('hex'), bytes(PLAN_BYTES).toString('hex'))
  })

  it('sets the flag for the engine when there is no stop word', () => {
    assert.equal(Buffer.from(encodePlan(PLAN, NO_POLL_WORD)).readUInt32LE(40), 0xffffffff)
  })

  it('distinguishes phrases that count occurrences', () => {
    const root: PlanNode = { kind: 'phrase', scoring: 'occurrences', terms: [{ term: 1, offset: 0 }] }
    const encoded = Buffer.from(encodePlan({ ...PLAN, root }, NO_POLL_WORD))
    assert.equal(encoded.subarray(-20).toString('hex'), bytes('05000000 00000000 01000000 01000000 00000000').toString('hex'))
  })

  it('encodes leaves that stand for other terms, and proximity', () => {
    const root: PlanNode = {
      kind: 'or',
      children: [
        { kind: 'fuzzy', term: 1, edits: 2, prefix: 3 },
        { kind: 'wildcard', term: 0 },
        { kind: 'proximity', distance: 5, terms: [0, 1] },
      ],
    }
    const encoded = Buffer.from(encodePlan({ ...PLAN, root }, NO_POLL_WORD))
    const expected = '08000000 01000000 02000000 03000000  09000000 00000000  0a000000 05000000 02000000 00000000 01000000'
    assert.equal(encoded.subarray(-44).toString('hex'), bytes(expected).toString('hex'))
    assert.throws(() => encodePlan({ ...PLAN, root: { kind: 'fuzzy', term: 1, edits: 3, prefix: 0 } }, NO_POLL_WORD), /3 edits/)
    assert.throws(() => encodePlan({ ...PLAN, root: { kind: 'proximity', distance: 5, terms: [1] } }, NO_POLL_WORD), /of 1 terms/)
  })

  it('becomes a plain plan when its leaves are known', () => {
    const root: PlanNode = {
      kind: 'andNot',
      wanted: { kind: 'fuzzy', term: 0, edits: 1, prefix: 0 },
      excluded: { kind: 'wildcard', term: 1 },
    }
    const [word] = PLAN.terms[0]!
    const plan = expandPlan({ ...PLAN, root }, [
      { leaf: 0, edits: 0, term: word },
      { leaf: 0, edits: 1, term: 'near' },
    ])
    assert.deepEqual(plan.root, {
      kind: 'andNot',
      wanted: {
        kind: 'or',
        children: [
          { kind: 'term', term: 2 },
          { kind: 'term', term: 3 },
        ],
      },
      excluded: { kind: 'none' },
    })
    assert.deepEqual(plan.terms[3], ['near', 1])
    assert.equal(expandPlan(PLAN, []), PLAN)
  })

  it('never leaves here with a term that is not in its table', () => {
    assert.throws(() => encodePlan({ ...PLAN, root: { kind: 'term', term: 2 } }, NO_POLL_WORD), /term 2 of 2/)
  })

  it('never leaves here deeper than the format allows', () => {
    let root: PlanNode = { kind: 'all' }
    for (let depth = 0; depth < 64; depth++) root = { kind: 'and', children: [root] }
    assert.throws(() => encodePlan({ ...PLAN, root }, NO_POLL_WORD), /deeper than 64/)
  })
})

const HITS_BYTES = `
  'MSR1' 05000000 02000000 02000000 0201000000000000 63000000 00000000
  0a000000 00000000 000000000000f83f 0301000000000000 01000080 02000000
  0b000000 00000000 000000000000f03f ffffffffffffffff 00000000 00000000
  00000000`

const EXPANDED_BYTES = `
  'MSR1' 01000000 01000000 01000000 0201000000000000 63000000 02000000
  0a000000 00000000 000000000000f83f 0301000000000000 05000000 00000000
  02000000  01000000 00000000 03000000 'abc' 00  01000000 02000000 04000000 'abcd'`

describe('hits', () => {
  it('are decoded as the format says', () => {
    const decoded = decodeHits(bytes(HITS_BYTES))
    assert.deepEqual(
      { ...decoded, hits: decoded.hits },
      {
        record: bytes(HITS_BYTES),
        total: 5,
        count: 2,
        hits: [
          { docid: 10, score: 1.5, lsn: 259n, matched: [0, 31, 33] },
          { docid: 11, score: 1, lsn: 0xffffffffffffffffn, matched: [] },
        ],
        lsn: 258n,
        docCount: 99,
        complete: true,
        expansions: [],
        expansionsCut: false,
      },
    )
  })

  it('name the terms that leaves stood for', () => {
    const hits = decodeHits(bytes(EXPANDED_BYTES))
    assert.deepEqual(hits.expansions, [
      { leaf: 1, edits: 0, term: 'abc' },
      { leaf: 1, edits: 2, term: 'abcd' },
    ])
    assert.deepEqual([hits.complete, hits.expansionsCut, hits.hits[0]?.matched], [true, true, [0, 2]])
    const good = bytes(EXPANDED_BYTES)
    for (let length = 0; length < good.length; length++) assert.throws(() => decodeHits(good.subarray(0, length)), /hits record/)
    for (const at of [64, 76, 92]) {
      for (const value of [9, 50, 0x7fffffff, 0xffffffff]) {
        const bad = Buffer.from(good)
        bad.writeUInt32LE(value, at)
        assert.throws(() => decodeHits(bad), /hits record/)
      }
    }
  })

  it('are decoded from inside a larger buffer', () => {
    const larger = Buffer.concat([Buffer.alloc(12, 0xff), bytes(HITS_BYTES)])
    assert.deepEqual(decodeHits(larger.subarray(12)), decodeHits(bytes(HITS_BYTES)))
  })

  it('say when the search was stopped', () => {
    const stopped = bytes(HITS_BYTES)
    stopped.writeUInt32LE(1, 28)
    assert.equal(decodeHits(stopped).complete, false)
  })

  it('are refused when their bytes do not add up', () => {
    const good = bytes(HITS_BYTES)
    for (let length = 0; length < good.length; length++) assert.throws(() => decodeHits(good.subarray(0, length)), /hits record/)
    assert.throws(() => decodeHits(Buffer.concat([good, Buffer.alloc(8)])), /do not hold/)
    for (const at of [0, 8, 12]) {
      for (const value of [3, 0x7fffffff, 0xffffffff]) {
        const bad = Buffer.from(good)
        bad.writeUInt32LE(value, at)
        assert.throws(() => decodeHits(bad), /hits record/)
      }
    }
    const nan = Buffer.from(good)
    nan.writeDoubleLE(Number.NaN, 40)
    assert.throws(() => decodeHits(nan).hits, /score NaN/)
  })
})
