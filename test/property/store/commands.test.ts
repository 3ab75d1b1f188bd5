/**
 * Commands of every kind, with field values that no handler would accept, executed by decide and apply on a
 * real store. Whatever a command reports as done or refused, the transaction stands, and the stored data can
 * be read. `Writer` ends the process on any exception, which here fails the test.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { loadConfig } from '../../../src/config/config.js'
import type { AccessChange } from '../../../src/domain/access/access_changes.js'
import { type Command, decodeCommand, encodeCommand } from '../../../src/domain/commands.js'
import { SettingsCache } from '../../../src/domain/settings/collection_settings.js'
import { openSharedBodies } from '../../../src/engine/shared_bodies.js'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import { entryOf } from '../../../src/errors.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { textOfHead } from '../../../src/store/head.js'
import { newObjectId } from '../../../src/store/objects.js'
import { SETTING_KINDS } from '../../../src/store/settings.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import type { Writer } from '../../../src/store/writer.js'
import { workOf } from '../../../src/worker/commit/command_work.js'
import type { CommitTools, GroupEffects } from '../../../src/worker/commit/commit_work.js'
import { ingestChunkWork } from '../../../src/worker/commit/ingest_work.js'
import { importPagesWork } from '../../../src/worker/commit/wiki_work.js'
import type { CommitAnswer } from '../../../src/worker/request/handler.js'
import { keyringWith } from '../../harness/store/sealing.js'
import { prepared } from '../../harness/store/store_operations.js'
import { checkReferences } from '../../harness/store/stored_rows.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-commands-'))
let store: TruthStore
let writer: Writer
let tools: CommitTools

before(() => {
  store = new TruthStore(openDataDirectory(folder).generationPath, 0, keyringWith(1))
  store.beginSealing()
  writer = store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  const config = loadConfig([], {})
  tools = { store, config, settings: new SettingsCache(), analyzer: createAnalyzer(), sharedBodies: openSharedBodies(config.limits) }
})
after(async () => {
  await store.close()
  checkReferences(folder)
  rmSync(folder, { recursive: true, force: true })
})

/** As the write lane runs it. */
/** The HTTP status of the answer. */
function statusOf({ code }: CommitAnswer): number {
  return code === undefined ? 200 : entryOf(code).http
}

async function run(command: Command): Promise<CommitAnswer> {
  const received = decodeCommand(encodeCommand(command))
  const work =
    received.kind === 'ingestChunk'
      ? ingestChunkWork(tools, received)
      : received.kind === 'importPages'
        ? importPagesWork(tools, received, Infinity)
        : workOf(tools, received)
  for (let hasMore = true; hasMore;) {
    hasMore = await writer.group(
      () => 1_000,
      (transaction) => {
        const effects: GroupEffects = {
          indexOps: [],
          vectorOps: [],
          sealings: [],
          queued: [],
          endedSessions: [],
          isQueueChanged: false,
          isAccessChanged: false,
        }
        return work.weight > 0 && work.run(transaction, effects)
      },
    )
  }
  return work.answer()
}

const named = { collection: 'blog', key: 'a', lang: 'en' } as const
const base = { docid: 1, lsn: 1n } as const
const rule = { query: 'q', matchMode: 'exact', enabled: true, pins: [{ key: 'a', position: 1 }], hides: ['b'] } as const
const embedding = { name: 'n', provider: 'openai', model: 'm', dimensions: 3, apiKey: 'secret', isDefault: true } as const
const document = { collection: 1, docid: 1, queued: 0n } as const
const newVectors = {
  ...document,
  change: 'set',
  variant: 'v',
  dimensions: 1,
  isCode: false,
  recipe: 1,
  bodyLsn: 1n,
  ranges: Buffer.from(new Uint32Array([0, 1]).buffer),
  hashes: Buffer.from(new BigUint64Array([7n]).buffer),
  given: Buffer.from(new Uint32Array([0]).buffer),
  vectors: Buffer.from(new Float32Array([1]).buffer),
  isWhole: true,
  isFresh: true,
} as const

function accessCommands(): Command[] {
  const changes: AccessChange[] = [
    { kind: 'addUser', username: 'alice', passwordHash: 'hash' },
    { kind: 'ensureUser', username: 'admin', passwordHash: 'hash' },
    { kind: 'changeUser', username: 'alice', passwordHash: 'other', disabled: false },
    { kind: 'addKey', username: 'alice', key: 'svc_live_0', description: 'd', expiresAt: 0 },
    { kind: 'deleteKey', username: 'alice', hash: 'h' },
    { kind: 'noteKeyUses', uses: [['h', 1_000]] },
    { kind: 'addGroup', name: 'editors', description: 'd', members: ['alice'] },
    { kind: 'changeGroup', name: 'editors', description: 'd', members: ['alice'] },
    { kind: 'grant', to: 'user', name: 'alice', collection: 'blog', grant: { read: true, write: false, admin: false } },
    { kind: 'grant', to: 'group', name: 'editors', collection: '*', grant: { read: true, write: true, admin: true } },
    { kind: 'deleteGroup', name: 'editors' },
    { kind: 'deleteUser', username: 'alice' },
  ]
  return changes.map((change) => ({ kind: 'access', change }))
}

