/**
 * The worker over a queue and a provider of the test: no document waits for one that cannot be embedded, and
 * no document is given up that may still be embedded.
 */
import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import type { EmbeddingSlices, Outcome, SliceResult } from '../../../src/background/embedding/slices.js'
import { EmbeddingWorker } from '../../../src/background/embedding/worker.js'
import type { Dispatcher } from '../../../src/dispatch/dispatcher.js'
import type { DispatchRequest } from '../../../src/dispatch/ticket.js'
import { EmbeddingError, type EmbeddingProvider } from '../../../src/outbound/embedding/provider.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import type { NamedDocument, NamedDocuments } from '../../../src/wire/messages/embedding_messages.js'
import { unpackInput } from '../../../src/wire/msgpack_input.js'
import { choreTools } from '../../harness/chore_tools.js'

const EMBEDDED: Outcome = { kind: 'embedded', chunks: 1 }
const NOTHING = { isOther: false, unavailable: undefined, unread: undefined }

/** Rows 1 to `count`, each of another document. */
class Subject {
  readonly control = ControlBlock.create()
  readonly rows = new Map<number, NamedDocument>()
  readonly embedded: number[] = []
  readonly givenUp: number[] = []
  readonly slicesSeen: number[][] = []
  /** Documents whose bodies cannot be read now. */
  readonly away = new Set<number>()
  /** Documents that make the provider fail. */
  readonly poison = new Set<number>()
  /** Slices with a document of a reindex wait for it. */
  reindexed: Promise<void> | undefined
  isDown = false
  epoch = 'one'
  provider: EmbeddingProvider | undefined = { batchMax: 8 } as EmbeddingProvider
  readonly worker: EmbeddingWorker
  #isWatched: (() => void) | undefined

  constructor(t: TestContext, count: number) {
    for (let lsn = 1; lsn <= count; lsn++) this.queue(lsn)
    const dispatcher = {
      admission: { admitOwn: () => ({}) },
      submit: (request: DispatchRequest) => this.#answer(request),
    } as unknown as Dispatcher
    const slices = {
      run: (_: EmbeddingProvider, named: NamedDocuments) => this.#run(named),
      giveUp: (named: NamedDocuments) => {
        this.givenUp.push(...named.documents.map(({ docid }) => docid))
        this.#settle(named.documents)
        return Promise.resolve(named.documents.length)
      },
    } as unknown as EmbeddingSlices
    this.worker = new EmbeddingWorker(dispatcher, this.control, { current: () => this.provider }, slices, choreTools())
    this.worker.start()
    t.after(() => this.worker.stop())
  }

  queue(lsn: number): void {
    this.rows.set(lsn, { collection: 1, docid: lsn, queued: lsn, force: false })
    this.control.embeddingDepth = this.rows.size
  }

  /** Waits until exactly these documents are queued. */
  async left(...docids: readonly number[]): Promise<void> {
    while ([...this.rows.keys()].join() !== docids.join()) await new Promise<void>((resolve) => (this.#isWatched = resolve))
  }

  #answer({ input, sink }: DispatchRequest): null {
    const { after, count } = unpackInput(input.body ?? new Uint8Array()) as { after: number; count: number }
    const documents = [...this.rows.values()].filter(({ queued }) => queued > after).slice(0, count)
    const text = JSON.stringify({ epoch: this.epoch, documents })
    sink.answer({ code: null, contentType: null, facts: [], isCompressed: false, body: Buffer.from(text) })
    return null
  }

  async #run({ epoch, documents }: NamedDocuments): Promise<SliceResult> {
    await Promise.resolve()
    this.slicesSeen.push(documents.map(({ docid }) => docid))
    if (documents.some(({ queued }) => queued === 0)) await this.reindexed
    if (epoch !== this.epoch) return { ...NOTHING, outcomes: [], isOther: true }
    if (this.away.has(documents[0]?.docid ?? 0)) return { ...NOTHING, outcomes: [undefined], unread: 'away' }
    const readable = documents.filter(({ docid }, at) => at === 0 || !this.away.has(docid))
    if (this.isDown || readable.some(({ docid }) => this.poison.has(docid)))
      return { ...NOTHING, outcomes: readable.map(() => undefined), unavailable: new EmbeddingError('unavailable', 'down') }
    this.embedded.push(...readable.map(({ docid }) => docid))
    this.#settle(readable)
    return { ...NOTHING, outcomes: readable.map(() => EMBEDDED) }
  }

  #settle(documents: readonly NamedDocument[]): void {
    for (const { queued } of documents) this.rows.delete(queued)
    this.control.embeddingDepth = this.rows.size
    this.#isWatched?.()
  }
}

