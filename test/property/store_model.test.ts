/**
 * The truth store against a plain map: random writes through decide and apply, with restarts in between, must leave the same documents, revisions, counters and expiries as the model.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { PreparedDocument } from '../../src/domain/commands.js'
import { decideDelete, decideDrop, decideExpiry, decidePut } from '../../src/domain/decision.js'
import type { Step } from '../../src/domain/decision.js'
import { decideTrim } from '../../src/domain/revision_trim.js'
import { decideSettings } from '../../src/domain/settings_decision.js'
import { encodeUpsert } from '../../src/engine/index_batch.js'
import { encodeBody, escapeContent, unescapeContent } from '../../src/store/body.js'
import { ByteWriter } from '../../src/store/byte_writer.js'
import { openEnvironment } from '../../src/store/environment.js'
import { HEAD_FLAGS, textOfHead } from '../../src/store/head.js'
import type { Head } from '../../src/store/head.js'
import { bodyKey, collectionOfKey, docidOfKey } from '../../src/store/keys.js'
import { openDataDirectory } from '../../src/store/layout.js'
import { TruthStore } from '../../src/store/truth_store.js'
import type { WriteTransaction } from '../../src/store/apply.js'
import type { View } from '../../src/store/view.js'
import type { Writer } from '../../src/store/writer.js'

const COMPRESSION = { enabled: true, smallThreshold: 64, mediumThreshold: 256 }
const folder = mkdtempSync(join(tmpdir(), 'mds-store-model-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface ModelState {
  readonly content: string
  readonly kept: boolean
}

interface ModelDocument {
  readonly addedAt: number
  updatedAt: number
  expiresAt: number
  spellings: Set<string>
  states: ModelState[]
}

type Model = Map<string, Map<string, ModelDocument>>

/** The newest `count` kept states, and the present one. */
function newest(states: readonly ModelState[], count: number): ModelState[] {
  const kept = states.filter((state) => state.kept)
  const stay = new Set(count === 0 ? [] : kept.slice(-count))
  return states.flatMap((state, index) =>
    stay.has(state) || !state.kept ? [state] : index === states.length - 1 ? [{ ...state, kept: false }] : [],
  )
}

type Operation =
  | {
      readonly kind: 'put'
      readonly collection: string
      readonly key: string
      readonly content: string
      readonly keep: boolean
      readonly ttl: number | null
    }
  | { readonly kind: 'delete' | 'expiry'; readonly collection: string; readonly key: string }
  | { readonly kind: 'drop'; readonly collection: string }
  | { readonly kind: 'truncate' | 'limit' | 'share'; readonly collection: string; readonly key: string; readonly count: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'wait' }

const collection = fc.constantFrom('blog', 'Blog', 'wiki')
const key = fc.constantFrom('a', 'A', 'b', 'ä', 'Ä')
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      collection,
      key,
      content: fc.oneof(fc.string({ maxLength: 20 }), fc.constant('long text '.repeat(60))),
      keep: fc.boolean(),
      ttl: fc.constantFrom(null, 0, 5),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'expiry' as const), collection, key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), collection }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('truncate' as const, 'limit' as const, 'share' as const),
      collection,
      key,
      count: fc.nat({ max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'wait' as const }) },
)

function prepared(keyOf: string, content: string, keep: boolean, ttl: number | null): PreparedDocument {
  const escaped = escapeContent(content)
  return {
    key: keyOf,
    lang: 'en',
    meta: '{"k":["v"]}',
    metaTriples: 1,
    settingsLsn: 0n,
    flags: keep ? HEAD_FLAGS.revision : 0,
    contentHash: escaped.length + 1,
    body: { kind: 'new', record: encodeBody(escaped, COMPRESSION), rawBytes: escaped.length },
    escaped,
    index: Buffer.from(encodeUpsert({ collection: 0, key: keyOf, lang: 'en', meta: [], fields: [] })),
    ttl,
  }
}

function carryOut(transaction: WriteTransaction, steps: readonly Step[]): void {
  for (const step of steps) transaction.apply(step.entry, step.body)
}

class Run {
  readonly model: Model = new Map()
  /** `maxRevisions` by lower-cased name. */
  readonly limits = new Map<string, number>()
  store: TruthStore
  writer: Writer
  now = 1_000

  constructor(readonly path: string) {
    this.store = new TruthStore(openDataDirectory(path).generationPath, CACHE_BYTES)
    this.writer = this.open()
  }

  open(): Writer {
    return this.store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  }

  async restart(): Promise<void> {
    await this.store.close()
    this.store = new TruthStore(openDataDirectory(this.path).generationPath, CACHE_BYTES)
    this.writer = this.open()
  }

  async write(change: (transaction: WriteTransaction) => void): Promise<void> {
    await this.writer.group(
      () => this.now,
      (transaction) => {
        change(transaction)
        transaction.trimBinlog(2_000, 8)
      },
    )
  }

