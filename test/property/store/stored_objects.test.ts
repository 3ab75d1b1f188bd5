/**
 * Bodies in storage backends compared with a plain map: random writes with and without objects, moves between
 * backends, restored revisions, restarts that lose memory, encryption and its keys, in any order. Reads equal
 * the model if the bytes are cached; otherwise the reader is told which objects are missing. A revision never
 * lacks any. Each object row has its back reference. Exactly the unreferenced objects are released.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { PreparedDocument } from '../../../src/domain/commands.js'
import { decideDelete, decideDrop, decideMove, decidePut } from '../../../src/domain/decision.js'
import { decideTrim } from '../../../src/domain/revision_trim.js'
import { decideSettings } from '../../../src/domain/settings_decision.js'
import { encodeUpsert } from '../../../src/engine/search/index_batch.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { encodeBody, escapeContent, unescapeContent } from '../../../src/store/body.js'
import { isExpired } from '../../../src/store/documents/heads.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { type Head, HEAD_FLAGS } from '../../../src/store/head.js'
import { BodiesWanted, MEMORY_LOCATION } from '../../../src/store/objects.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import type { View } from '../../../src/store/view.js'
import type { Writer } from '../../../src/store/writer.js'
import { carryOut, type GroupEffects } from '../../../src/worker/commit/commit_work.js'
import { lostBodiesWork } from '../../../src/worker/commit/lost_bodies.js'
import type { LaneContext } from '../../../src/worker/request/handler.js'
import { ObjectBackends } from '../../harness/store/object_backends.js'
import { keyringWith, resealAll } from '../../harness/store/sealing.js'
import { checkObjects, checkPurged, checkReferences } from '../../harness/store/stored_rows.js'

const COMPRESSION = { enabled: true, smallThreshold: 64, mediumThreshold: 256 }
const folder = mkdtempSync(join(tmpdir(), 'mds-stored-objects-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** The location of a body: null is the env, 0 process memory, the others object stores. */
type Where = number | null

interface ModelState {
  readonly content: string
  readonly kept: boolean
}

interface ModelDocument {
  expiresAt: number
  where: Where
  states: ModelState[]
}

interface Target {
  readonly collection: string
  readonly key: string
  readonly where: Where
}

type Operation =
  | (Target & { readonly kind: 'put'; readonly content: string; readonly keep: boolean; readonly ttl: number | null })
  | (Target & { readonly kind: 'move' | 'meta' | 'delete' | 'share' | 'trim'; readonly count: number })
  | { readonly kind: 'drop'; readonly collection: string }
  | { readonly kind: 'seal'; readonly collection: string; readonly isSealed: boolean }
  | { readonly kind: 'restart' | 'reseal' | 'forget' | 'wait' | 'purge' }

type Change = Extract<Operation, { kind: 'move' | 'meta' | 'delete' | 'share' | 'trim' }>

const collection = fc.constantFrom('blog', 'wiki')
const target = { collection, key: fc.constantFrom('a', 'b', 'c'), where: fc.constantFrom<Where>(null, MEMORY_LOCATION, 1, 2) }
const content = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constant('long text '.repeat(60)),
  fc.nat(99).map((number) => `text ${number} `.repeat(30)),
)
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...target,
      kind: fc.constant('put' as const),
      content,
      keep: fc.boolean(),
      ttl: fc.constantFrom(null, null, 5),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      ...target,
      kind: fc.constantFrom<Change['kind']>('move', 'move', 'meta', 'delete', 'share', 'trim'),
      count: fc.nat({ max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), collection }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('seal' as const), collection, isSealed: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'restart' as const,
        'restart' as const,
        'reseal' as const,
        'forget' as const,
        'wait' as const,
        'purge' as const,
      ),
    }),
  },
)

function prepared(key: string, text: string, keep: boolean, ttl: number | null): PreparedDocument {
  const escaped = escapeContent(text)
  return {
    key,
    lang: 'en',
    meta: '{}',
    metaTriples: 0,
    settingsLsn: 0n,
    flags: keep ? HEAD_FLAGS.revision : 0,
    contentHash: BigInt(escaped.length),
    body: { kind: 'new', record: encodeBody(escaped, COMPRESSION), rawBytes: escaped.length },
    escaped,
    index: Buffer.from(encodeUpsert({ collection: 0, key, lang: 'en', meta: [], fields: [] })),
    ttl,
  }
}

