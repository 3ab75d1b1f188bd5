/**
 * The dispatcher over real lanes and an empty store: requests whose batch is lost, whose client has
 * disconnected, whose deadline has passed, or that queue together with searches.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { loadConfig } from '../../../src/config/config.js'
import { Lanes } from '../../../src/dispatch/lanes.js'
import { BATCH_SEARCHES_MAX } from '../../../src/dispatch/queue/read_scheduler.js'
import type { DispatchRequest } from '../../../src/dispatch/ticket.js'
import { operationByName } from '../../../src/operations/index.js'
import type { AnyOperation } from '../../../src/operations/row/operation.js'
import { generationsOf, openDataDirectory } from '../../../src/store/files/layout.js'
import { type AuditEvent, receiveAuditEvents } from '../../../src/telemetry/audit.js'
import type { OutgoingAnswer } from '../../../src/wire/answer.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import { dispatcherOf, ownTelemetry, requestOf as requestOn, statusOf } from '../../harness/dispatching.js'

// A lane rejects a row outside the table by an assertion, which ends its task. This loses a batch without
// harming the lane.
const stray = (name: string): AnyOperation => ({ ...operationByName.get(name)! })

const directory = mkdtempSync(join(tmpdir(), 'mds-dispatcher-'))
const config = loadConfig(['--db', directory, '--read-lanes', '2'], {})
const control = ControlBlock.create()
const telemetry = ownTelemetry()
const dispatcher = dispatcherOf(config, control, telemetry)
let lanes: Lanes

before(async () => {
  openDataDirectory(directory)
  lanes = await new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new Error(reason))
    const listener = { onReady: () => resolve(started), onFailed: fail, onFatal: fail }
    const started: Lanes = new Lanes(config, control, telemetry, dispatcher, listener, generationsOf(directory))
  })
})

after(async () => {
  await dispatcher.idle()
  dispatcher.stop()
  await lanes.close()
  rmSync(directory, { recursive: true, force: true })
})

function requestOf(operation: string | AnyOperation, input: unknown, change: Partial<DispatchRequest> = {}): Omit<DispatchRequest, 'sink'> {
  return requestOn(dispatcher, operation, input, change)
}

function ask(request: Omit<DispatchRequest, 'sink'>): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve) => {
    const answer = (given: OutgoingAnswer): void =>
      resolve({ status: statusOf(given), text: Buffer.from(given.body as Uint8Array).toString() })
    dispatcher.submit({ ...request, sink: { answer } })
  })
}

const DOCUMENT = { collection: 'c', key: 'k', lang: 'en', contentMd: 'text' }

describe('dispatcher', () => {
  it('a write that went direct and one that was prepared on a read lane both end as documents', async () => {
    const crowd = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(requestOf('add', { ...DOCUMENT, key: `k${i}` }))))
    for (const { status, text } of crowd) assert.equal(status, 200, text)
    for (let i = 0; i < 40; i++) assert.equal((await ask(requestOf('get', { ...DOCUMENT, key: `k${i}` }))).status, 200)
  })

  it('reads of a batch that is lost are answered 503, and the lane serves the next ones', async () => {
    const lost = await Promise.all(Array.from({ length: 5 }, () => ask(requestOf(stray('get'), DOCUMENT))))
    for (const { status, text } of lost) {
      assert.equal(status, 503)
      assert.equal(text, '{"error":"the thread of this request has died, please retry"}')
    }
    assert.equal((await ask(requestOf('get', { ...DOCUMENT, key: 'k1' }))).status, 200)
  })

  it('a write whose batch is lost on the write lane is answered 503 outcome unknown', async () => {
    await dispatcher.idle()
    const lost = await ask(requestOf(stray('add'), DOCUMENT))
    assert.equal(lost.status, 503)
    assert.equal(lost.text, '{"error":"outcome unknown"}')
    assert.equal((await ask(requestOf('add', DOCUMENT))).status, 200)
  })

  it('a write whose client has gone, or whose deadline passed, has one audit event, which says what became of it', async () => {
    await dispatcher.idle()
    const events: AuditEvent[] = []
    receiveAuditEvents({ take: (event) => void events.push(event), takeLines: () => undefined })
    const ends = { committed: 0, dropped: 0 }
    // The turn of the event loop in which the client disconnects decides how far the write has come.
    for (let turns = 0; turns < 60; turns++) {
      events.length = 0
      const key = `audited${turns}`
      const deadline = turns % 2 === 0 ? {} : { deadlineMs: 1 }
      const ticket = dispatcher.submit({ ...requestOf('add', { ...DOCUMENT, key }, deadline), sink: { answer: () => undefined } })
      for (let at = 0; at < turns; at++) await turn()
      if (ticket !== null && turns % 2 === 0) dispatcher.abandon(ticket)
      await dispatcher.idle()
      const isStored = (await ask(requestOf('get', { ...DOCUMENT, key }))).status === 200
      assert.deepEqual(events.map(({ action, result }) => [action, result]), [['write./v1/add', isStored ? 'ok' : 'fail']], key) // prettier-ignore
      ends[isStored ? 'committed' : 'dropped']++
    }
    receiveAuditEvents(undefined)
    assert.ok(ends.committed > 0 && ends.dropped > 0, JSON.stringify(ends))
  })

  it('a request that no lane takes before its deadline is answered 503 and its stop word is set', async () => {
    const words = ControlBlock.create()
    const withoutLanes = dispatcherOf(config, words, telemetry)
    const answer = await new Promise<OutgoingAnswer>((resolve) => {
      withoutLanes.submit({ ...requestOf('get', DOCUMENT), deadlineMs: 1, sink: { answer: resolve } })
    })
    withoutLanes.stop()
    assert.equal(answer.code, 'deadline')
    assert.equal(answer.body, '{"error":"deadline exceeded, please retry"}')
    assert.equal(words.isStopped(0), true)
  })

  it('a request that a process which must end has not answered is answered 503, to be asked again', async () => {
    const withoutLanes = dispatcherOf(config, ControlBlock.create(), telemetry)
    const names = ['get', 'fts', 'add']
    const answers = names.map(
      (name) =>
        new Promise<OutgoingAnswer>((resolve) => {
          withoutLanes.submit({ ...requestOf(name, DOCUMENT), sink: { answer: resolve } })
        }),
    )
    withoutLanes.failEverything()
    withoutLanes.stop()
    for (const { code, body } of await Promise.all(answers))
      assert.deepEqual({ code, body }, { code: 'shuttingDown', body: '{"error":"shutting down"}' })
  })

  it('a point read that meets more searches than there are lanes is answered before a batch of them is', async () => {
    const documents = Array.from({ length: 300 }, (_, i) => ({ key: `s${i}`, lang: 'en', contentMd: `${'word '.repeat(2_000)}${i}` }))
    assert.equal((await ask(requestOf('addBatch', { collection: 'searched', documents }))).status, 200)
    const search = (): Omit<DispatchRequest, 'sink'> => requestOf('fts', { collection: 'searched', query: 'word', limit: documents.length })
    const get = (): Omit<DispatchRequest, 'sink'> => requestOf('get', { ...DOCUMENT, collection: 'searched', key: 's1' })
    const both = async (): Promise<void> => {
      for (const { status } of await Promise.all([ask(search()), ask(get())])) assert.equal(status, 200)
    }
    // The first point read that meets a search starts the point lane; the first that the lane answers
    // compiles its validator.
    while (lanes.point() === null) await both()
    for (let round = 0; round < 3; round++) await both()
    await dispatcher.idle()

    const order: string[] = []
    const requests = [...Array.from({ length: 4 * BATCH_SEARCHES_MAX }, search), get()]
    for (const request of requests) {
      const answer = (given: OutgoingAnswer): unknown => order.push(`${request.admitted.operation.name} ${statusOf(given)}`)
      dispatcher.submit({ ...request, sink: { answer } })
    }
    await dispatcher.idle()
    // Both lanes had a batch of searches and a second one waiting: behind any of them there are
    // BATCH_SEARCHES_MAX answers before the get.
    assert.equal(order.filter((answer) => answer === 'fts 200').length, requests.length - 1, order.join(', '))
    const before = order.indexOf('get 200')
    assert.ok(before >= 0 && before < BATCH_SEARCHES_MAX, order.join(', '))
  })

  it('abandoned requests are never answered and give their slots back', async () => {
    let answered = 0
    for (let i = 0; i < 100; i++) {
      const ticket = dispatcher.submit({ ...requestOf('get', DOCUMENT), sink: { answer: () => (answered += 1) } })
      assert.ok(ticket !== null)
      dispatcher.abandon(ticket)
    }
    await dispatcher.idle()
    assert.equal(answered, 0)
    assert.equal(dispatcher.slotsUsed, 0)
  })
})
