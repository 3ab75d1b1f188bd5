/**
 * The truth store compared with a plain map. Random writes through decide and apply, with restarts and the
 * packing of revisions in between, must leave the same documents, revisions, counters and expiries as in the
 * model, and every body with its number of references. Every document that the native reader shows must
 * equal, byte by byte, the text put together from its rows.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { DocumentSource } from '../../../src/base/document_source.js'
import { nextPacking } from '../../../src/consumers/revision_packing.js'
import { decideDelete, decideDrop, decideExpiry, decidePut } from '../../../src/domain/decision.js'
import { decideVectors } from '../../../src/domain/embedding/embedded_document.js'
import { decideTrim } from '../../../src/domain/revision_trim.js'
import { decideSettings } from '../../../src/domain/settings_decision.js'
import type { Step } from '../../../src/domain/step.js'
import { openDocuments } from '../../../src/engine/document_reader.js'
import { TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../../../src/limits/store.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { unescapeContent } from '../../../src/store/body.js'
import { appendDocument } from '../../../src/store/documents/document_source.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import type { Head } from '../../../src/store/head.js'
import { textOfHead } from '../../../src/store/head.js'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import type { View } from '../../../src/store/view.js'
import type { Writer } from '../../../src/store/writer.js'
import { checkEmbedded, checkVariants, embed, type Embedded } from '../../harness/embedding/embedded_documents.js'
import { checksumsOf, shownChecksums } from '../../harness/store/checksums.js'
import { keyringWith, resealAll } from '../../harness/store/sealing.js'
import { edited, type Operation, operation, prepared, shownDocument } from '../../harness/store/store_operations.js'
import { checkPurged, checkReferences, textOf } from '../../harness/store/stored_rows.js'

const SHAPE = { mapBytes: TRUTH_MAP_BYTES, readersMin: TRUTH_READERS_MAX }
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
  /** The inputs of its vectors. */
  embedded?: Embedded | undefined
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

function carryOut(transaction: WriteTransaction, steps: readonly Step[]): void {
  for (const step of steps) transaction.apply(step.entry, step.body)
}

class Run {
  readonly model: Model = new Map()
  /** `maxRevisions` by lower-cased name. */
  readonly limits = new Map<string, number>()
  store: TruthStore
  source: DocumentSource | undefined
  writer: Writer
  now = 1_000
  /** Documents that the native reader has read alone, and for views, alone or together. */
  readNatively = 0
  readForViews = 0
  /** Ids of collections whose new rows are sealed, or have been. */
  readonly sealed = new Set<number>()
  packed = 0
  /** Documents that wait for vectors, counted once for each queue entry. */
  waiting = 0
  /** The primary master key; it changes with each restart. */
  #primary: 1 | 2 = 1

  constructor(readonly path: string) {
    this.store = this.openStore()
    this.writer = this.open()
  }