/**
 * Contains every case that `met` counts, whatever is drawn: bodies that are stored only outside the env,
 * fetched, released, and lost with the process.
 */
const PLAIN_LIFE: Operation[] = [
  { kind: 'put', collection: 'blog', key: 'a', where: MEMORY_LOCATION, content: 'held', keep: false, ttl: null },
  { kind: 'put', collection: 'blog', key: 'b', where: 1, content: 'stored', keep: false, ttl: null },
  { kind: 'forget' },
  { kind: 'put', collection: 'blog', key: 'c', where: MEMORY_LOCATION, content: 'let go of', keep: false, ttl: null },
  { kind: 'delete', collection: 'blog', key: 'c', where: null, count: 0 },
  { kind: 'restart' },
]

/**
 * Counts of the cases that all runs together have reached: a property that never meets its case would prove
 * nothing.
 */
const met = { lacking: 0, elsewhere: 0, released: 0, lost: 0 }

class Run {
  readonly model = new Map<string, Map<string, ModelDocument>>()
  readonly backends = new ObjectBackends()
  store: TruthStore
  writer: Writer
  now = 1_000
  #primary: 1 | 2 = 1

  constructor(readonly path: string) {
    this.store = this.openStore()
    this.writer = this.openWriter()
  }

  openStore(): TruthStore {
    const store = new TruthStore(openDataDirectory(this.path).generationPath, 0, keyringWith(this.#primary), this.backends)
    store.beginSealing()
    return store
  }

  openWriter(): Writer {
    return this.store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  }

  async write(change: (transaction: WriteTransaction, effects: GroupEffects) => void): Promise<void> {
    let released: readonly Buffer[] = []
    await this.writer.group(
      () => this.now,
      (transaction) => {
        change(transaction, {
          indexOps: [],
          vectorOps: [],
          sealings: [],
          queued: [],
          endedSessions: [],
          isQueueChanged: false,
          isAccessChanged: false,
        })
        transaction.trimBinlog(5_000, 8)
        released = transaction.released
      },
    )
    met.released += released.length
    this.backends.release(released)
  }

  /** A start as the write lane performs it. */
  async restart(): Promise<void> {
    await this.store.close()
    this.backends.endProcess()
    this.#primary = this.#primary === 1 ? 2 : 1
    this.store = this.openStore()
    this.writer = this.openWriter()
    const work = lostBodiesWork({ store: this.store, sharedBodies: this.backends } as unknown as LaneContext)
    for (let isMore = work !== undefined; isMore;) {
      await this.writer.group(
        () => this.now,
        (transaction) =>
          (isMore =
            work?.run(transaction, {
              indexOps: [],
              vectorOps: [],
              sealings: [],
              queued: [],
              endedSessions: [],
              isQueueChanged: false,
              isAccessChanged: false,
            }) === true),
      )
    }
    for (const documents of this.model.values())
      for (const [key, { where }] of documents) if (where === MEMORY_LOCATION && documents.delete(key)) met.lost++
  }

  documents(name: string): Map<string, ModelDocument> {
    const found = this.model.get(name) ?? new Map<string, ModelDocument>()
    this.model.set(name, found)
    return found
  }

  async step(op: Operation): Promise<void> {
    switch (op.kind) {
      case 'restart':
        return this.restart()
      case 'forget':
        return this.backends.forget()
      case 'wait':
        this.now += 3
        return
      case 'purge':
        return this.write((transaction) => void transaction.purgeRetired(3))
      case 'reseal':
        for (const { id } of this.store.read((view) => view.collections()))
          await this.write((transaction) => assert.deepEqual(resealAll(transaction, id), []))
        return
      case 'seal':
        return this.seal(op.collection, op.isSealed)
      case 'drop':
        await this.write((transaction, effects) => {
          const found = transaction.view.collection(op.collection)
          if (found !== undefined) carryOut(transaction, effects, [decideDrop(transaction, found.id, found.name)])
        })
        this.model.delete(op.collection)
        return
      case 'put':
        return this.put(op, prepared(op.key, op.content, op.keep, op.ttl), { content: op.content, kept: op.keep })
      default:
        return this.change(op)
    }
  }

  async seal(collectionName: string, isSealed: boolean): Promise<void> {
    await this.write((transaction) => {
      const found = transaction.view.collection(collectionName)?.id ?? transaction.nextCollection
      const entry = { lsn: transaction.nextLsn, collection: found, docid: 0, collectionName, isSealed, salt: Buffer.alloc(32, found) }
      transaction.apply({ kind: 'sealing', ...entry }, undefined)
    })
  }

  async configure(name: string): Promise<void> {
    const change = { values: { maxRevisions: 0 }, cleared: [] }
    await this.write((transaction, effects) =>
      carryOut(
        transaction,
        effects,
        decideSettings(transaction, { kind: 'settings', collection: name, change: { kind: 'configure', change } }).steps,
      ),
    )
  }

  /** Objects are made on a read lane, before the transaction; the collection has a configuration by then. */
  async put({ collection: name, key, where }: Target, document: PreparedDocument, state: ModelState): Promise<void> {
    if (this.store.read((view) => view.collection(name)) === undefined) await this.configure(name)
    const record = document.body.kind === 'new' ? document.body.record : encodeBody(document.escaped, COMPRESSION)
    const object = this.store.read((view) => {
      const found = view.collection(name)
      return where === null || found === undefined ? undefined : this.backends.make(view, found.id, where, record)
    })
    await this.write((transaction, effects) =>
      carryOut(transaction, effects, decidePut(transaction, name, object === undefined ? document : { ...document, object }).steps),
    )
    const old = this.documents(name).get(key)
    const current = old !== undefined && old.expiresAt > 0 && old.expiresAt <= this.now ? undefined : old
    const isShared = document.body.kind === 'shared' && object === undefined
    this.documents(name).set(key, {
      expiresAt: document.ttl === null ? (current?.expiresAt ?? 0) : this.now + document.ttl,
      where: object !== undefined ? where : isShared && this.sharesPresent ? (current?.where ?? null) : null,
      states: [...(current?.states ?? []).filter((each, index, all) => index < all.length - 1 || each.kept), state],
    })
  }

  /** Whether the body shared by the present put is that of the present state; its object is then kept. */
  sharesPresent = false

  /** Writes that change an existing document. */
  async change(op: Change): Promise<void> {
    const document = this.documents(op.collection).get(op.key)
    const head = this.store.read((view) => this.head(view, op.collection, op.key))
    assert.equal(head !== undefined, document !== undefined, `${op.collection}/${op.key} is there in one of store and model`)
    if (head === undefined || document === undefined || isExpired(head, this.now)) return
    if (op.kind === 'move') return this.move(op, head, document)
    if (op.kind === 'meta') return this.update(op, head, document)
    if (op.kind === 'share') return this.share(op, head, document)
    await this.write((transaction, effects) => {
      if (op.kind === 'delete') return carryOut(transaction, effects, [decideDelete(transaction, head)])
      const trim = decideTrim(transaction, head, op.count)
      if (trim !== undefined) carryOut(transaction, effects, [trim.step])
    })
    if (op.kind === 'delete') this.documents(op.collection).delete(op.key)
    else trim(document, op.count)
  }

  async move({ where }: Target, head: Head, document: ModelDocument): Promise<void> {
    const placement = this.reading((view) => {
      const isHere = !view.objects.isElsewhere(head)
      const record = view.bodyRecord(head)
      const object = where === null ? null : this.backends.make(view, head.collection, where, record)
      return { docid: head.docid, bodyLsn: head.bodyLsn, object, body: object === null && !isHere ? record : null }
    })
    await this.write((transaction, effects) => {
      const step = decideMove(transaction, head.collection, placement)
      assert.ok(step)
      carryOut(transaction, effects, [step])
    })
    document.where = where
  }

  /** An update of the metadata alone: the body is kept, unless it is stored only outside the env. */
  async update(target: Target, head: Head, document: ModelDocument): Promise<void> {
    const text = document.states.at(-1)?.content ?? ''
    const isElsewhere = this.store.read((view) => view.objects.isElsewhere(head))
    const whole = prepared(target.key, text, true, null)
    this.sharesPresent = !isElsewhere
    await this.put(isElsewhere ? target : { ...target, where: null }, isElsewhere ? whole : sharing(whole, head), {
      content: text,
      kept: true,
    })
  }

  /** Restores a revision. */
  async share(target: Target & { readonly count: number }, head: Head, document: ModelDocument): Promise<void> {
    const kept = document.states.filter((state) => state.kept)
    const chosen = kept.at(-1 - (target.count % Math.max(1, kept.length)))
    if (chosen === undefined) return
    const states = this.store.read((view) => [head, ...view.revisions.of(head.collection, head.docid)])
    const revision = states.filter(({ flags }) => (flags & HEAD_FLAGS.revision) !== 0)[target.count % kept.length]
    assert.ok(revision)
    this.sharesPresent = revision.bodyLsn === head.bodyLsn
    await this.put(target, sharing(prepared(target.key, chosen.content, true, null), revision), { content: chosen.content, kept: true })
  }

  head(view: View, name: string, key: string): Head | undefined {
    const found = view.collection(name)
    const identity = found === undefined ? undefined : view.identity(found.id, key, 'en')
    return found === undefined || identity === undefined ? undefined : view.headEvenExpired(found.id, identity.docid)
  }

  /** Reads as requests do: repeated after fetching the missing objects. */
  reading<T>(run: (view: View) => T): T {
    for (let round = 0; round < 2; round++) {
      try {
        return this.store.read(run)
      } catch (error) {
        if (!(error instanceof BodiesWanted)) throw error
        met.lacking++
        for (const object of error.objects) this.backends.fetch(object)
      }
    }
    return this.store.read(run)
  }

  compare(): void {
    for (const [name, documents] of this.model) {
      const found = this.store.read((view) => view.collection(name))
      const counters = found === undefined ? undefined : this.store.read((view) => view.collectionCounters(found.id))
      assert.equal(counters?.documents ?? 0, documents.size, `documents of ${name}`)
      for (const [key, document] of documents) this.compareDocument(name, key, document)
    }
    const inMemory = this.store.read((view) => view.objects.bodiesAt(MEMORY_LOCATION, 1_000).bodies)
    assert.deepEqual(
      inMemory.map(({ id }) => id.toString('hex')).sort(),
      this.backends.inMemory,
      'memory has what rows name, and nothing else',
    )
  }

  compareDocument(name: string, key: string, { states, where }: ModelDocument): void {
    const present = states.at(-1)
    const head = this.store.read((view) => this.head(view, name, key))
    assert.ok(head && present, `${name}/${key} is there`)
    const [object, isElsewhere] = this.store.read((view) => [view.objects.of(head), view.objects.isElsewhere(head)])
    assert.equal(object?.location ?? null, where)
    assert.ok(!present.kept || !isElsewhere, 'a revision keeps its body here')
    if (isElsewhere) met.elsewhere++
    assert.equal(
      this.reading((view) => unescapeContent(view.escapedContent(head))),
      present.content,
    )
    const older = this.store.read((view) =>
      [...view.revisions.of(head.collection, head.docid)].map((state) => unescapeContent(view.escapedContent(state))),
    )
    const expected = states.slice(0, -1).map((state) => state.content)
    assert.deepEqual(older, expected.reverse())
  }
}

function sharing(document: PreparedDocument, { bodyLsn, bodyRawBytes, bodyStoredBytes }: Head): PreparedDocument {
  return { ...document, body: { kind: 'shared', lsn: bodyLsn, rawBytes: bodyRawBytes, storedBytes: bodyStoredBytes } }
}

/** Keeps the newest `count` kept states, and the present one, which may no longer count as kept. */
function trim(document: ModelDocument, count: number): void {
  const kept = document.states.filter((state) => state.kept)
  const stay = new Set(count === 0 ? [] : kept.slice(-count))
  const last = document.states.length - 1
  document.states = document.states.flatMap((state, index) =>
    stay.has(state) || !state.kept ? [state] : index === last ? [{ ...state, kept: false }] : [],
  )
}

test('bodies in storage backends equal a plain map after any sequence of writes, moves, restarts and changes of keys', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 60 }), async (operations) => {
      const subject = new Run(join(folder, String(run++)))
      for (const op of operations) {
        await subject.step(op)
        subject.compare()
      }
      for (let isMore = true; isMore;) await subject.write((transaction) => (isMore = transaction.purgeRetired(3)))
      subject.compare()
      await subject.store.close()
      checkReferences(subject.path)
      checkPurged(subject.path)
      checkObjects(subject.path)
    }),
    { numRuns: 60, examples: [[PLAIN_LIFE]] },
  )
  for (const [what, times] of Object.entries(met)) assert.ok(times > 0, `${what}: never met`)
})
