/**
 * Processing of results after scoring, compared with plain models: facets equal a scan, content is measured
 * as its UTF-8 text, curated pages equal the rules applied to a list.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { contentBytesOf, headOf } from '../../../src/domain/documents/document_json.js'
import { CuratedResults } from '../../../src/domain/search/curated_results.js'
import { FacetCounter } from '../../../src/domain/search/facets.js'
import type { Hit } from '../../../src/engine/types.js'
import { escapeContent } from '../../../src/store/body.js'
import type { View } from '../../../src/store/view.js'
import { holds } from '../../harness/property.js'

const awkward = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(',"contentMd":"', '"}', '\\', '\u0000\u001f\n', '\ud800', 'é😀'),
)
const meta = fc.dictionary(fc.oneof(fc.constantFrom('tags', 'contentMd', 'kind'), awkward.filter((key) => key !== '__proto__')), fc.array(fc.oneof(fc.constantFrom('a', 'b', 'c'), awkward), { maxLength: 4 }), { maxKeys: 4 }) // prettier-ignore

/** The stored form of a document. */
function stored(of: Readonly<Record<string, readonly string[]>>, contentMd: string): Buffer {
  const head = JSON.stringify({ id: 'c|k|en', key: 'k', lang: 'en', meta: of, addedAt: 1, updatedAt: 2 })
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"contentMd":"`), escapeContent(contentMd), Buffer.from('"}')])
}

test('metadata and the size of the content are read from any stored document without parsing its content', () => {
  holds(
    fc.property(meta, fc.array(awkward, { maxLength: 6 }), (of, parts) => {
      const contentMd = parts.join('')
      const json = stored(of, contentMd)
      assert.deepEqual(headOf(json).meta, JSON.parse(JSON.stringify(of)))
      assert.equal(contentBytesOf(json), Buffer.byteLength(contentMd))
    }),
    { numRuns: 1000 },
  )
})

test('facet counts equal a scan of the results', () => {
  holds(
    fc.property(fc.array(meta, { maxLength: 8 }), fc.integer({ min: 1, max: 4 }), (results, valuesMax) => {
      const counter = new FacetCounter(['tags', 'meta.kind', 'absent'], valuesMax)
      for (const of of results) counter.add(stored(of, ''))
      const scan = (key: string): unknown => {
        const values = [...new Set(results.flatMap((of) => of[key] ?? []))]
        return values
          .map((value) => ({ value, count: results.filter((of) => (of[key] ?? []).includes(value)).length }))
          .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
          .slice(0, valuesMax)
      }
      assert.deepEqual(counter.counts(), { tags: scan('tags'), 'meta.kind': scan('kind'), absent: scan('absent') })
    }),
    { numRuns: 500 },
  )
})

/** Documents 1 to 12 under the keys k1 to k12, each in one language. */
const DOCIDS = Array.from({ length: 12 }, (_, index) => index + 1)
const view = {
  docidsOfKey: (_: number, key: string) => DOCIDS.filter((docid) => `k${docid}` === key),
  identity: (_: number, key: string) => ({ docid: Number(key.slice(1)) }),
  head: (_: number, docid: number) => (DOCIDS.includes(docid) ? { meta: Buffer.from('{}'), json: Buffer.from('{"meta":{}') } : undefined),
} as unknown as View

class Page {
  readonly shown: string[] = []
  constructor(readonly limit: number) {}
  get count(): number {
    return this.shown.length
  }
  get isFull(): boolean {
    return this.count >= this.limit
  }
  organic(docid: number): void {
    this.shown.push(String(docid))
  }
  pinned(docid: number): void {
    this.shown.push(`${docid}*`)
  }
}

test('curated pages equal the rules applied to the list of results', () => {
  const key = fc.constantFrom(...DOCIDS, 99).map((docid) => `k${docid}`)
  const pins = fc.array(fc.record({ key, position: fc.integer({ min: -1, max: 14 }) }), { maxLength: 5 })
  holds(
    fc.property(
      fc.shuffledSubarray(DOCIDS),
      pins,
      fc.array(key, { maxLength: 3 }),
      fc.integer({ min: 1, max: 14 }),
      (organic, pinned, hides, limit) => {
        const hits = organic.map((docid): Hit => ({ docid, score: 1, lsn: 1n, matched: [] }))
        const curated = new CuratedResults(view, 1, { pins: pinned, hides }, () => true, hits)
        const page = new Page(limit)
        for (const { docid } of hits) {
          curated.writeDue(page)
          if (page.isFull) break
          if (!curated.leavesOut(docid)) page.organic(docid)
        }
        curated.writeRest(page)
        assert.deepEqual(page.shown, model(organic, pinned, hides).slice(0, limit))
      },
    ),
    { numRuns: 1000 },
  )
})

function model(organic: readonly number[], pinned: readonly { key: string; position: number }[], hides: readonly string[]): string[] {
  const isThere = (key: string): boolean => key !== 'k99' && !hides.includes(key)
  const first = pinned.filter(({ key }, index) => isThere(key) && pinned.findIndex((pin) => pin.key === key) === index)
  const rest = organic.filter((docid) => !hides.includes(`k${docid}`) && !first.some(({ key }) => key === `k${docid}`)).map(String)
  const list: string[] = []
  const placed = first.filter(({ position }) => position > 0).sort((one, other) => one.position - other.position)
  for (let next = 0; next < placed.length || rest.length > 0;) {
    const pin = placed[next]
    if (pin !== undefined && (pin.position <= list.length + 1 || rest.length === 0)) {
      list.push(`${pin.key.slice(1)}*`)
      next++
    } else list.push(rest.shift() as string)
  }
  return [...list, ...first.filter(({ position }) => position <= 0).map(({ key }) => `${key.slice(1)}*`)]
}
