/**
 * Writes that wait for queue capacity for documents to embed: they wait as long as there is progress, but not
 * beyond their limit.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { EmbeddingCapacity } from '../../../src/background/embedding/capacity.js'
import type { Ticket } from '../../../src/dispatch/ticket.js'
import { Telemetry } from '../../../src/telemetry/registry.js'
import type { OutgoingAnswer } from '../../../src/wire/answer.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import type { NamedDocument, NamedDocuments } from '../../../src/wire/messages/embedding_messages.js'
import { choreTools } from '../../harness/chore_tools.js'

const SIZE = 10

class Subject {
  readonly control = ControlBlock.create()
  readonly progress = { settled: 0, underWay: 0, isUnderWay: (named: NamedDocument) => this.taken.has(named.queued) }
  readonly taken = new Set<number>()
  readonly dropped: { readonly named: NamedDocuments; readonly job: string }[] = []
  readonly telemetry = Telemetry.create([])
  readonly capacity: EmbeddingCapacity

  constructor(waitMs: number) {
    this.telemetry.claimRow()
    const drop = (named: NamedDocuments, job: string): Promise<number> => {
      this.dropped.push({ named, job })
      this.control.embeddingDepth -= named.documents.length
      return Promise.resolve(named.documents.length)
    }
    const config = { embeddingQueueSize: SIZE, embeddingQueueWaitMs: waitMs }
    this.capacity = new EmbeddingCapacity(config, this.control, this.progress, drop, this.telemetry, choreTools())
  }

  /** A write of the given number of documents, which are already in the queue. */
  write(operation: string, count: number, msMax = 60_000, body: object = { added: count }): Promise<OutgoingAnswer> {
    this.control.embeddingDepth += count
    const documents = Array.from({ length: count }, (_, at) => ({ collection: 1, docid: at, queued: at + 1, force: false }))
    const ticket = { operation: { name: operation }, deadlineAt: performance.now() + msMax } as Ticket
    return this.capacity.wait(ticket, {
      kind: 'capacity',
      code: null,
      body: Buffer.from(JSON.stringify(body)),
      named: { epoch: 'e', documents },
    })
  }
}

const bodyOf = ({ body }: OutgoingAnswer): unknown => JSON.parse(Buffer.from(body).toString())

describe('capacity for documents that wait for vectors', () => {
  // The timers of a chore do not keep the process alive.
  const alive = setInterval(() => undefined, 1000)
  after(() => clearInterval(alive))

  it('capacity: a write within the capacity is answered unchanged', async () => {
    const subject = new Subject(1000)
    assert.deepEqual(bodyOf(await subject.write('addBatch', SIZE)), { added: SIZE })
    assert.deepEqual(subject.dropped, [])
  })

  it('capacity: without progress the newest documents beyond it are dropped, and add-batch counts them', async () => {
    const subject = new Subject(0)
    assert.deepEqual(bodyOf(await subject.write('addBatch', SIZE + 3)), { added: SIZE + 3, embeddingDropped: 3 })
    assert.deepEqual(
      subject.dropped.flatMap(({ named }) => named.documents.map(({ queued }) => queued)),
      [SIZE + 1, SIZE + 2, SIZE + 3],
    )
    assert.equal(subject.telemetry.read().counters.embeddings_dropped, 3)
  })

  it('capacity: a single write does not report dropped documents; a bulk ingest has their number in its record', async () => {
    const subject = new Subject(0)
    subject.control.embeddingDepth = SIZE
    assert.deepEqual(bodyOf(await subject.write('add', 1, 60_000, { id: 'x' })), { id: 'x' })
    assert.deepEqual(bodyOf(await subject.write('ingestChunk', 2, 60_000, { id: 'bulk_1', embeddingDropped: 4 })), {
      id: 'bulk_1',
      embeddingDropped: 6,
    })
    assert.deepEqual(
      subject.dropped.map(({ job }) => job),
      ['', 'bulk_1'],
    )
  })

  it('capacity: a document that is being embedded counts until it is settled, and is not dropped', async () => {
    const subject = new Subject(0)
    for (let at = 1; at <= 4; at++) subject.taken.add(at)
    assert.deepEqual(bodyOf(await subject.write('addBatch', SIZE + 4)), { added: SIZE + 4, embeddingDropped: 4 })
    assert.ok(subject.dropped[0]?.named.documents.every(({ queued }) => queued > 4))
    subject.dropped.length = 0
    subject.taken.add(5)
    assert.deepEqual(bodyOf(await subject.write('addBatch', 5)), { added: 5 })
    assert.deepEqual(subject.dropped, [], 'its documents are all under way')
  })

  it('capacity: a write waits while documents are being settled, and is answered once there is capacity', async () => {
    const subject = new Subject(40)
    const answer = subject.write('addBatch', SIZE + 20)
    let isAnswered = false
    void answer.then(() => (isAnswered = true))
    for (const end = performance.now() + 200; performance.now() < end;) {
      subject.progress.settled++
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(isAnswered, false, 'five times as long as it would wait without progress')
    subject.control.embeddingDepth = SIZE
    assert.deepEqual(bodyOf(await answer), { added: SIZE + 20 })
    assert.deepEqual(subject.dropped, [])
  })

  it('capacity: a write is answered before its deadline regardless of progress', async () => {
    const subject = new Subject(60_000)
    assert.deepEqual(bodyOf(await subject.write('addBatch', SIZE + 1, 2_001)), { added: SIZE + 1, embeddingDropped: 1 })
  })

  it('capacity: when the server stops, no write waits and no stored document is dropped', async () => {
    const subject = new Subject(60_000)
    const answer = subject.write('addBatch', SIZE + 1)
    subject.capacity.end()
    assert.deepEqual(bodyOf(await answer), { added: SIZE + 1 })
    assert.deepEqual(subject.dropped, [])
  })
})
