/**
 * The front end's side of the port to a surface in a thread, over real lanes: what such a thread must not
 * send, answers whose next part nobody requests, and what each surface may keep open of them.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { ANONYMOUS, PRINCIPAL_NAME_CHARS_MAX, SYSTEM } from '../../../src/access/principal.js'
import { loadConfig } from '../../../src/config/config.js'
import { nextPartOf } from '../../../src/dispatch/answers/answer_parts.js'
import { successOf } from '../../../src/dispatch/answers/answers.js'
import { Identities } from '../../../src/dispatch/identities.js'
import type { Lanes } from '../../../src/dispatch/lanes.js'
import { SURFACE_PORT_SEARCHES_OF_LANE_MAX, SurfacePort } from '../../../src/dispatch/port/surface_port.js'
import { shareOf } from '../../../src/dispatch/queue/shares.js'
import { ticketOf } from '../../../src/dispatch/ticket.js'
import { entryOf, type ErrorCode } from '../../../src/errors.js'
import { ANSWER_STREAMS_MAX } from '../../../src/limits/documents.js'
import { PORT_TRANSFER_BYTES_MIN } from '../../../src/limits/lanes.js'
import { submitBulkIngest } from '../../../src/operations/documents/bulk_ingest.js'
import { type AuditEvent, receiveAuditEvents } from '../../../src/telemetry/audit.js'
import type { DetachReason } from '../../../src/wire/body_streams.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import type { SurfaceReply, SurfaceRequest } from '../../../src/wire/messages/surface_messages.js'
import { bytesInput, packAnswer } from '../../../src/wire/msgpack_input.js'
import { dispatcherOf, lanesOf, ownTelemetry, requestOf, statusOf } from '../../harness/dispatching.js'

type Reply = Extract<SurfaceReply, { kind: 'answer' }>

const directory = mkdtempSync(join(tmpdir(), 'mds-port-'))
const config = loadConfig(['--db', directory, '--read-lanes', '2'], {})
const control = ControlBlock.create()
const telemetry = ownTelemetry()
const dispatcher = dispatcherOf(config, control, telemetry, 2)
let lanes: Lanes
/** Closed at the end as well, because a test that fails does not close its own. */
const threads: Thread[] = []

/** A thread that says anything. */
class Thread {
  readonly channel = new MessageChannel()
  readonly requests: SurfacePort
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #lastId = 0

  constructor(index: number, limits: Partial<typeof config.limits> = {}) {
    const surface = { name: `s${index}`, mode: 'wr', index } as const
    const own = { ...config, limits: { ...config.limits, ...limits } }
    this.requests = new SurfacePort(this.channel.port1, dispatcher, surface, own, new Identities(dispatcher, () => undefined, () => undefined)) // prettier-ignore
    threads.push(this)
    this.channel.port2.on('message', (reply: Reply) => this.#waiting.get(reply.id)?.(reply))
  }

  say(message: object): Promise<Reply> {
    const { id } = message as { readonly id: number }
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.requests.take(message as SurfaceRequest)
    })
  }

  ask(operation: string, input: object, change: object = {}): Promise<Reply> {
    const id = ++this.#lastId
    return this.say({ kind: 'ask', id, operation, input: bytesInput(packAnswer(input)), principal: ANONYMOUS, ...change })
  }

  close(): void {
    this.requests.close()
    this.channel.port1.close()
  }
}

const DOCUMENT = { collection: 'c', key: 'k0', lang: 'en' }
/** In some parts. */
/** Far longer than any answer here stays open. */
const PATIENCE_MS = 10_000
const EXPORT = { collection: 'c', format: 'ndjson' }
const textOf = ({ body }: Reply): string => Buffer.from(body).toString()

before(async () => {
  lanes = await lanesOf(config, control, telemetry, dispatcher)
  control.phase = 'healthy'
  const documents = Array.from({ length: 3 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: 'x'.repeat(700_000) }))
  const added = await new Promise((resolve) => {
    const request = requestOf(dispatcher, 'addBatch', { collection: 'c', documents })
    dispatcher.submit({ ...request, sink: { answer: (answer) => resolve(statusOf(answer)) } })
  })
  assert.equal(added, 200)
})

