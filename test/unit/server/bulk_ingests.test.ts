/**
 * Bulk ingests over real lanes and an empty store when a chunk fails: its lane is lost, the queue has no
 * capacity for it, or its client disconnects before the job is accepted.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ANONYMOUS, type Principal } from '../../../src/access/principal.js'
import { BulkIngests } from '../../../src/background/bulk_ingests.js'
import { loadConfig } from '../../../src/config/config.js'
import { refusal } from '../../../src/dispatch/answers/answers.js'
import { Dispatcher } from '../../../src/dispatch/dispatcher.js'
import { Lanes } from '../../../src/dispatch/lanes.js'
import type { DispatchRequest } from '../../../src/dispatch/ticket.js'
import { Outbound } from '../../../src/outbound/safe_fetch.js'
import { currentGeneration, generationsOf, openDataDirectory } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import type { OutgoingAnswer } from '../../../src/wire/answer.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import { decodeMessage, encodeMessage } from '../../../src/wire/messages/messages.js'
import { choreTools } from '../../harness/chore_tools.js'
import { emptyLoop, ownTelemetry, requestOf } from '../../harness/dispatching.js'
import { noObjects } from '../../harness/store/no_objects.js'

/** Applies the requested faults to chunks, one after the other. */
class Troubled extends Dispatcher {
  troubles: ('lose' | 'refuse')[] = []
  chunks = 0

  override submit(request: DispatchRequest): ReturnType<Dispatcher['submit']> {
    const { operation } = request.admitted
    if (operation.name !== 'ingestChunk') return super.submit(request)
    this.chunks += 1
    switch (this.troubles.shift()) {
      case 'lose':
        // As in dispatcher.test.ts: a lane rejects it by an assertion, which loses the batch but not the
        // lane.
        return super.submit({ ...request, input: request.input, admitted: this.admission.admitOwn({ ...operation }) })
      case 'refuse':
        request.sink.answer(refusal('overloaded'))
        return null
      case undefined:
        return super.submit(request)
    }
  }
}

const directory = mkdtempSync(join(tmpdir(), 'mds-ingests-'))
const config = loadConfig(['--db', directory, '--read-lanes', '2'], {})
const control = ControlBlock.create()
const telemetry = ownTelemetry()
const dispatcher = new Troubled(config, control, telemetry, noObjects, emptyLoop)
const ingests = new BulkIngests(config, dispatcher, new Outbound({ allowed: [], allowPrivate: false }), telemetry, choreTools())
let lanes: Lanes

before(async () => {
  openDataDirectory(directory)
  ingests.start()
  lanes = await new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new Error(reason))
    const listener = { onReady: () => resolve(started), onFailed: fail, onFatal: fail }
    const started: Lanes = new Lanes(config, control, telemetry, dispatcher, listener, generationsOf(directory))
  })
})

after(async () => {
  await ingests.stop()
  await dispatcher.idle()
  dispatcher.stop()
  await lanes.close()
  rmSync(directory, { recursive: true, force: true })
})

function ask<Value>(name: string, input: unknown, principal: Principal = ANONYMOUS): Promise<Value> {
  return new Promise((resolve) => {
    const answer = ({ body }: OutgoingAnswer): void => resolve(JSON.parse(Buffer.from(body as Uint8Array).toString()) as Value)
    dispatcher.submit({ ...requestOf(dispatcher, name, input, { principal }), sink: { answer } })
  })
}

interface JobJson {
  readonly id: string
  readonly status: string
  readonly added: number
  readonly failed: number
  readonly errors?: readonly string[]
}

const documentsOf = (count: number): object[] => Array.from({ length: count }, (_, i) => ({ key: `k${i}`, lang: 'en', contentMd: 'x' }))

async function run(collection: string, count: number, submitter = ANONYMOUS): Promise<JobJson> {
  const { id } = await ask<JobJson>('submitBulkIngest', { collection, documents: documentsOf(count) }, submitter)
  for (;;) {
    const job = await ask<JobJson>('getBulkIngest', { id })
    if (job.status !== 'pending' && job.status !== 'processing') return job
  }
}

describe('bulk ingests in trouble', () => {
  it('a chunk whose lane is lost is counted as failed, and the job goes on', async () => {
    dispatcher.troubles = ['lose']
    const job = await run('lost', 700)
    assert.deepEqual([job.status, job.added, job.failed], ['completed', 200, 500])
    assert.deepEqual(job.errors, ['documents[0] to documents[499]: internal error'])
  })

  it('a job whose last chunk is lost ends, too', async () => {
    dispatcher.troubles = ['lose']
    const job = await run('all lost', 3)
    assert.deepEqual([job.status, job.added, job.failed], ['failed', 0, 3])
  })

  it('a chunk that exceeds the capacity is requested again', async () => {
    dispatcher.troubles = ['refuse', 'refuse']
    dispatcher.chunks = 0
    const job = await run('refused', 10)
    assert.deepEqual([job.status, job.added, job.failed, dispatcher.chunks], ['completed', 10, 0, 3])
  })

  it('a client that has gone before its job was accepted leaves nothing behind', async () => {
    const before = (await ask<{ total: number }>('listBulkIngests', {})).total
    for (let i = 0; i < 50; i++) {
      const request = requestOf(dispatcher, 'submitBulkIngest', { collection: 'gone', documents: documentsOf(5) })
      const ticket = dispatcher.submit({ ...request, sink: { answer: () => assert.fail() } })
      assert.ok(ticket !== null)
      dispatcher.abandon(ticket)
    }
    await dispatcher.idle()
    assert.equal((await ask<{ total: number }>('listBulkIngests', {})).total, before)
    assert.equal(telemetry.read().gauges.ingest_bytes_held, 0)
    assert.equal((await run('after', 1)).status, 'completed')
  })
})

describe('a bulk ingest of a named principal', () => {
  it('the documents are written on behalf of the principal that submitted them', async () => {
    const store = new TruthStore(currentGeneration(directory))
    const before = store.read((view) => view.storeCounters().lastLsn)
    assert.equal((await run('named', 3, { kind: 'anonymous', name: 'bert' })).status, 'completed')
    const entries = store.read((view) => view.binlog.entriesAfter(before, 100))
    const made = entries.map((entry) => (entry.kind === 'shed' ? [] : [entry.kind, entry.origin, entry.actor]))
    const put = ['put', 'import', 'bert']
    assert.deepEqual(made, [['job', 'request', 'bert'], put, put, put, ['job', 'import', 'bert']])
    await store.close()
  })
})

describe('a bulk ingest between its threads', () => {
  it('is the same on the other side', () => {
    const chunks = [1, 500, 3].map((documents) => ({ documents, body: new Uint8Array(documents).fill(documents & 0xff) }))
    const ingest = { id: 'bulk_1_a', collection: 'ä"\\', callbackUrl: 'http://x/', command: new Uint8Array([1, 2, 3]), chunks }
    assert.deepEqual(decodeMessage(encodeMessage(ingest)), ingest)
  })
})
