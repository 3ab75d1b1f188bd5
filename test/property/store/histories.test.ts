/**
 * Tracking compared with plain maps. Random writes, reads, deletes, drops and purges must leave histories,
 * leaderboard and counts as in the model. A history of any length keeps its size limit, its order and the
 * number of its reads. The rings lose nothing that they accepted and accept nothing that does not fit.
 * Buckets contain every second exactly once.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { decideDelete, decideDrop, decidePut } from '../../../src/domain/decision.js'
import { bucketsOf } from '../../../src/domain/temporal/temporal_requests.js'
import { bucketBegin, bucketEnd, bucketKey } from '../../../src/domain/temporal/time_buckets.js'
import { encodeUpsert } from '../../../src/engine/search/index_batch.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { encodeBody, escapeContent } from '../../../src/store/body.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { HEAD_FLAGS } from '../../../src/store/head.js'
import {
  addAccesses,
  addWrite,
  decodeHistory,
  emptyHistory,
  encodeHistory,
  HISTORY_ACCESS_GROUPS_MAX,
  HISTORY_WRITES_MAX,
} from '../../../src/store/histories/history.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { ACCESS_RING_ENTRIES, AccessRings } from '../../../src/telemetry/access_rings.js'
import { holds } from '../../harness/property.js'

const sum = (counts: readonly { readonly count: number }[]): number => counts.reduce((all, { count }) => all + count, 0)

test('a history keeps its bounds, its order and the number of its reads, and comes back from its bytes', () => {
  const read = fc.record({ second: fc.integer({ min: 1000, max: 1600 }), count: fc.integer({ min: 1, max: 5 }) })
  const actor = fc.option(fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' }))
  holds(
    fc.property(fc.array(read, { maxLength: 800 }), fc.array(fc.nat(3), { maxLength: 300 }), fc.array(actor), (reads, pauses, actors) => {
      const history = emptyHistory()
      let second = 500
      pauses.forEach((pause, index) =>
        addWrite(history, index === 0 ? 'create' : 'update', (second += pause), actors[index % actors.length] ?? null),
      )
      for (const { second: at, count } of reads) addAccesses(history, at, count)
      assert.ok(history.accesses.length <= HISTORY_ACCESS_GROUPS_MAX && history.writes.length <= HISTORY_WRITES_MAX)
      assert.equal(sum(history.accesses), sum(reads))
      for (const groups of [history.accesses, history.writes])
        assert.deepEqual(groups.map((group) => group.second), groups.map((group) => group.second).sort((a, b) => a - b)) // prettier-ignore
      assert.equal(new Set(history.accesses.map((group) => group.second)).size, history.accesses.length)
      if (pauses.length > 0) assert.equal(history.writes[0]?.type, 'create')
      assert.deepEqual(history.writes.at(-1)?.second, pauses.length > 0 ? second : undefined)
      const bytes = encodeHistory(history)
      assert.ok(bytes.length < 2000, 'within what a page holds twice')
      const decoded = decodeHistory(bytes, () => 'history')
      const unsigned = ({ writes, ...rest }: typeof history): unknown => ({
        ...rest,
        writes: writes.map(({ actor: _, ...write }) => write),
      })
      assert.deepEqual(unsigned(decoded), unsigned(history))
      // The newest writes keep the names of their principals.
      decoded.writes.forEach((write, index) => {
        if (write.actor !== undefined) assert.equal(write.actor, history.writes[index]?.actor)
      })
      const last = history.writes.findLast((write) => write.actor !== undefined)
      if (last !== undefined) assert.equal(decoded.writes[history.writes.indexOf(last)]?.actor, last.actor)
    }),
    { numRuns: 200 },
  )
})

test('rings: records are read in order and once, across the end of the ring, and a full ring accepts none', () => {
  const rows = [0, 1, 2]
  const buffer = AccessRings.create(rows.length)
  const rings = rows.map((row) => new AccessRings(buffer, row))
  const waiting: string[][] = rows.map(() => [])
  let next = 0
  holds(
    fc.property(fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: ACCESS_RING_ENTRIES / 2 })), { maxLength: 8 }), (bursts) => {
      for (const [row, length] of bursts) {
        for (let one = 0; one < length; one++) {
          next++
          const took = rings[row]?.record(0xffff_fff0, next, 4_000_000_000, row + 1)
          assert.equal(took, (waiting[row]?.length ?? 0) < ACCESS_RING_ENTRIES)
          if (took) waiting[row]?.push(`4294967280 ${next} 4000000000 ${row + 1}`)
        }
      }
      const taken: string[] = []
      rings[0]?.take((...entry) => taken.push(entry.join(' ')))
      assert.deepEqual(taken, waiting.flat())
      for (const row of rows) waiting[row] = []
    }),
    { numRuns: 60 },
  )
})

test('buckets: every second is in the bucket that begins at or before it, and names follow the calendar', () => {
  holds(
    fc.property(
      fc.integer({ min: 0, max: 4_294_967_295 }),
      fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'year' as const),
      (second, interval) => {
        const begin = bucketBegin(second, interval)
        const end = bucketEnd(begin, interval)
        assert.ok(begin <= second && second < end)
        assert.equal(bucketBegin(end, interval), end)
        assert.equal(bucketBegin(end - 1, interval), begin)
        assert.notEqual(bucketKey(begin, interval), bucketKey(end, interval))
        const minute = Math.floor(second / 60)
        const [one, two] = bucketsOf([[minute, 2], [Math.floor((end - 1) / 60), 3], [end / 60, 4]], interval) // prettier-ignore
        assert.deepEqual([one?.from, one?.count, two?.from, two?.count], [begin, 5, end, 4])
      },
    ),
  )
})

const folder = mkdtempSync(join(tmpdir(), 'mds-histories-'))
after(() => rmSync(folder, { recursive: true, force: true }))

type Op =
  | { readonly kind: 'write'; readonly key: string }
  | { readonly kind: 'read'; readonly key: string; readonly tracked: number; readonly hot: number }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'drop' | 'purge' }

interface ModelDocument {
  readonly events: string[]
  hot: number
  reads: number
  last: number
}

const keyOf = fc.constantFrom('a', 'b', 'c')
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), key: keyOf }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('read' as const), key: keyOf, tracked: fc.nat(2), hot: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), key: keyOf }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('drop' as const, 'purge' as const) }) },
)

test('histories, leaderboard and counts are those of a model under writes, reads, deletes and drops', async () => {
  let runs = 0
  await holds(
    fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 40 }), async (ops) => {
      const store = new TruthStore(openDataDirectory(join(folder, String(runs++))).generationPath, 1000)
      const writer = store.openWriter({
        durability: 'async',
        tracksHistory: true,
        onCommit: () => undefined,
        onFailure: (failure) => assert.fail(failure),
      })
      const model = new Map<string, ModelDocument>()
      /** From long ago: the record of a deleted document must not reappear. */
      const gone: { readonly collection: number; readonly docid: number }[] = []
      let counted = 0
      let time = 100_000
      for (const step of ops) {
        time += 45
        await writer.group(
          () => time,
          (transaction) => {
            const { view } = transaction
            const collection = view.collection('c')
            const known = (key: string) => (collection === undefined ? undefined : view.find(collection.id, key, 'en'))
            if (step.kind === 'write') {
              write(transaction, step.key)
              const document = model.get(step.key)
              if (document === undefined) model.set(step.key, { events: [`create ${time}`], hot: 0, reads: 0, last: 0 })
              else document.events.push(`update ${time}`)
            } else if (step.kind === 'read') {
              const head = known(step.key)
              const accesses = [{ second: time, tracked: step.tracked, hot: step.hot }]
              for (const { collection: was, docid } of gone) transaction.trackAccesses(was, docid, accesses)
              if (head === undefined) return
              transaction.trackAccesses(head.collection, head.docid, accesses)
              const document = model.get(step.key) as ModelDocument
              document.hot += step.hot
              document.reads += step.tracked
              if (step.hot > 0) document.last = time
              counted += step.tracked
            } else if (step.kind === 'delete') {
              const head = known(step.key)
              if (head === undefined) return
              const { entry } = decideDelete(transaction, head)
              transaction.apply(entry, undefined)
              gone.push({ collection: head.collection, docid: head.docid })
              model.delete(step.key)
            } else if (step.kind === 'drop') {
              if (collection !== undefined) transaction.apply(decideDrop(transaction, collection.id, 'c').entry, undefined)
              model.clear()
              counted = 0
            } else while (transaction.purgeRetired(3)) continue
          },
        )
      }
      store.read((view) => {
        const collection = view.collection('c')
        if (collection === undefined) return
        const found = new Map<string, ModelDocument>()
        for (const key of ['a', 'b', 'c']) {
          const head = view.find(collection.id, key, 'en')
          if (head === undefined) continue
          const history = view.histories.of(collection.id, head.docid) ?? emptyHistory()
          const events = history.writes.map(({ type, second }) => `${type} ${second}`)
          found.set(key, { events, hot: history.hotCount, reads: sum(history.accesses), last: history.lastHotSecond })
        }
        assert.deepEqual(found, new Map([...model].sort(([one], [other]) => (one < other ? -1 : 1))))
        const board = [...view.histories.hottest(collection.id, 10)].map((docid) => view.histories.of(collection.id, docid)?.hotCount ?? -1)
        assert.deepEqual(board, [...model.values()].map(({ hot }) => hot).filter((hot) => hot > 0).sort((one, other) => other - one)) // prettier-ignore
        assert.equal(
          [...view.histories.minutes(collection.id, 'access', 0, 1e6)].reduce((all, [, count]) => all + count, 0),
          counted,
        )
      })
      await store.close()
    }),
    { numRuns: 100 },
  )
})

function write(transaction: WriteTransaction, key: string): void {
  const escaped = escapeContent(key)
  const { steps } = decidePut(transaction, 'c', {
    key,
    lang: 'en',
    meta: '{}',
    metaTriples: 0,
    settingsLsn: 0n,
    flags: HEAD_FLAGS.revision,
    contentHash: 1n,
    body: { kind: 'new', record: encodeBody(escaped, { enabled: false, smallThreshold: 1, mediumThreshold: 2 }), rawBytes: escaped.length },
    escaped,
    index: Buffer.from(encodeUpsert({ collection: 0, key, lang: 'en', meta: [], fields: [] })),
    ttl: null,
  })
  for (const { entry, body } of steps) transaction.apply(entry, body)
}
