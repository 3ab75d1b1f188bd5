/**
 * Suspended requests, for which the front end does work: what a restore waits for, where requests continue
 * afterwards, and that no lane keeps the rest of an answer without a recipient.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ObjectTransfers, type Resumption, Suspensions } from '../../../src/dispatch/suspensions.js'
import type { Ticket } from '../../../src/dispatch/ticket.js'
import { get } from '../../../src/operations/documents/documents.js'
import type { OutgoingAnswer } from '../../../src/wire/answer.js'
import type { LaneAnswer } from '../../../src/wire/answer_codec.js'
import { encodeMessage, type FetchFirst, type StoreFirst } from '../../../src/wire/messages/messages.js'

const WRITTEN: OutgoingAnswer = { code: null, contentType: null, facts: [], isCompressed: false, body: 'written' }
const AWAY: OutgoingAnswer = { ...WRITTEN, code: 'backendUnavailable', body: 'away' }
const COMMAND = Buffer.from('command')

/** A front end whose store answers on request; `said` lists its actions in order. */
function frontEnd(
  stored: Promise<OutgoingAnswer | undefined>,
  bytesMax?: number,
): { readonly suspensions: Suspensions; readonly said: string[] } {
  const said: string[] = []
  const objects = {
    bring: () => stored,
    storeFirst: async (_: StoreFirst, isWanted: () => boolean, commit: () => Promise<void>) => {
      const refused = await stored
      said.push(`wanted: ${isWanted()}`)
      if (refused === undefined) await commit()
      return refused
    },
    bringEach: () => Promise.resolve([]),
  } satisfies ObjectTransfers
  const resumption: Resumption = {
    commit: (_, command) => {
      said.push(`commit ${Buffer.from(command).toString()}, quiet: ${suspensions.isQuiet}`)
      return Promise.resolve(WRITTEN)
    },
    finish: (_, answer) => said.push(`finish ${String(answer.body)}`),
    again: (ticket) => said.push(`again in ${ticket.queue}${ticket.direct ? ', direct' : ''}, quiet: ${suspensions.isQuiet}`),
    abandon: (ticket) => {
      ticket.sink = null
      said.push('abandon')
    },
    settled: () => said.push('settled'),
    switchTo: () => Promise.resolve(),
  }
  const suspensions = new Suspensions(objects, resumption, bytesMax)
  return { suspensions, said }
}

function ticketOf(change: Partial<Ticket> = {}): Ticket {
  return {
    operation: get,
    queue: 'prepare',
    stream: 0,
    direct: false,
    onCommitted: null,
    sink: { answer: () => undefined },
    queuedAt: 1,
    ...change,
  } as Ticket
}

const frameOf = (message: StoreFirst | FetchFirst): LaneAnswer => ({ kind: 'message', body: encodeMessage(message) }) as LaneAnswer
const storing = frameOf({ kind: 'store', objects: [], command: COMMAND })
const fetching = (isCommand: boolean): LaneAnswer => frameOf({ kind: 'fetch', objects: [], body: COMMAND, isCommand })
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

describe('suspensions', () => {
  it('suspensions: a write whose objects are under way is not quiet until its command is queued, and waits in no queue', async () => {
    const { promise, settle } = later()
    const { suspensions, said } = frontEnd(promise)
    const ticket = ticketOf()
    suspensions.begin(ticket, storing)
    await turn()
    assert.deepEqual([suspensions.isQuiet, ticket.queuedAt, said], [false, Infinity, []])
    settle(undefined)
    await turn()
    assert.deepEqual([suspensions.isQuiet, said], [true, ['wanted: true', 'commit command, quiet: false', 'settled', 'finish written']])
  })

  it('suspensions: the bytes of suspended requests are bounded, disconnected clients included, and work of disconnected clients is marked as unwanted', async () => {
    const { promise, settle } = later()
    const { suspensions, said } = frontEnd(promise, 1)
    const [first, second] = [ticketOf(), ticketOf()]
    suspensions.begin(first, storing)
    first.sink = null
    suspensions.begin(second, storing)
    await turn()
    assert.deepEqual(said, ['finish {"error":"server busy, please retry"}', 'settled'])
    settle(AWAY)
    await turn()
    assert.deepEqual(said.slice(2), ['wanted: false', 'finish away', 'settled'])
    suspensions.begin(ticketOf(), storing)
    await turn()
    assert.equal(said.at(-2), 'finish away', 'there is capacity again')
  })

  it('suspensions: a write that the object store refuses is answered, and waiters for quiet are notified', async () => {
    const { suspensions, said } = frontEnd(Promise.resolve(AWAY))
    suspensions.begin(ticketOf(), storing)
    await turn()
    assert.deepEqual([suspensions.isQuiet, said], [true, ['wanted: true', 'finish away', 'settled']])
  })

  it('suspensions: a command that waits for objects is not quiet until it is queued again; a request is queued for preparation, never for commit', async () => {
    const { suspensions, said } = frontEnd(Promise.resolve(undefined))
    suspensions.begin(ticketOf({ queue: 'commit', direct: true }), fetching(true))
    assert.equal(suspensions.isQuiet, false)
    await turn()
    suspensions.begin(ticketOf({ queue: 'commit', direct: true }), fetching(false))
    assert.equal(suspensions.isQuiet, true)
    await turn()
    assert.deepEqual(said, ['again in commit, quiet: false', 'settled', 'again in prepare, quiet: true'])
  })

  it('suspensions: if the next part of an answer is unavailable, the client is answered and the lane abandons the rest', async () => {
    const { suspensions, said } = frontEnd(Promise.resolve(AWAY))
    const told: OutgoingAnswer[] = []
    suspensions.begin(ticketOf({ queue: 'heavy', stream: 7, sink: { answer: (answer) => told.push(answer) } }), fetching(false))
    await turn()
    assert.deepEqual([said, told], [['abandon', 'again in heavy, quiet: true'], [AWAY]])
  })
})

function later(): { readonly promise: Promise<OutgoingAnswer | undefined>; readonly settle: (answer: OutgoingAnswer | undefined) => void } {
  let settle: (answer: OutgoingAnswer | undefined) => void = () => undefined
  const promise = new Promise<OutgoingAnswer | undefined>((resolve) => (settle = resolve))
  return { promise, settle }
}