after(async () => {
  for (const thread of threads) thread.close()
  await dispatcher.idle()
  dispatcher.stop()
  await lanes.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('the port of a surface', () => {
  it('takes no principal but that of a client', async () => {
    const thread = new Thread(1)
    const long = 'n'.repeat(PRINCIPAL_NAME_CHARS_MAX + 1)
    const kind = 'anonymous'
    for (const principal of [SYSTEM, undefined, null, 7, {}, { kind }, { kind, name: 7 }, { kind, name: long }, { kind: 'root', name: '' }])
      for (const operation of ['get', 'endpoints']) {
        const { code } = await thread.ask(operation, DOCUMENT, { principal })
        assert.equal(code, 'forbidden', `${operation} ${JSON.stringify(principal)?.slice(0, 40)}`)
      }
    assert.equal((await thread.ask('get', DOCUMENT, { principal: { kind, name: long.slice(1) } })).code, null)
    assert.equal(thread.requests.underWay, 0)
    thread.close()
  })

  it('surfaces: large answers on their way to a thread are bounded, until it says that it has them', async () => {
    const thread = new Thread(1, { SURFACE_PORT_UNREAD_BYTES_MAX: 1_000_000 })
    const codes = async (count: number): Promise<readonly (string | null)[]> => {
      const replies = await Promise.all(Array.from({ length: count }, async () => await thread.ask('get', DOCUMENT)))
      return replies.map(({ code }) => code)
    }
    assert.deepEqual(await codes(3), [null, 'overloaded', 'overloaded'])
    // A short answer is no large one.
    assert.equal((await thread.ask('get', { ...DOCUMENT, key: 'none' })).code, 'notFound')
    thread.requests.take({ kind: 'taken', ids: [1], buffers: [] })
    assert.deepEqual(await codes(2), [null, 'overloaded'])
    assert.equal(thread.requests.underWay, 0)
    thread.close()
  })

  it('surfaces: a thread that keeps its answers has as many searches as there are turns, and the others wait for them', async () => {
    const thread = new Thread(1, { SURFACE_PORT_SEARCHES_WAITING_MAX: 1 })
    const turns = config.readLanes * SURFACE_PORT_SEARCHES_OF_LANE_MAX
    const search = async (): Promise<string | null> => (await thread.ask('search', { collection: 'c', limit: 1 })).code
    const first = Array.from({ length: turns }, search)
    assert.deepEqual(new Set(await Promise.all(first)), new Set([null]))
    const waiting = search()
    assert.equal(await search(), 'overloaded')
    thread.requests.take({ kind: 'taken', ids: [1], buffers: [new ArrayBuffer(1_000_000)] })
    assert.equal(await waiting, null)
    thread.close()
  })

  it('surfaces: a search that has waited for its turn for as long as others wait for a lane is refused', async () => {
    const thread = new Thread(1)
    const turns = config.readLanes * SURFACE_PORT_SEARCHES_OF_LANE_MAX
    const search = async (change = {}): Promise<string | null> => (await thread.ask('search', { collection: 'c', limit: 1 }, change)).code
    await Promise.all(Array.from({ length: turns }, async () => await search()))
    assert.deepEqual(await Promise.all([search(), search({ deadlineMs: 1 })]), ['overloaded', 'deadline'])
    assert.equal(thread.requests.underWay, 0)
    thread.close()
  })

  it('says of an operation that is not offered that it is not there, in the words of each protocol', async () => {
    const thread = new Thread(1)
    for (const operation of ['nothing', 'storeVectors']) {
      const { code } = await thread.ask(operation, {})
      const { http, grpc, mcp } = entryOf(code as ErrorCode)
      assert.deepEqual([code, http, grpc, mcp], ['unknownOperation', 404, 'UNIMPLEMENTED', -32601])
    }
    thread.close()
  })

  it('takes no deadline that never comes, and no input that is not bytes', async () => {
    const thread = new Thread(1)
    for (const deadlineMs of [NaN, Infinity, -Infinity, -1, null, '5'])
      assert.deepEqual([(await thread.ask('get', DOCUMENT, { deadlineMs })).code, deadlineMs], ['invalid', deadlineMs])
    for (const input of [undefined, null, 'text', 7, {}, { length: 5 }])
      assert.equal((await thread.ask('get', DOCUMENT, { input })).code, 'invalid', JSON.stringify(input))
    assert.equal((await thread.ask('get', DOCUMENT, { deadlineMs: 5000 })).code, null)
    assert.equal(thread.requests.underWay, 0)
    thread.close()
  })

  it('audit: an event of a surface in a thread has the address of its client, if that is one', async () => {
    const thread = new Thread(1)
    const events: AuditEvent[] = []
    receiveAuditEvents({ take: (event) => void events.push(event), takeLines: () => undefined })
    for (const [address, code] of [
      ['203.0.113.7', null],
      ['2001:db8::7', null],
      [undefined, null],
      ['a.example', 'invalid'],
      [7, 'invalid'],
    ])
      // prettier-ignore
      assert.equal((await thread.ask('setTtl', { ...DOCUMENT, ttl: 60 }, { address })).code, code, String(address))
    const agent = 'a'.repeat(300)
    assert.equal((await thread.ask('setTtl', { ...DOCUMENT, ttl: 60 }, { agent })).code, null)
    assert.equal((await thread.ask('setTtl', { ...DOCUMENT, ttl: 60 }, { agent: 7 })).code, 'invalid')
    receiveAuditEvents(undefined)
    assert.deepEqual(events.map(({ userAgent }) => userAgent.length), [0, 0, 0, 256]) // prettier-ignore
    assert.deepEqual(events.map(({ ip }) => ip), ['203.0.113.7', '2001:db8::7', '', '']) // prettier-ignore
    thread.close()
  })

  it('asks for every part within the limit that was requested', () => {
    const sink = { answer: () => undefined }
    const ticket = ticketOf({ ...requestOf(dispatcher, 'export', EXPORT, { deadlineMs: 700 }), sink }, 'heavy', sink)
    const part = nextPartOf(ticket, 5, { answer: () => undefined })
    const further = nextPartOf(part, 5, { answer: () => undefined })
    for (const { deadlineAt, receivedAt } of [part, further]) assert.equal(Math.round(deadlineAt - receivedAt), 700)
    assert.ok(further.receivedAt >= part.receivedAt && part.receivedAt >= ticket.receivedAt)
  })

  it('an answer whose next part is not requested in time is given up', async () => {
    const thread = new Thread(1, { PART_STALL_MS_MAX: 20 })
    try {
      const { hasMore, id } = await thread.ask('export', EXPORT)
      assert.equal(hasMore, true)
      const patience = performance.now() + PATIENCE_MS
      for (; thread.requests.underWay > 0; await turn()) assert.ok(performance.now() < patience, 'the answer is still open')
      await dispatcher.idle()
      const after = await thread.say({ kind: 'more', id })
      assert.deepEqual([after.code, textOf(after)], ['notFound', '{"error":"unknown answer"}'])
    } finally {
      thread.close()
    }
  })

  it('an answer is not given up while its parts are requested, and a part is requested once', async () => {
    const thread = new Thread(1)
    let answer = await thread.ask('export', EXPORT)
    let bytes = answer.body.length
    for (; answer.hasMore; bytes += answer.body.length) answer = await thread.say({ kind: 'more', id: answer.id })
    assert.ok(bytes > 3 * 700_000)
    const { id } = await thread.ask('export', EXPORT)
    thread.requests.take({ kind: 'more', id })
    assert.equal((await thread.say({ kind: 'more', id })).code, 'internal')
    assert.equal(thread.requests.underWay, 0)
    thread.close()
  })

  it('one surface leaves the others some of the answers in parts', async () => {
    const [first, second] = [new Thread(1), new Thread(2)]
    const share = shareOf(ANSWER_STREAMS_MAX, 2)
    const codes: (string | null)[] = []
    for (let at = 0; at < ANSWER_STREAMS_MAX; at++) codes.push((await first.ask('export', EXPORT)).code)
    const expected = codes.map((_, at) => (at < ANSWER_STREAMS_MAX - share ? null : 'overloaded'))
    assert.deepEqual(codes, expected)
    for (let at = 0; at < share; at++) assert.equal((await second.ask('export', EXPORT)).code, null)
    assert.equal((await second.ask('export', EXPORT)).code, 'overloaded')
    for (const thread of [first, second]) thread.close()
    await dispatcher.idle()
    const late = new Thread(2)
    for (let at = 0; at < ANSWER_STREAMS_MAX - share; at++) assert.equal((await late.ask('export', EXPORT)).code, null)
    late.close()
    await dispatcher.idle()
  })

  it('a pushed answer ends with its client, and a producer that nobody waits for is told so', async () => {
    const thread = new Thread(1)
    const ended: DetachReason[] = []
    const push = { pulse: Buffer.from(':'), attach: () => assert.fail(), detach: (reason: DetachReason) => ended.push(reason) }
    dispatcher.onIo(submitBulkIngest, async () => Promise.resolve({ ...successOf(''), push }))
    const { code, id } = await thread.ask('submitBulkIngest', { collection: 'c', documents: [{ key: 'x', lang: 'en', contentMd: 'x' }] })
    assert.deepEqual([code, ended, thread.requests.underWay], [null, [], 1])
    thread.requests.take({ kind: 'detached', id, reason: 'slowClient' })
    assert.deepEqual([ended, thread.requests.underWay], [['slowClient'], 0])
    await thread.ask('submitBulkIngest', { collection: 'c', documents: [{ key: 'x', lang: 'en', contentMd: 'x' }] })
    thread.close()
    assert.deepEqual([ended, thread.requests.underWay], [['slowClient', 'clientGone'], 0])
  })

  it('a body whose buffer has no other user is transferred to the thread, any other is copied', async () => {
    const thread = new Thread(1)
    const bytes = 2 * PORT_TRANSFER_BYTES_MIN
    const [owned, kept] = [new Uint8Array(bytes).fill(1), new Uint8Array(bytes).fill(2)]
    const answers = [{ ...successOf(owned), owned: owned.buffer }, successOf(kept)]
    dispatcher.onIo(submitBulkIngest, async () => Promise.resolve(answers.shift()!))
    for (const value of [1, 2]) {
      const { body } = await thread.ask('submitBulkIngest', { collection: 'c', documents: [{ key: 'x', lang: 'en', contentMd: 'x' }] })
      assert.ok(Buffer.from(body).equals(Buffer.alloc(bytes, value)))
    }
    assert.deepEqual([owned.length, kept.length], [0, bytes])
    thread.close()
  })
})
