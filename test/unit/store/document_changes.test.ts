/**
 * The changes of documents that entries of the binlog stand for (src/store/entries/document_change.ts), and
 * their reader, which skips all other entries, opens sealed ones and passes damaged ones.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { loadConfig } from '../../../src/config/config.js'
import { decideDelete, decideDrop, decideExpiry, decidePut } from '../../../src/domain/decision.js'
import { decideNewJob } from '../../../src/domain/jobs.js'
import type { Step } from '../../../src/domain/step.js'
import { prepareDocument } from '../../../src/domain/writes/preparation.js'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import type { DocumentChange } from '../../../src/store/entries/document_change.js'
import { encodeEntry, openEntry } from '../../../src/store/entries/entry.js'
import { kindOfCode } from '../../../src/store/entries/kinds.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { currentGeneration, openDataDirectory } from '../../../src/store/files/layout.js'
import type { Head } from '../../../src/store/head.js'
import { lsnKey, lsnOfKey } from '../../../src/store/rows/keys.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { View } from '../../../src/store/view.js'
import { goldenEntriesKeyring, unpackGoldenEntries } from '../../harness/store/golden_entries.js'

const NOW = 1_000
const folder = mkdtempSync(join(tmpdir(), 'mds-changes-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('changes of documents', () => {
  const tools = { config: loadConfig([], {}), analyzer: createAnalyzer() }
  const path = openDataDirectory(join(folder, 'store')).generationPath
  const store = new TruthStore(path)
  const writer = store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  after(() => store.close())

  const write = (decide: (transaction: WriteTransaction) => readonly Step[], now = NOW): Promise<void> =>
    writer.group(
      () => now,
      (transaction) => {
        for (const { entry, body } of decide(transaction)) transaction.apply(entry, body)
      },
    )
  const rules = { settingsLsn: 0n, schema: undefined }
  const input = { lang: 'en', meta: {}, rules, contentMd: 'walrus', ttl: null, saveRevision: true, answered: false }
  const prepared = (key: string): ReturnType<typeof prepareDocument> => prepareDocument(tools, { ...input, key })
  const put = (key: string, now = NOW): Promise<void> => write((transaction) => decidePut(transaction, 'Zoo', prepared(key)).steps, now)
  const headOf = ({ view }: WriteTransaction, key: string): Head => view.find(1, key, 'en') ?? assert.fail(key)
  const seen = (from = 0n, count = 99): readonly DocumentChange[] => store.read((view) => view.binlog.changesAfter(from, count).changes)
  const shown = (changes: readonly DocumentChange[]): unknown[] =>
    changes.map(({ lsn, type, event, key, revision, timestamp }) => [lsn, type, event, key, revision, timestamp])

  it('document change: the first state of a document is added, a later one and another expiry update it', async () => {
    await put('a')
    await put('A', NOW + 1)
    await write((transaction) => decideExpiry(transaction, headOf(transaction, 'A'), NOW + 60).steps, NOW + 2)
    await write((transaction) => {
      transaction.author = { origin: 'import', actor: 'anna' }
      const times = { addedAt: 3, updatedAt: NOW + 30 }
      return decidePut(transaction, 'zoo', { ...prepared('A'), times, skipsWebhooks: true }).steps
    }, NOW + 3)
    const changes = seen()
    assert.deepEqual(shown(changes), [
      [1n, 'insert', 'doc.added', 'a', 1, NOW],
      [2n, 'update', 'doc.updated', 'A', 2, NOW + 1],
      [3n, 'update', 'doc.updated', 'A', 2, NOW + 2],
      [4n, 'update', 'doc.updated', 'A', 3, NOW + 3],
    ])
    assert.ok(changes.every(({ collection, collectionName, docid, lang }) => collection === 1 && collectionName === 'Zoo' && docid === 1 && lang === 'en')) // prettier-ignore
    assert.deepEqual(
      changes.map(({ origin, actor, flags }) => [origin, actor, flags]).slice(2),
      [['request', null, 0], ['import', 'anna', 1]], // prettier-ignore
    )
  })

  it('document change: a document that has expired is deleted before it is added again', async () => {
    const from = BigInt(seen().length)
    await put('a', NOW + 60)
    assert.deepEqual(shown(seen(from)), [
      [5n, 'delete', 'doc.deleted', 'a', 0, NOW + 60],
      [6n, 'insert', 'doc.added', 'a', 1, NOW + 60],
    ])
    assert.deepEqual(
      seen(from).map(({ origin }) => origin),
      ['expiry', 'request'],
    )
  })

  it('document change: jobs are none, and the reader counts entries, not changes', async () => {
    await write((transaction) => [...decideNewJob(transaction, 'bulk', 'bulk_1', { status: 'running' }, () => true)], NOW + 61)
    await write((transaction) => [decideDelete(transaction, headOf(transaction, 'a'))], NOW + 62)
    assert.deepEqual(shown(seen(6n)), [[8n, 'delete', 'doc.deleted', 'a', 0, NOW + 62]])
    const read = (count: number): unknown => store.read((view) => view.binlog.changesAfter(6n, count))
    assert.deepEqual(read(1), { changes: [], lsn: 7n })
    assert.deepEqual(store.read((view) => view.binlog.changesAfter(8n, 5)), { changes: [], lsn: 8n }) // prettier-ignore
  })

  it('document change: a deleted collection is one, with an empty key and the number of its documents', async () => {
    await put('b', NOW + 70)
    await put('c', NOW + 70)
    await write((transaction) => [decideDrop(transaction, 1, 'Zoo')], NOW + 71)
    const [change] = seen(10n)
    assert.deepEqual(change, { lsn: 11n, type: 'delete', event: 'doc.deleted', collection: 1, collectionName: 'Zoo', key: '', lang: '', docid: 0, revision: 0, timestamp: NOW + 71, actor: null, origin: 'request', flags: 0, deletedCount: 2 }) // prettier-ignore
  })

  it('document change: entries without a time, as earlier versions wrote them, have that of the reading', () => {
    const { encode, decode, changeOf } = kindOfCode(2) ?? assert.fail()
    const base = { kind: 'delete', lsn: 1n, collection: 1, docid: 1 }
    const entry = decode(base, ['a', 'en', 'Zoo'])
    assert.deepEqual(encode(entry), ['a', 'en', 'Zoo'])
    assert.equal(changeOf?.(entry).timestamp, 0)
  })

  it('document change: a damaged entry is skipped', async () => {
    await store.close()
    const environment = openEnvironment(path)
    const damaged = Buffer.from(environment.binlog.get(lsnKey(2n)) ?? assert.fail())
    damaged[damaged.length - 1] = (damaged[damaged.length - 1] ?? 0) ^ 1
    await environment.root.transaction(() => environment.binlog.put(lsnKey(2n), damaged))
    const { changes, lsn } = new View(environment, NOW).binlog.changesAfter(0n, 4)
    assert.deepEqual([changes.map((change) => change.lsn), lsn], [[1n, 3n, 4n], 4n])
    await environment.root.close()
  })
})

it('document change: the golden entries have them, sealed ones too, those of lost keys not', async () => {
  const environment = openEnvironment(currentGeneration(unpackGoldenEntries(folder)), goldenEntriesKeyring())
  const expected: bigint[] = []
  for (const { key, value } of environment.binlog.getRange()) {
    const entry = openEntry(environment.seals, lsnOfKey(key), value)
    if (['put', 'expiry', 'delete', 'drop'].includes(entry.kind)) expected.push(entry.lsn)
    if (entry.kind === 'drop') assert.deepEqual(encodeEntry(entry, 0).length < 64, true)
  }
  const { changes } = new View(environment, NOW).binlog.changesAfter(0n, 100_000)
  await environment.root.close()
  assert.deepEqual(
    changes.map(({ lsn }) => lsn),
    expected,
  )
  assert.ok(changes.some(({ collectionName }) => collectionName === 'sealed'))
  assert.ok(changes.every(({ timestamp, collectionName }) => timestamp > 0 && collectionName !== ''))
})