describe('the worker of embeddings', () => {
  // The worker's own timers do not keep the process alive.
  const alive = setInterval(() => undefined, 1000)
  after(() => clearInterval(alive))

  it('worker: the queue is worked off, each document once, as many at a time as the provider takes', async (t) => {
    const subject = new Subject(t, 100)
    await subject.left()
    assert.deepEqual(subject.embedded.sort((one, other) => one - other), Array.from({ length: 100 }, (_, at) => at + 1)) // prettier-ignore
    assert.ok(subject.slicesSeen.every(({ length }) => length <= 8))
  })

  it('worker: a document whose body is unavailable does not delay others, and is embedded when the body is back', async (t) => {
    const subject = new Subject(t, 5)
    subject.away.add(1)
    await subject.left(1)
    subject.away.clear()
    await subject.left()
    assert.deepEqual([...subject.embedded.slice(0, 4)].sort(), [2, 3, 4, 5])
    assert.deepEqual([subject.embedded.at(-1), subject.givenUp], [1, []])
  })

  it('worker: a queue that was empty is worked off as soon as its depth is set', async (t) => {
    const subject = new Subject(t, 1)
    await subject.left()
    for (let lsn = 2; lsn < 6; lsn++) {
      // It has nothing to do, and no timer.
      await new Promise((resolve) => setImmediate(resolve))
      subject.queue(lsn)
      await subject.left()
    }
    assert.deepEqual(subject.embedded, [1, 2, 3, 4, 5])
  })

  it('worker: while the provider is down everything waits and nothing is given up', async (t) => {
    const subject = new Subject(t, 12)
    subject.isDown = true
    while (subject.slicesSeen.length < 4) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(subject.rows.size, 12)
    subject.isDown = false
    subject.worker.changed()
    await subject.left()
    assert.deepEqual(subject.givenUp, [])
  })

  it('worker: a document with which the provider dies goes alone, and is given up after three tries while others are embedded', async (t) => {
    const subject = new Subject(t, 2)
    subject.poison.add(2)
    let next = 100
    while (subject.givenUp.length === 0) {
      // Writes continue, and no pause is waited for.
      if (subject.control.embeddingDepth < 2) subject.rows.set(next, { collection: 1, docid: next, queued: next++, force: false })
      subject.control.embeddingDepth = subject.rows.size
      subject.worker.changed()
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepEqual(subject.givenUp, [2])
    assert.ok(!subject.embedded.includes(2))
    assert.ok(subject.slicesSeen.filter((docids) => docids.join() === '2').length >= 2, 'alone')
  })

  it('worker: a reindex gets the result of each of its documents, beside those that wait', async (t) => {
    const subject = new Subject(t, 20)
    const documents = [50, 51].map((docid) => ({ collection: 1, docid, queued: 0, force: true }))
    assert.deepEqual(await subject.worker.embed({ epoch: 'one', documents }), [EMBEDDED, EMBEDDED])
    await subject.left()
  })

  it('worker: documents written during a reindex do not wait for its end', { timeout: 30_000 }, async (t) => {
    const subject = new Subject(t, 0)
    let release: (() => void) | undefined
    subject.reindexed = new Promise((resolve) => (release = resolve))
    const documents = [50, 51].map((docid) => ({ collection: 1, docid, queued: 0, force: true }))
    const reindex = subject.worker.embed({ epoch: 'one', documents })
    while (subject.slicesSeen.length === 0) await new Promise((resolve) => setImmediate(resolve))
    subject.rows.set(1, { collection: 1, docid: 1, queued: 1, force: false })
    subject.control.embeddingDepth = 1
    await subject.left()
    assert.deepEqual(subject.embedded, [1])
    release?.()
    assert.deepEqual(await reindex, [EMBEDDED, EMBEDDED])
  })

  it('worker: documents named in another store are not embedded, and the queue of the new store is', async (t) => {
    const subject = new Subject(t, 3)
    await subject.left()
    const wanted = subject.worker.embed({ epoch: 'old', documents: [{ collection: 1, docid: 9, queued: 0, force: false }] })
    assert.deepEqual(await wanted, [{ kind: 'failed', reason: 'the store was restored meanwhile' }])
    subject.rows.set(1, { collection: 1, docid: 7, queued: 1, force: false })
    subject.control.embeddingDepth = 1
    await subject.left()
    assert.equal(subject.embedded.at(-1), 7)
  })

  it('worker: without a provider everything waits; when the last one goes, reindexes end', async (t) => {
    const subject = new Subject(t, 3)
    subject.provider = undefined
    const wanted = subject.worker.embed({ epoch: 'one', documents: [{ collection: 1, docid: 9, queued: 0, force: false }] })
    subject.worker.changed()
    assert.deepEqual(await wanted, [{ kind: 'failed', reason: 'no embedding provider configured' }])
    assert.deepEqual([subject.rows.size, subject.embedded], [3, []])
  })
})