  openStore(): TruthStore {
    const openSource = (path: string): DocumentSource =>
      (this.source = openDocuments(path, SHAPE, (documents) => (this.readForViews += documents)))
    const { generationPath } = openDataDirectory(this.path)
    const store = new TruthStore(generationPath, CACHE_BYTES, keyringWith(this.#primary), undefined, false, openSource)
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
        transaction.trimBinlog(5_000, 8)
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
      case 'pack':
        return this.pack()
      case 'history':
        for (const number of op.numbers) {
          const content = edited(number)
          await this.put({ kind: 'put', collection: op.collection, key: op.key, content, keep: number % 5 > 0, ttl: null, embeds: false })
          if (number % 7 === 0) await this.pack()
        }
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
      case 'seal':
        return this.write((transaction) => {
          const { collection: collectionName, isSealed } = op
          const found = transaction.view.collection(collectionName)?.id ?? transaction.nextCollection
          const entry = { lsn: transaction.nextLsn, collection: found, docid: 0, collectionName, isSealed, salt: Buffer.alloc(32, found) }
          transaction.apply({ kind: 'sealing', ...entry }, undefined)
          if (isSealed) this.sealed.add(found)
        })
      case 'reseal':
        for (const { id } of this.store.read((view) => view.collections()))
          await this.write((transaction) => assert.deepEqual(resealAll(transaction, id), []))
        return
      case 'put':
        return this.put(op)
      case 'embed':
        return this.embed(op)
      default:
        return this.change(op.kind, op.collection, op.key)
    }
  }

  /** Purges as maintenance does, until nothing is left. */
  async purge(): Promise<void> {
    for (let isMore = true; isMore;) await this.write((transaction) => (isMore = transaction.purgeRetired(3)))
  }

  /** Packs as the write lane does, slice by slice. */
  async pack(): Promise<void> {
    for (let isMore = true; isMore;) {
      const slice = this.store.read((view) => nextPacking(view, view.binlog.positionOf('revision-packing') ?? 0n))
      await this.write((transaction) => {
        for (const body of slice.bodies) if (transaction.packBody(body)) this.packed++
        transaction.setPosition('revision-packing', slice.lsn)
      })
      isMore = slice.isMore
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

  /** Restores a revision: the body of an earlier state becomes that of a new state. */
  async share(name: string, spelled: string, back: number): Promise<void> {
    const expected = this.visible(name, spelled)
    if (expected === undefined) return
    const kept = expected.states.filter((state, index, all) => state.kept || index === all.length - 1)
    const chosen = kept.at(-1 - (back % kept.length)) as ModelState
    await this.write((transaction) => {
      const found = transaction.view.collection(name)
      const head = found === undefined ? undefined : transaction.view.find(found.id, spelled, 'en')
      assert.ok(head)
      const states = [head, ...transaction.view.revisions.of(head.collection, head.docid)]
      const state = states[back % kept.length]
      assert.ok(state)
      const body = { kind: 'shared', lsn: state.bodyLsn, rawBytes: state.bodyRawBytes, storedBytes: state.bodyStoredBytes } as const
      carryOut(transaction, decidePut(transaction, name, { ...prepared(spelled, chosen.content, true, null), body, embeds: true }).steps)
      // Content that is already embedded is not embedded again.
      if (state.bodyLsn !== head.bodyLsn) this.waiting++
    })
    this.written(name, spelled, { content: chosen.content, kept: true }, null)
  }

  async put(op: Extract<Operation, { kind: 'put' }>): Promise<void> {
    await this.write((transaction) =>
      carryOut(
        transaction,
        decidePut(transaction, op.collection, { ...prepared(op.key, op.content, op.keep, op.ttl), embeds: op.embeds }).steps,
      ),
    )
    if (op.embeds) this.waiting++
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
      // The last one is that of the last write.
      spellings: new Set([...[...(current?.spellings ?? [])].filter((other) => other !== spelled), spelled]),
      states: limit > 0 && current !== undefined ? newest(states, limit) : states,
      embedded: current?.embedded,
    })
  }

  /**
   * Embeds as the worker does: queued documents are embedded in their present state, only the new parts, some
   * of them in two steps.
   */
  async embed({ count, variant, isWhole }: Extract<Operation, { kind: 'embed' }>): Promise<void> {
    const rows = this.store.read((view) => view.vectors.queued(0n, count))
    for (const row of rows) {
      const done = this.store.read((view) => embed(view, row, variant, isWhole))
      await this.write((transaction) => {
        for (const document of done.documents) {
          const step = decideVectors(transaction, document)
          if (step !== undefined) carryOut(transaction, [step])
        }
      })
      if (done.isSettled) this.waiting--
      const embedded = this.model.get(done.collection)?.get(done.key)
      if (embedded !== undefined) embedded.embedded = done.embedded
    }
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

  /** Compares everything that the store shows with the model. */
  compare(): void {
    this.store.read((view) => {
      const { trimmedLsn, lastLsn } = view.storeCounters()
      assert.equal(
        view.binlog.entriesAfter(trimmedLsn, 1_000).length,
        Number(lastLsn - trimmedLsn),
        'every entry of the binlog can be read',
      )
      assert.equal(view.vectors.queueDepth, this.waiting, 'documents that wait for vectors')
      for (const [name, documents] of this.model) {
        const found = view.collection(name)
        const counters = found === undefined ? undefined : view.collectionCounters(found.id)
        assert.equal(counters?.documents ?? 0, documents.size, `documents of ${name}`)
        const states = [...documents.values()].flatMap((document) => document.states)
        assert.equal(counters?.revisions ?? 0, states.filter((state) => state.kept).length, `revisions of ${name}`)
        assert.equal(counters?.metaTriples ?? 0, documents.size)
        assert.deepEqual(
          counters === undefined ? checksumsOf([]) : shownChecksums(counters),
          checksumsOf([...documents.values()].map(shownDocument)),
        )
        for (const [lower, document] of documents) this.compareDocument(view, found?.id ?? 0, lower, document)
        checkVariants(view, found?.id ?? 0, [...documents.values()])
        this.comparePage(view, found?.id ?? 0)
      }
    })
  }

  /** Answers may come from the cache, but must show the present state. */
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
    this.compareRead(view, head)
  }

  /** A page with every document of the collection, backwards, twice, and one that does not exist. */
  comparePage(view: View, collection: number): void {
    const docids = view.docidsFrom(collection, 0, 1_000)
    const wanted = [...docids.reverse(), 1_000_000, ...docids]
    view.expect(
      collection,
      wanted.map((docid) => ({ docid })),
    )
    for (const docid of wanted) {
      const [shown, head] = [view.document(collection, docid), view.head(collection, docid)]
      assert.equal(shown?.lsn, head?.lsn)
      if (head !== undefined && shown !== undefined) assert.deepEqual(Buffer.from(shown.json), textOf(view, head))
    }
  }

  /** The native reader has the document, as its rows have it, unless it is sealed or its body is a delta. */
  compareRead(view: View, head: Head): void {
    const rows = textOf(view, head)
    const { id, key, lang } = textOfHead(head)
    const isSealed = head.record[SEALING_KEY_AT] !== 0
    const [read, spelled] = [new ByteWriter(), new ByteWriter()]
    const facts = this.source && appendDocument(this.source, head.collection, head.docid, read)
    assert.equal(facts === undefined, isSealed || !view.isWhole(head))
    if (facts === undefined) return
    assert.deepEqual([facts.docid, facts.lsn, facts.indexedLsn, facts.expiresAt], [head.docid, head.lsn, head.indexedLsn, head.expiresAt])
    assert.deepEqual(Buffer.from(read.view()), rows)
    // Those that were stored before their collection was sealed are left to the rows by views.
    const isShown = view.appendSpelled(head.collection, key, lang, spelled) !== undefined
    assert.ok(isShown || this.sealed.has(head.collection))
    assert.deepEqual(Buffer.from(spelled.view()), isShown ? rows : Buffer.alloc(0))
    assert.equal(view.appendSpelled(head.collection, `${key}x`, lang, spelled), undefined)
    this.compareGet(`${id.slice(0, id.indexOf('|'))}\0${key}\0${lang}`, rows)
    this.readNatively++
  }

  /** Expiry is left aside: before 1970, no document has expired. */
  compareGet(names: string, rows: Buffer): void {
    const space = Buffer.alloc(rows.length)
    const bytes = this.source?.get(names, 0, space, false)
    assert.equal(bytes, /^[\0-~]*$/.test(names) ? rows.length : 0)
    if (bytes !== 0) assert.deepEqual(space, rows)
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
    checkEmbedded(view, head, document.states.at(-1)?.content ?? '', document.embedded)
    const older = document.states.slice(0, -1).filter((state) => state.kept)
    const contents = [...view.revisions.of(collectionId, identity.docid)].map((state) => unescapeContent(view.escapedContent(state)))
    assert.deepEqual(contents, older.map((state) => state.content).reverse())
  }
}

/**
 * Space for a few documents, so that some are cached from an earlier state of the store, some evicted, some
 * never cached.
 */
const CACHE_BYTES = 2_000
/** Of a stored head: 0 in plaintext (docs/formats/truth-env.md). */
const SEALING_KEY_AT = 6

test('the truth store equals a plain map after any sequence of writes, with restarts, encryption and rotation of keys', async () => {
  let run = 0
  let [packed, readNatively, readForViews] = [0, 0, 0]
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 40 }), async (operations) => {
      const subject = new Run(join(folder, String(run++)))
      for (const op of operations) {
        await subject.step(op)
        // The clock of a view is the wall clock, so expiry is compared through the heads.
        subject.compare()
      }
      await subject.purge()
      await subject.store.close()
      checkReferences(subject.path)
      checkPurged(subject.path)
      packed += subject.packed
      readNatively += subject.readNatively
      readForViews += subject.readForViews
    }),
    { numRuns: 60 },
  )
  assert.ok(packed > 0, 'some revisions were packed')
  assert.ok(readNatively > 0, 'some documents were read natively')
  // Each was read twice to be compared alone.
  assert.ok(readForViews > 3 * readNatively, 'pages were read natively')
})