  live(name: string): Map<string, ModelDocument> {
    const found = this.model.get(name.toLowerCase()) ?? new Map<string, ModelDocument>()
    this.model.set(name.toLowerCase(), found)
    return found
  }

  visible(name: string, spelled: string): ModelDocument | undefined {
    const document = this.live(name).get(spelled.toLowerCase())
    if (document === undefined || (document.expiresAt > 0 && document.expiresAt <= this.now)) return undefined
    return document.spellings.has(spelled) ? document : undefined
  }

  async step(op: Operation): Promise<void> {
    switch (op.kind) {
      case 'restart':
        return this.restart()
      case 'wait':
        this.now += 3
        return
      case 'drop':
        await this.write((transaction) => {
          const found = transaction.view.collection(op.collection)
          if (found !== undefined) carryOut(transaction, [decideDrop(transaction, found.id, found.name)])
        })
        this.model.delete(op.collection.toLowerCase())
        this.limits.delete(op.collection.toLowerCase())
        return
      case 'truncate':
        return this.truncate(op.collection, op.count)
      case 'limit':
        return this.limit(op.collection, op.count)
      case 'share':
        return this.share(op.collection, op.key, op.count)
      case 'put':
        return this.put(op)
      default:
        return this.change(op.kind, op.collection, op.key)
    }
  }

  async truncate(name: string, keep: number): Promise<void> {
    await this.write((transaction) => {
      const found = transaction.view.collection(name)
      for (const docid of found === undefined ? [] : transaction.view.docidsFrom(found.id, 1, 100)) {
        const head = transaction.view.headEvenExpired(found?.id ?? 0, docid)
        const trim = head === undefined ? undefined : decideTrim(transaction, head, keep)
        if (trim !== undefined) carryOut(transaction, [trim.step])
      }
    })
    for (const document of this.live(name).values()) document.states = newest(document.states, keep)
  }

  async limit(name: string, maxRevisions: number): Promise<void> {
    const change = { values: { maxRevisions }, cleared: [] }
    await this.write((transaction) => {
      carryOut(
        transaction,
        decideSettings(transaction, { kind: 'settings', collection: name, change: { kind: 'configure', change } }).steps,
      )
    })
    this.live(name)
    this.limits.set(name.toLowerCase(), maxRevisions)
  }

  /** What a restored revision does: an earlier state's body becomes that of a new state. */
  async share(name: string, spelled: string, back: number): Promise<void> {
    const expected = this.visible(name, spelled)
    if (expected === undefined) return
    const kept = expected.states.filter((state, index, all) => state.kept || index === all.length - 1)
    const chosen = kept.at(-1 - (back % kept.length)) as ModelState
    await this.write((transaction) => {
      const found = transaction.view.collection(name)
      const head = found === undefined ? undefined : transaction.view.find(found.id, spelled, 'en')
      assert.ok(head)
      const states = [head, ...transaction.view.revisions(head.collection, head.docid)]
      const state = states[back % kept.length]
      assert.ok(state)
      const body = { kind: 'shared', lsn: state.bodyLsn, rawBytes: state.bodyRawBytes, storedBytes: state.bodyStoredBytes } as const
      carryOut(transaction, decidePut(transaction, name, { ...prepared(spelled, chosen.content, true, null), body }).steps)
    })
    this.written(name, spelled, { content: chosen.content, kept: true }, null)
  }

  async put(op: Extract<Operation, { kind: 'put' }>): Promise<void> {
    await this.write((transaction) =>
      carryOut(transaction, decidePut(transaction, op.collection, prepared(op.key, op.content, op.keep, op.ttl)).steps),
    )
    this.written(op.collection, op.key, { content: op.content, kept: op.keep }, op.ttl)
  }

  written(name: string, spelled: string, state: ModelState, ttl: number | null): void {
    const documents = this.live(name)
    const old = documents.get(spelled.toLowerCase())
    const current = old !== undefined && old.expiresAt > 0 && old.expiresAt <= this.now ? undefined : old
    const expiresAt = ttl === null ? (current?.expiresAt ?? 0) : ttl > 0 ? this.now + ttl : 0
    const states = [...(current?.states ?? []).filter((each, index, all) => index < all.length - 1 || each.kept), state]
    const limit = this.limits.get(name.toLowerCase()) ?? 0
    documents.set(spelled.toLowerCase(), {
      addedAt: current?.addedAt ?? this.now,
      updatedAt: this.now,
      expiresAt,
      spellings: new Set([...(current?.spellings ?? []), spelled]),
      states: limit > 0 && current !== undefined ? newest(states, limit) : states,
    })
  }

  async change(kind: 'delete' | 'expiry', name: string, spelled: string): Promise<void> {
    const expected = this.visible(name, spelled)
    await this.write((transaction) => {
      const found = transaction.view.collection(name)
      const head = found === undefined ? undefined : transaction.view.find(found.id, spelled, 'en')
      assert.equal(head !== undefined, expected !== undefined, `${name}/${spelled} is there in one of store and model`)
      if (head === undefined) return
      if (kind === 'delete') carryOut(transaction, [decideDelete(transaction, head)])
      else carryOut(transaction, decideExpiry(transaction, head, this.now + 5).steps)
    })
    if (expected === undefined) return
    if (kind === 'delete') this.live(name).delete(spelled.toLowerCase())
    else expected.expiresAt = this.now + 5
  }

