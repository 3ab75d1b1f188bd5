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
import { encodeUpsert } from '../../src/engine/index_batch.js'
import { encodeBody, escapeContent, unescapeContent } from '../../src/store/body.js'
import { ByteWriter } from '../../src/store/byte_writer.js'
import { HEAD_FLAGS, textOfHead } from '../../src/store/head.js'
import type { Head } from '../../src/store/head.js'
import { openDataDirectory } from '../../src/store/layout.js'
import { TruthStore } from '../../src/store/truth_store.js'
import type { WriteTransaction } from '../../src/store/apply.js'
import type { View } from '../../src/store/view.js'
import type { Writer } from '../../src/store/writer.js'
import { keyringWith, resealAll } from '../harness/sealing.js'

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
  | { readonly kind: 'restart' | 'reseal' }
  | { readonly kind: 'seal'; readonly collection: string; readonly isSealed: boolean }
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
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('restart' as const, 'reseal' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('seal' as const), collection, isSealed: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'wait' as const }) },
)

function prepared(keyOf: string, content: string, keep: boolean, ttl: number | null): PreparedDocument {
  const escaped = escapeContent(content)
  return {
    key: keyOf,
    lang: 'en',
    meta: '{"k":["v"]}',
    metaTriples: 1,
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
  store: TruthStore
  writer: Writer
  now = 1_000
  /** Which master key is the primary one: another with each restart. */
  #primary: 1 | 2 = 1

  constructor(readonly path: string) {
    this.store = this.openStore()
    this.writer = this.open()
  }

  openStore(): TruthStore {
    const store = new TruthStore(openDataDirectory(this.path).generationPath, CACHE_BYTES, keyringWith(this.#primary))
    store.beginSealing()
    return store
  }

  open(): Writer {
    return this.store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  }

  async restart(): Promise<void> {
    await this.store.close()
    this.#primary = this.#primary === 1 ? 2 : 1
    this.store = this.openStore()
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
        return
      case 'seal':
        return this.write((transaction) => {
          const { collection: collectionName, isSealed } = op
          const found = transaction.view.collection(collectionName)?.id ?? transaction.nextCollection
          const entry = { lsn: transaction.nextLsn, collection: found, docid: 0, collectionName, isSealed, salt: Buffer.alloc(32, found) }
          transaction.apply({ kind: 'sealing', ...entry }, undefined)
        })
      case 'reseal':
        for (const { id } of this.store.read((view) => view.collections()))
          await this.write((transaction) => assert.deepEqual(resealAll(transaction, id), []))
        return
      case 'put':
        return this.put(op)
      default:
        return this.change(op.kind, op.collection, op.key)
    }
  }

  async put(op: Extract<Operation, { kind: 'put' }>): Promise<void> {
    await this.write((transaction) =>
      carryOut(transaction, decidePut(transaction, op.collection, prepared(op.key, op.content, op.keep, op.ttl)).steps),
    )
    const documents = this.live(op.collection)
    const old = documents.get(op.key.toLowerCase())
    const current = old !== undefined && old.expiresAt > 0 && old.expiresAt <= this.now ? undefined : old
    const expiresAt = op.ttl === null ? (current?.expiresAt ?? 0) : op.ttl > 0 ? this.now + op.ttl : 0
    documents.set(op.key.toLowerCase(), {
      addedAt: current?.addedAt ?? this.now,
      updatedAt: this.now,
      expiresAt,
      spellings: new Set([...(current?.spellings ?? []), op.key]),
      states: [
        ...(current?.states ?? []).filter((state, index, all) => index < all.length - 1 || state.kept),
        { content: op.content, kept: op.keep },
      ],
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
      const { trimmedLsn, lastLsn } = view.storeCounters()
      assert.equal(view.entriesAfter(trimmedLsn, 1_000).length, Number(lastLsn - trimmedLsn), 'every entry of the binlog can be read')
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

test('the truth store equals a plain map after any sequence of writes, with restarts, encryption and rotation of keys', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 40 }), async (operations) => {
      const subject = new Run(join(folder, String(run++)))
      for (const op of operations) {
        await subject.step(op)
        // The clock of a view is the wall clock; expiry is compared through the heads.
        subject.compare()
      }
      await subject.store.close()
    }),
    { numRuns: 60 },
  )
})
