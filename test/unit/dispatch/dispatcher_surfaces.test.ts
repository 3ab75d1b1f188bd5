/**
 * The dispatcher over real lanes with two surfaces: a flood on one delays the other by some batches at most,
 * in every class.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ANONYMOUS } from '../../../src/access/principal.js'
import { loadConfig } from '../../../src/config/config.js'
import type { Admitted } from '../../../src/dispatch/admission.js'
import type { Lanes } from '../../../src/dispatch/lanes.js'
import { RequestQueue } from '../../../src/dispatch/queue/request_queue.js'
import type { Surface } from '../../../src/dispatch/surface.js'
import type { DispatchRequest, Ticket } from '../../../src/dispatch/ticket.js'
import { operationByName } from '../../../src/operations/index.js'
import type { Operation } from '../../../src/operations/row/operation.js'
import type { OutgoingAnswer } from '../../../src/wire/answer.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import { msgpackInput } from '../../../src/wire/msgpack_input.js'
import { dispatcherOf, lanesOf, ownTelemetry, requestOf, statusOf } from '../../harness/dispatching.js'

const FIRST: Surface = { name: 'first', mode: 'wr', index: 1 }
const SECOND: Surface = { name: 'second', mode: 'wr', index: 2 }

const directory = mkdtempSync(join(tmpdir(), 'mds-surfaces-'))
const config = loadConfig(['--db', directory, '--read-lanes', '2'], {})
const control = ControlBlock.create()
const telemetry = ownTelemetry()
const dispatcher = dispatcherOf(config, control, telemetry, 2)
let lanes: Lanes

before(async () => {
  lanes = await lanesOf(config, control, telemetry, dispatcher)
  control.phase = 'healthy'
  const documents = Array.from({ length: 40 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `word ${at}` }))
  assert.equal(statusOf(await ask(requestFrom(FIRST, 'addBatch', { collection: 'c', documents }))), 200)
})

after(async () => {
  await dispatcher.idle()
  dispatcher.stop()
  await lanes.close()
  rmSync(directory, { recursive: true, force: true })
})

function requestFrom(surface: Surface, operation: string, input: unknown): Omit<DispatchRequest, 'sink'> {
  const admitted = dispatcher.admission.admit(operationByName.get(operation) as Operation, surface) as Admitted
  return requestOf(dispatcher, operation, input, { admitted })
}

/** @returns the answer, whose body is valid only before this resolves */
function ask(request: Omit<DispatchRequest, 'sink'>): Promise<OutgoingAnswer> {
  return new Promise((resolve) => dispatcher.submit({ ...request, sink: { answer: resolve } }))
}

const get = (surface: Surface): Omit<DispatchRequest, 'sink'> => requestFrom(surface, 'get', { collection: 'c', key: 'k1', lang: 'en' })
const search = (surface: Surface): Omit<DispatchRequest, 'sink'> => requestFrom(surface, 'fts', { collection: 'c', query: 'word' })

/** Submits all requests in one turn of the event loop. @returns the surfaces in the order of their answers */
async function orderOf(requests: readonly Omit<DispatchRequest, 'sink'>[]): Promise<string[]> {
  const order: string[] = []
  for (const request of requests) {
    const { surface, operation } = request.admitted
    const answer = (given: OutgoingAnswer): void => {
      order.push(`${surface.name} ${operation.name}`)
      assert.equal(statusOf(given), 200)
    }
    dispatcher.submit({ ...request, sink: { answer } })
  }
  await dispatcher.idle()
  // A lane reports the end of a batch after its answers. While searches run, point reads have another lane.
  while (telemetry.read().queues.some(({ inFlight }) => inFlight > 0)) await turn()
  return order
}

describe('two surfaces', () => {
  it('a search does not wait behind the point reads that another surface asked before it', async () => {
    await orderOf([search(FIRST), search(SECOND), get(FIRST), get(SECOND)])
    const order = await orderOf([...Array.from({ length: 1000 }, () => get(FIRST)), search(SECOND)])
    assert.equal(order.length, 1001)
    assert.ok(order.indexOf('second fts') < 500, `answer ${order.indexOf('second fts')} of 1001`)
  })

  it('on one surface the order of arrival decides between classes', async () => {
    const order = await orderOf([...Array.from({ length: 1000 }, () => get(FIRST)), search(FIRST)])
    assert.ok(order.indexOf('first fts') > 500, `answer ${order.indexOf('first fts')} of 1001`)
  })
  it('completions are cached for an input in any form, by the whole input', async () => {
    const counts: number[] = []
    for (const topN of [3, 3, 2, 3]) {
      const admitted = dispatcher.admission.admit(operationByName.get('autocomplete') as Operation, SECOND) as Admitted
      const input = msgpackInput({ collection: 'c', q: 'wo', topN })
      assert.equal(statusOf(await ask({ admitted, input, principal: ANONYMOUS, receivedAt: performance.now() })), 200)
      counts.push(telemetry.read().counters.authorizations_cached)
    }
    assert.deepEqual(counts.map((count) => count - (counts[0] as number)), [0, 1, 1, 2]) // prettier-ignore
  })

  it('a queue begins with the surface of the lowest rank, and goes on by turns', () => {
    const queue = new RequestQueue(8, 2)
    for (const surface of [FIRST, FIRST, FIRST, SECOND, SECOND]) queue.push({ surface } as Ticket)
    const ranks = [0, 7, 3]
    queue.prefer((surface) => ranks[surface] ?? 0)
    const taken = Array.from({ length: 5 }, () => queue.shift()?.surface.name)
    assert.deepEqual(taken, ['second', 'first', 'second', 'first', 'first'])
  })
})