/** One valid command of each kind, created on every call, because decide stamps its argument. */
function commands(): Command[] {
  const put = prepared('a', 'text', true, 5)
  return [
    { kind: 'add', collection: 'blog', document: put },
    { kind: 'addBatch', collection: 'blog', documents: [prepared('b', 'text', true, null), prepared('c', 'text', false, 0)], errors: [] },
    { kind: 'update', ...named, replaces: { meta: true, contentMd: true }, base, document: put },
    { kind: 'restore', ...named, wanted: { timestamp: 1_000, revision: 1 }, base, document: put },
    ...accessCommands(),
    { kind: 'delete', ...named },
    { kind: 'deleteBatch', collection: 'blog', documents: [['a', 'en']], errors: [] },
    { kind: 'deleteCollection', collection: 'other', endsGrants: false },
    { kind: 'setTtl', ...named, ttl: 60 },
    { kind: 'rotate', collection: 'blog', id: 'rot-1' },
    { kind: 'submitIngest', id: 'job-1', collection: 'blog', total: 3, callbackUrl: 'https://example.org/', submitter: 'bert' },
    {
      kind: 'ingestChunk',
      id: 'job-1',
      collection: 'blog',
      documents: [put],
      failed: 0,
      errors: [{ subject: '0', text: 't' }],
      isLast: false,
    },
    { kind: 'cancelIngest', id: 'job-1' },
    { kind: 'truncate', collection: 'blog', keep: 1 },
    {
      kind: 'move',
      collection: 1,
      moves: [{ docid: 1, bodyLsn: 1n, object: null, body: put.body.kind === 'new' ? put.body.record : null }],
    },
    {
      kind: 'move',
      collection: 1,
      moves: [{ docid: 1, bodyLsn: 1n, object: { collection: 1, record: newObjectId(), memoryRecord: newObjectId() }, body: null }],
    },
    { kind: 'vectors', epoch: store.presentEpoch(), job: 'job-1', documents: [newVectors] },
    { kind: 'vectors', epoch: store.presentEpoch(), job: '', documents: [{ ...document, change: 'restamp', bodyLsn: 1n }] },
    { kind: 'vectors', epoch: store.presentEpoch(), job: '', documents: [{ ...document, change: 'keep' }] },
    { kind: 'forgetReleases', before: 1_000, swept: [Buffer.alloc(20)] },
    ...[
      { kind: 'configure', change: { values: { type: 'website', maxRevisions: 3, encrypted: true }, cleared: ['description'] } } as const,
      { kind: 'unconfigure', byServerAdmin: false } as const,
      { kind: 'synonyms', term: 't', synonyms: ['u'] } as const,
      { kind: 'synonyms', term: 't', synonyms: null } as const,
      { kind: 'addStopWords', words: ['w'], refused: [] } as const,
      { kind: 'deleteStopWords', words: ['w'], refused: ['x'] } as const,
      { kind: 'spellWords', language: 'en', words: ['w'], frequency: 3 } as const,
      { kind: 'spellWords', language: 'en', words: ['w'], frequency: null } as const,
      { kind: 'schema', text: '{}' } as const,
      { kind: 'schema', text: null } as const,
      { kind: 'addRule', rule, seed: '0'.repeat(24) } as const,
      { kind: 'replaceRule', id: `cur_${'0'.repeat(24)}00000001`, rule } as const,
      { kind: 'deleteRule', id: `cur_${'0'.repeat(24)}00000001` } as const,
      { kind: 'createEmbedding', id: 'e', draft: embedding } as const,
      { kind: 'updateEmbedding', id: 'e', draft: embedding, clearsKey: true } as const,
      { kind: 'defaultEmbedding', id: 'e' } as const,
      { kind: 'deleteEmbedding', id: 'e' } as const,
    ].map((change): Command => ({ kind: 'settings', collection: 'blog', change })),
  ]
}

