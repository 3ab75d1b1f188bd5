/**
 * The table of jobs: order, changes, retention, damage, and that a second store with the same applied entries
 * has the same jobs.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { decideJobChange, decideNewJob, JOBS_KEPT_MAX } from '../../../src/domain/jobs.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import type { JobFields, JobKind } from '../../../src/store/jobs.js'
import { decodeJob, encodeJob } from '../../../src/store/jobs.js'
import { CorruptRecord } from '../../../src/store/rows/record.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import type { Writer } from '../../../src/store/writer.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-jobs-'))
const isUnfinished = (status: string): boolean => status === 'pending'

function open(name: string): { readonly store: TruthStore; readonly writer: Writer } {
  const store = new TruthStore(openDataDirectory(join(folder, name)).generationPath)
  return {
    store,
    writer: store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) }),
  }
}

describe('the table of jobs', () => {
  const { store, writer } = open('first')
  const copy = open('copy')
  before(async () => {
    await add('bulk', 'b-2', { status: 'pending', total: 7, errors: ['one'] })
    await add('bulk', 'b-1', { status: 'pending', total: 8 })
    await add('rotation', 'r-1', { status: 'pending' })
  })
  after(async () => {
    await store.close()
    await copy.store.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const add = (kind: JobKind, id: string, fields: JobFields): Promise<void> =>
    writer.group(
      () => 1,
      (transaction) => {
        for (const { entry } of decideNewJob(transaction, kind, id, fields, isUnfinished)) transaction.apply(entry, undefined)
      },
    )
  const change = (kind: JobKind, id: string, fields: object): Promise<void> =>
    writer.group(
      () => 1,
      (transaction) => {
        const job = transaction.view.job(kind, id)
        assert.ok(job)
        transaction.apply(decideJobChange(transaction, kind, job, fields).entry, undefined)
      },
    )
  const ids = (of: TruthStore, kind: JobKind): string[] => of.read((view) => view.jobs(kind).map(({ id }) => id))

  it('lists the newest first, each kind for itself, whatever the ids', () => {
    assert.deepEqual(ids(store, 'bulk'), ['b-1', 'b-2'])
    assert.deepEqual(ids(store, 'rotation'), ['r-1'])
    assert.equal(
      store.read((view) => view.job('rotation', 'b-1')),
      undefined,
    )
    assert.equal(
      store.read((view) => view.job('bulk', 'x'.repeat(5_000))),
      undefined,
    )
  })

  it('a change keeps the fields that it does not name, and the order of the list', async () => {
    await change('bulk', 'b-2', { status: 'done', added: 3 })
    assert.deepEqual(
      store.read((view) => view.job('bulk', 'b-2')?.fields),
      { status: 'done', total: 7, errors: ['one'], added: 3 },
    )
    assert.deepEqual(ids(store, 'bulk'), ['b-1', 'b-2'])
  })

  it('a new job drives out the oldest finished one above the bound, never one that is unfinished', async () => {
    for (let i = 0; i < JOBS_KEPT_MAX; i++) await add('bulk', `many-${i}`, { status: 'done' })
    const kept = ids(store, 'bulk')
    assert.equal(kept.length, JOBS_KEPT_MAX + 1)
    assert.ok(kept.includes('b-1') && !kept.includes('b-2') && kept.includes('many-0'))
    await add('bulk', 'last', { status: 'done' })
    assert.ok(!ids(store, 'bulk').includes('many-0'))
    assert.deepEqual(ids(store, 'rotation'), ['r-1'])
  })

  it('another store that applies the entries of the binlog has the same jobs', async () => {
    const entries = store.read((view) => view.binlog.entriesAfter(0n, 10_000))
    await copy.writer.group(
      () => 1,
      (transaction) => {
        for (const entry of entries) if (entry.kind !== 'shed') transaction.apply(entry, undefined)
      },
    )
    assert.deepEqual(
      copy.store.read((view) => view.jobs('bulk')),
      store.read((view) => view.jobs('bulk')),
    )
  })

  it('a damaged record is reported, not used', () => {
    const record = encodeJob(5n, { status: 'pending' })
    assert.deepEqual(
      decodeJob('x', record, () => 'job'),
      { id: 'x', createdLsn: 5n, fields: { status: 'pending' } },
    )
    for (let at = 0; at < record.length; at++) {
      const damaged = Buffer.from(record)
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      assert.throws(() => decodeJob('x', damaged, () => 'job bulk/x'), CorruptRecord)
    }
    assert.throws(() => decodeJob('x', record.subarray(0, 10), () => 'job bulk/x'), CorruptRecord)
  })
})
