/**
 * Entries of the binlog: their origin and actor, the flags for consumers, and that the golden ones would be
 * stored today as they were. Layout: docs/formats/binlog.md.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { loadConfig } from '../../../src/config/config.js'
import { type RebuildOptions, rebuildPages } from '../../../src/consumers/rebuild.js'
import { replay } from '../../../src/consumers/replay.js'
import { decideDelete, decidePut } from '../../../src/domain/decision.js'
import { prepareDocument } from '../../../src/domain/writes/preparation.js'
import { joinBatch } from '../../../src/engine/search/index_batch.js'
import { openEngine } from '../../../src/engine/search/native_engine.js'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import type { SearchPlan } from '../../../src/engine/types.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import type { Entry } from '../../../src/store/entries/entry.js'
import { decodeEntry, encodeEntry } from '../../../src/store/entries/entry.js'
import { ENTRY_FLAGS } from '../../../src/store/entries/entry_kind.js'
import { ENTRY_ORIGINS } from '../../../src/store/entries/entry_origin.js'
import { kindOfCode } from '../../../src/store/entries/kinds.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { currentGeneration, openDataDirectory } from '../../../src/store/files/layout.js'
import { HEAD_FLAGS } from '../../../src/store/head.js'
import { lsnOfKey } from '../../../src/store/rows/keys.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { goldenEntriesKeyring, unpackGoldenEntries } from '../../harness/store/golden_entries.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-entries-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const DELETE: Entry = { kind: 'delete', lsn: 7n, collection: 3, docid: 5, key: 'a', lang: 'en', collectionName: 'Blog' }
/** Positions of the CRC and of the scope byte in a record. */
const SCOPE_AT = 7

describe('entries of the binlog', () => {
  it('entry: origin, actor and flags come back, and without them it is an anonymous request with nothing left out', () => {
    for (const origin of ENTRY_ORIGINS) {
      const entry: Entry = { ...DELETE, origin, actor: 'anna', flags: ENTRY_FLAGS.skipsWebhooks | ENTRY_FLAGS.skipsFullText }
      assert.deepEqual(decodeEntry(7n, encodeEntry(entry, 0)), entry)
    }
    assert.deepEqual(decodeEntry(7n, encodeEntry(DELETE, 0)), { ...DELETE, origin: 'request', actor: null, flags: 0 })
    const author = { origin: 'expiry', actor: 'bert' } as const
    assert.deepEqual(decodeEntry(7n, encodeEntry(DELETE, 0, author)), { ...DELETE, ...author, flags: 0 })
    const said: Entry = { ...DELETE, origin: 'replication', actor: 'anna' }
    assert.deepEqual(decodeEntry(7n, encodeEntry(said, 0, author)), { ...said, flags: 0 }, 'what an entry says itself stands')
  })

  it('entry: those of the golden directory are stored as they were, byte for byte', async () => {
    const directory = unpackGoldenEntries(folder)
    const environment = openEnvironment(currentGeneration(directory), goldenEntriesKeyring())
    let compared = 0
    for (const { key, value } of environment.binlog.getRange()) {
      if (value[SCOPE_AT] !== 0) continue
      const entry = decodeEntry(lsnOfKey(key), value)
      assert.deepEqual(encodeEntry(entry, value.readUInt32LE(8)), value, entry.kind)
      compared++
    }
    assert.ok(compared > 50)
    await environment.root.close()
  })

  it('entry: every kind has a page of its format, and every page is of a kind', () => {
    const kinds = Array.from({ length: 64 }, (_, code) => kindOfCode(code)?.name).filter((name) => name !== undefined)
    assert.ok(kinds.length >= 10)
    const pages = readdirSync('docs/formats/entries').map((name) => name.replace(/\.md$/, ''))
    assert.deepEqual([...kinds].sort(), pages.sort())
    assert.ok(kinds.every((name) => existsSync(`src/store/entries/${name}/${name}.ts`)))
  })

  it('entry: outside of their folders, the store and its consumers ask for no kind by its name', () => {
    const names = Array.from({ length: 64 }, (_, code) => kindOfCode(code)?.name).filter((name) => name !== undefined)
    const asked = new RegExp(`\\b(kind|name) [!=]== '(${names.join('|')})'`)
    const files = ['src/store', 'src/consumers'].flatMap((of) =>
      readdirSync(of, { recursive: true, encoding: 'utf8' }).map((name) => join(of, name)),
    )
    const sources = files.filter((path) => path.endsWith('.ts') && !path.startsWith('src/store/entries'))
    assert.ok(sources.length > 50)
    assert.deepEqual(
      sources.filter((path) => asked.test(readFileSync(path, 'utf8'))),
      [],
    )
  })
})