  /** Everything the store shows equals the model. */
  compare(): void {
    this.store.read((view) => {
      for (const [name, documents] of this.model) {
        const found = view.collection(name)
        const counters = found === undefined ? undefined : view.collectionCounters(found.id)
        assert.equal(counters?.documents ?? 0, documents.size, `documents of ${name}`)
        const states = [...documents.values()].flatMap((document) => document.states)
        assert.equal(counters?.revisions ?? 0, states.filter((state) => state.kept).length, `revisions of ${name}`)
        assert.equal(counters?.metaTriples ?? 0, documents.size)
        const checksum = [...documents.values()].reduce(
          (sum, document) => sum ^ (escapeContent(document.states.at(-1)?.content ?? '').length + 1),
          0,
        )
        assert.equal(counters?.checksum ?? 0, checksum)
        for (const [lower, document] of documents) this.compareDocument(view, found?.id ?? 0, lower, document)
      }
    })
  }

  /** Every body has as many references as its count says, and one without any waits for the binlog to be trimmed. */
  compareBodies(): void {
    const environment = openEnvironment(join(this.path, 'gen-000001'))
    environment.root.resetReadTxn()
    const hex = (key: Uint8Array): string => Buffer.from(key).toString('hex')
    const references = new Map<string, number>()
    for (const table of [environment.heads, environment.revisions]) {
      for (const { key, value } of table.getRange()) {
        const body = hex(bodyKey(collectionOfKey(key), docidOfKey(key), value.readBigUInt64LE(32)))
        references.set(body, (references.get(body) ?? 0) + 1)
      }
    }
    const garbage = new Set([...environment.garbage.getKeys()].map((key) => hex(key.subarray(8))))
    const retired = new Set([...environment.retired.getKeys()].map(hex))
    const bodies = new Set<string>()
    for (const key of environment.bodies.getKeys()) {
      if (retired.has(hex(key.subarray(0, 4)))) continue
      bodies.add(hex(key))
      const count = references.get(hex(key)) ?? 0
      assert.equal(garbage.has(hex(key)), count === 0, `body ${hex(key)} with ${count} references`)
      assert.equal(environment.bodyCounts.get(key)?.readUInt32LE(0) ?? 1, Math.max(count, 1), `count of body ${hex(key)}`)
    }
    for (const body of references.keys()) assert.ok(bodies.has(body) || retired.has(body.slice(0, 8)), `body ${body} is gone`)
  }

  /** What answers show may come from memory: it must be the present state all the same. */
  compareShown(view: View, head: Head, document: ModelDocument): void {
    const shown = view.document(head.collection, head.docid)
    if (head.expiresAt > 0 && head.expiresAt <= view.now) {
      assert.equal(shown, undefined)
      return
    }
    const { contentMd, updatedAt, expiresAt } = JSON.parse(shown?.json.toString() ?? 'null') as Record<string, unknown>
    assert.deepEqual([contentMd, updatedAt, expiresAt ?? 0], [document.states.at(-1)?.content, document.updatedAt, document.expiresAt])
    const out = new ByteWriter().begin()
    view.writeDocument(head, out, true)
    assert.deepEqual(Buffer.from(out.view()), shown?.json)
  }

  compareDocument(view: View, collectionId: number, lower: string, document: ModelDocument): void {
    const identity = view.identity(collectionId, lower, 'EN')
    assert.ok(identity, `identity of ${lower}`)
    const head = view.headEvenExpired(collectionId, identity.docid)
    assert.ok(head)
    assert.equal(unescapeContent(view.escapedContent(head)), document.states.at(-1)?.content)
    assert.deepEqual([head.addedAt, head.updatedAt, head.expiresAt], [document.addedAt, document.updatedAt, document.expiresAt])
    assert.equal(textOfHead(head).key.toLowerCase(), lower)
    this.compareShown(view, head, document)
    const older = document.states.slice(0, -1).filter((state) => state.kept)
    const contents = view.revisions(collectionId, identity.docid).map((state) => unescapeContent(view.escapedContent(state)))
    assert.deepEqual(contents, older.map((state) => state.content).reverse())
  }
}

/** Room for a few documents, so that some are at hand from an earlier state of the store, some forgotten, some never kept. */
const CACHE_BYTES = 2_000

test('the truth store equals a plain map after any sequence of writes, with restarts', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 40 }), async (operations) => {
      const subject = new Run(join(folder, String(run++)))
      for (const op of operations) {
        await subject.step(op)
        // The clock of a view is the wall clock; expiry is compared through the heads.
        subject.compare()
        subject.compareBodies()
      }
      await subject.store.close()
    }),
    { numRuns: 60 },
  )
})
