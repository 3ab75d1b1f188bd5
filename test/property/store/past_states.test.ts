/**
 * Reads as of a time compared with a list of all writes. With writes without a revision, truncated histories,
 * expiries and time gaps, the answer is the state of that second, or none if it is not known.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { decideExpiry, decidePut } from '../../../src/domain/decision.js'
import { readSecond, stateAsOf } from '../../../src/domain/documents/past_states.js'
import { encodeUpsert } from '../../../src/engine/search/index_batch.js'
import { ServiceError } from '../../../src/errors.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { encodeBody, escapeContent } from '../../../src/store/body.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { HEAD_FLAGS } from '../../../src/store/head.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { holds } from '../../harness/property.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-past-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const write = fc.record({ pause: fc.nat(3), keep: fc.boolean(), ttl: fc.constantFrom(null, 0, 4, 1000) })

test('as of a second: the state that was current then, or none if it is unknown', async () => {
  let runs = 0
  await holds(
    fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 12 }), async (writes) => {
      const store = new TruthStore(openDataDirectory(join(folder, String(runs++))).generationPath, 1000)
      const writer = store.openWriter({ durability: 'async', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
      /** The states, each current from `at` on. */
      const states: { readonly at: number; readonly revision: number; readonly keep: boolean; readonly expiresAt: number }[] = []
      let time = 1000
      let expiresAt = 0
      for (const { pause, keep, ttl } of writes) {
        time += pause
        if (expiresAt > 0 && expiresAt <= time) break
        await writer.group(
          () => time,
          (transaction) => put(transaction, keep, ttl),
        )
        if (ttl !== null) expiresAt = ttl === 0 ? 0 : time + ttl
        states.push({ at: time, revision: states.length + 1, keep, expiresAt })
      }
      const last = states.at(-1)
      if (expiresAt > 0 && last !== undefined) {
        // The present state must exist for the query.
        await writer.group(
          () => last.at,
          (transaction) => {
            const head = transaction.view.find(1, 'k', 'en')
            if (head !== undefined) for (const { entry } of decideExpiry(transaction, head, 0).steps) transaction.apply(entry, undefined)
          },
        )
        states[states.length - 1] = { ...last, expiresAt: 0 }
      }
      store.read((view) => {
        const head = view.headEvenExpired(1, 1)
        assert.ok(head)
        for (let second = 998; second <= time + 3; second++) {
          const current = states.filter(({ at }) => at <= second).at(-1)
          const isThere = current !== undefined && (current.expiresAt === 0 || current.expiresAt > second)
          // The present state is stored whether or not it counts as a revision. A kept state is known only if
          // the start of the next one is known.
          const isStored = (revision: number): boolean => revision === states.length || states[revision - 1]?.keep === true
          const isKnown = isThere && isStored(current.revision) && (current.revision === states.length || isStored(current.revision + 1))
          assert.equal(revisionAsOf(() => stateAsOf(view, head, second).revision), isKnown ? current.revision : undefined) // prettier-ignore
        }
      })
      await store.close()
    }),
    { numRuns: 150 },
  )
})

function put(transaction: WriteTransaction, keep: boolean, ttl: number | null): void {
  const escaped = escapeContent('text')
  const { steps } = decidePut(transaction, 'c', {
    key: 'k',
    lang: 'en',
    meta: '{}',
    metaTriples: 0,
    settingsLsn: 0n,
    flags: keep ? HEAD_FLAGS.revision : 0,
    contentHash: 1n,
    body: { kind: 'new', record: encodeBody(escaped, { enabled: false, smallThreshold: 1, mediumThreshold: 2 }), rawBytes: escaped.length },
    escaped,
    index: Buffer.from(encodeUpsert({ collection: 0, key: 'k', lang: 'en', meta: [], fields: [] })),
    ttl,
  })
  for (const { entry, body } of steps) transaction.apply(entry, body)
}

function revisionAsOf(run: () => number): number | undefined {
  try {
    return run()
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'notFound')
    return undefined
  }
}

test('times: unix seconds and ISO 8601, without a zone in UTC; nothing else', () => {
  const of = (given: unknown): number => readSecond('asOf', given)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (second) => {
      const iso = new Date(second * 1000).toISOString()
      for (const text of [second, String(second), iso, iso.slice(0, 19), iso.replace('T', ' ').replace('Z', '+00:00')])
        assert.equal(of(text), second)
      assert.equal(of(iso.slice(0, 10)), second - (second % 86_400))
    }),
  )
  assert.equal(of('2024-01-31T12:00:00+02:00'), Date.UTC(2024, 0, 31, 10) / 1000)
  assert.equal(of('2024-01-31T12:00'), Date.UTC(2024, 0, 31, 12) / 1000)
  for (const wrong of ['', 'yesterday', '2024-13-01', '2024-01-31T25:00', -1, Number.NaN, true, {}, [1], '1e3', '-1'])
    assert.throws(() => of(wrong), /^ServiceError: invalid asOf: unix seconds or a time like/, JSON.stringify(wrong))
})