describe('a document whose text full-text search leaves out', () => {
  const engine = openEngine()
  const tools = { config: loadConfig([], {}), analyzer: createAnalyzer() }
  const store = new TruthStore(openDataDirectory(join(folder, 'store')).generationPath)
  const writer = store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  after(() => store.close())

  const PLAN: SearchPlan = { collection: 1, algorithm: 'bm25', k1: 1.2, b: 0.75, k: 100, skip: 0, sort: 'score', descending: true, exactTotal: true, fields: [['content', 1]], filters: [], terms: [['walrus', 1]], root: { kind: 'term', term: 0 } } // prettier-ignore
  const found = (): number => engine.search(PLAN).total
  const listed = (): number => engine.search({ ...PLAN, sort: 'docid', root: { kind: 'all' } }).total
  const write = (change: (transaction: WriteTransaction) => readonly Uint8Array[]): Promise<void> =>
    writer.group(
      () => 1_000,
      (transaction) => engine.publish(joinBatch(change(transaction), transaction.nextLsn - 1n)),
    )
  const put = (key: string, skips: boolean): Promise<void> =>
    write((transaction) => {
      const rules = { settingsLsn: 0n, schema: undefined }
      const input = { key, lang: 'en', meta: { kind: ['animal'] }, rules, contentMd: 'walrus', ttl: null, saveRevision: true, answered: false } // prettier-ignore
      const document = { ...prepareDocument(tools, { ...input, skipsFullText: skips }), skipsWebhooks: skips }
      const { steps } = decidePut(transaction, 'Zoo', document)
      for (const { entry, body } of steps) transaction.apply(entry, body)
      return steps.flatMap(({ indexOp }) => indexOp ?? [])
    })

  const rebuild = (options: RebuildOptions): void => {
    const pages = rebuildPages({ ...tools, store, engine }, { share: 0, shares: 1 }, options)
    for (let page = pages.next(true); page.done !== true; page = pages.next(true)) assert.deepEqual(page.value.damaged, [])
  }

  it('is listed and not found, says so in its entry, and stays so after a rebuild and a replay', async () => {
    await put('seen', false)
    await put('hidden', true)
    assert.deepEqual([found(), listed()], [1, 2])
    const flags = store.read((view) => view.binlog.entriesAfter(0n, 9).map((entry) => entry.kind !== 'shed' && entry.flags))
    assert.deepEqual(flags, [0, ENTRY_FLAGS.skipsWebhooks | ENTRY_FLAGS.skipsFullText])
    assert.equal(
      store.read((view) => (view.head(1, 2)?.flags ?? 0) & HEAD_FLAGS.textSkipped),
      HEAD_FLAGS.textSkipped,
    )

    rebuild({})
    assert.deepEqual([found(), listed()], [1, 2])
    replay({ ...tools, store, engine }, 0n)
    assert.deepEqual([found(), listed()], [1, 2])
  })

  it('is found once a re-index was asked for', () => {
    rebuild({ replaceEqual: true })
    assert.deepEqual([found(), listed()], [2, 2])
  })

  it('is found from the next write on that does not leave it out, and its delete names its collection', async () => {
    await put('hidden', false)
    assert.deepEqual([found(), listed()], [2, 2])
    await write((transaction) => {
      transaction.author = { origin: 'expiry', actor: null }
      const head = transaction.view.head(1, 2)
      assert.ok(head)
      const { entry, indexOp } = decideDelete(transaction, head)
      transaction.apply(entry, undefined)
      return [indexOp ?? assert.fail()]
    })
    const [deleted] = store.read((view) => view.binlog.entriesAfter(3n, 1))
    assert.ok(deleted?.kind === 'delete')
    assert.deepEqual([deleted.collectionName, deleted.origin, deleted.key], ['Zoo', 'expiry', 'hidden'])
    assert.deepEqual([found(), listed()], [1, 1])
  })
})