const HOSTILE: readonly unknown[] = [
  ...['', '\0', 'a\0b', 'x'.repeat(5_000), 'İ'.repeat(1_024), 'x'.repeat(100_000), '\ud800', '__proto__', 'constructor', '|', '\uffff'],
  ...[-1, 0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 2 ** 32, 2 ** 53, -(2 ** 31)],
  ...[-1n, 0n, 2n ** 63n, 2n ** 64n - 1n, null, undefined, true, false],
  ...[[], {}, [[]], { length: 3 }, Buffer.alloc(0), Buffer.alloc(3), Buffer.alloc(5_000, 0xff)],
]

type Path = readonly string[]

/** The kind determines the other fields. `meta` is JSON text that the lane itself has made. */
const OWN_FIELDS = ['kind', 'meta']

/** The paths of all fields at any depth; for lists only those of their items. */
function fieldsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [path]
  return Object.entries(value).flatMap(([name, field]) => (OWN_FIELDS.includes(name) ? [] : fieldsOf(field, [...path, name])))
}

function replaced(value: unknown, [name, ...rest]: Path, by: unknown): unknown {
  if (name === undefined) return by
  if (Array.isArray(value)) return value.map((item: unknown, at) => (String(at) === name ? replaced(item, rest, by) : item))
  return { ...(value as object), [name]: replaced((value as Record<string, unknown>)[name], rest, by) }
}

const step = fc.record({
  command: fc.nat(),
  changes: fc.array(fc.record({ field: fc.nat(), by: fc.constantFrom(...HOSTILE) }), { maxLength: 3 }),
})

/** The same command with some of its fields replaced by hostile values. */
function spoilt(command: Command, changes: readonly { readonly field: number; readonly by: unknown }[]): Command {
  return changes.reduce<Command>((changed, { field, by }) => {
    const fields = fieldsOf(changed)
    return fields.length === 0 ? changed : (replaced(changed, fields[field % fields.length] as Path, by) as Command)
  }, command)
}

/** Values that msgpack cannot encode never reach the write lane. */
function isCarried(command: Command): boolean {
  try {
    encodeCommand(command)
    return true
  } catch {
    return false
  }
}

/** Reads everything once that a reader would read. */
function readAll(): void {
  store.read((view) => {
    for (const { id, name } of view.collections()) {
      assert.equal(view.collection(name)?.id, id)
      const { documents } = view.collectionCounters(id)
      const docids = view.docidsFrom(id, 1, 1_000)
      assert.equal(docids.length, documents)
      for (const docid of docids) {
        const head = view.headEvenExpired(id, docid)
        assert.ok(head !== undefined)
        const { key, lang } = textOfHead(head)
        assert.equal(view.identity(id, key, lang)?.docid, docid)
        if (!view.objects.isElsewhere(head)) view.escapedContent(head)
      }
      for (const kind of SETTING_KINDS) view.settings(id, kind)
    }
    for (const kind of ['bulk', 'rotation'] as const) view.jobs(kind)
  })
}

test('a command of any kind with any fields is carried out or refused, and ends nothing', { timeout: 120_000 }, async () => {
  const kinds = new Set<string>()
  const statuses = new Set<number>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      for (const { command: number, changes } of steps) {
        const all = commands()
        const command = spoilt(all[number % all.length] as Command, changes)
        if (!isCarried(command)) continue
        const status = statusOf(await run(command))
        kinds.add(command.kind)
        statuses.add(status)
      }
      const { code, body } = await run({ kind: 'add', collection: 'sound', document: prepared('sound', 'text', true, null) })
      assert.equal(code, undefined, body.toString())
    }),
    { numRuns: Number(process.env.MDS_COMMANDS_RUNS ?? 200), includeErrorInReport: true },
  )
  readAll()
  assert.deepEqual([...kinds].sort(), [...new Set(commands().map(({ kind }) => kind))].sort())
  for (const status of [200, 400, 404, 500]) assert.ok(statuses.has(status), `no command was answered ${status}`)
})

test('names that no table takes are refused by the write lane itself', async () => {
  const found: unknown[] = []
  for (const collection of ['', 'x'.repeat(5_000)])
    for (const change of [
      { kind: 'configure', change: { values: { maxRevisions: 3 }, cleared: [] } },
      { kind: 'deleteRule', id: `cur_${'0'.repeat(24)}00000099` },
      { kind: 'synonyms', term: 't', synonyms: ['u'] },
    ] as const) {
      const answer = await run({ kind: 'settings', collection, change })
      const { body } = answer
      found.push([change.kind, statusOf(answer), body.toString().slice(0, 60)])
    }
  const refused = (kind: string, text: string, status = 400): unknown => [kind, status, JSON.stringify({ error: text }).slice(0, 60)]
  const unstorable = "invalid collection: a setting entry can't hold it"
  const each = [refused('configure', unstorable), refused('deleteRule', 'not found', 404), refused('synonyms', unstorable)]
  assert.deepEqual(found, [...each, ...each])
})
