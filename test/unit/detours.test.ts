/** Requests that the front end does something for: what a restore has to wait for, where they go on afterwards, and that no lane keeps the rest of an answer that nobody gets. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LaneAnswer } from '../../src/wire/answer_codec.js'
import { Detours, type DetourEnds, type ObjectDetours } from '../../src/dispatch/detours.js'
import { encodeMessage, type FetchFirst, type StoreFirst } from '../../src/wire/object_codec.js'
import type { OutgoingAnswer, Ticket } from '../../src/dispatch/ticket.js'
import { get } from '../../src/operations/documents.js'

const WRITTEN: OutgoingAnswer = { status: 200, contentType: null, headers: [], gzip: false, body: 'written' }
const AWAY: OutgoingAnswer = { ...WRITTEN, status: 503, body: 'away' }
const COMMAND = Buffer.from('command')

/** A front end whose store answers when it is told to; `said` is what it did, in order. */
function frontEnd(stored: Promise<OutgoingAnswer | undefined>, bytesMax?: number): { readonly detours: Detours; readonly said: string[] } {
  const said: string[] = []
  const objects = {
    bring: () => stored,
    storeFirst: async (_: StoreFirst, isWanted: () => boolean, commit: () => Promise<void>) => {
      const refused = await stored
      said.push(`wanted: ${isWanted()}`)
      if (refused === undefined) await commit()
      return refused
    },
  } as unknown as ObjectDetours
  const ends: DetourEnds = {
    commit: (_, command) => {
      said.push(`commit ${Buffer.from(command).toString()}, quiet: ${detours.isQuiet}`)
      return Promise.resolve(WRITTEN)
    },
    finish: (_, answer) => said.push(`finish ${String(answer.body)}`),
    again: (ticket) => said.push(`again in ${ticket.queue}${ticket.direct ? ', direct' : ''}, quiet: ${detours.isQuiet}`),
    abandon: (ticket) => {
      ticket.sink = null
      said.push('abandon')
    },
    settled: () => said.push('settled'),
  }
  const detours = new Detours(objects, ends, bytesMax)
  return { detours, said }
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

const frameOf = (kind: 'store' | 'fetch', message: StoreFirst | FetchFirst): LaneAnswer =>
  ({ kind, body: encodeMessage(message) }) as LaneAnswer
const storing = frameOf('store', { objects: [], command: COMMAND })
const fetching = (isCommand: boolean): LaneAnswer => frameOf('fetch', { objects: [], body: COMMAND, isCommand })
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

describe('detours', () => {
  it('detours: a write whose objects are under way is not quiet until its command is queued, and waits in no queue', async () => {
    const { promise, settle } = later()
    const { detours, said } = frontEnd(promise)
    const ticket = ticketOf()
    assert.equal(detours.begin(ticket, storing), true)
    await turn()
    assert.deepEqual([detours.isQuiet, ticket.queuedAt, said], [false, Infinity, []])
    settle(undefined)
    await turn()
    assert.deepEqual([detours.isQuiet, said], [true, ['wanted: true', 'commit command, quiet: false', 'settled', 'finish written']])
  })

  it('detours: what is held for requests is bounded, whoever has gone; what its client waits for no more is told so', async () => {
    const { promise, settle } = later()
    const { detours, said } = frontEnd(promise, 1)
    const [first, second] = [ticketOf(), ticketOf()]
    detours.begin(first, storing)
    first.sink = null
    detours.begin(second, storing)
    await turn()
    assert.deepEqual(said, ['finish {"error":"server busy, please retry"}', 'settled'])
    settle(AWAY)
    await turn()
    assert.deepEqual(said.slice(2), ['wanted: false', 'finish away', 'settled'])
    detours.begin(ticketOf(), storing)
    await turn()
    assert.equal(said.at(-2), 'finish away', 'there is room again')
  })

  it('detours: a write that the store does not take is answered, and somebody who waits for quiet is told', async () => {
    const { detours, said } = frontEnd(Promise.resolve(AWAY))
    detours.begin(ticketOf(), storing)
    await turn()
    assert.deepEqual([detours.isQuiet, said], [true, ['wanted: true', 'finish away', 'settled']])
  })

  it('detours: a command that lacked objects is not quiet until it is queued again; a request is made anew, never on the way of commits', async () => {
    const { detours, said } = frontEnd(Promise.resolve(undefined))
    detours.begin(ticketOf({ queue: 'commit', direct: true }), fetching(true))
    assert.equal(detours.isQuiet, false)
    await turn()
    detours.begin(ticketOf({ queue: 'commit', direct: true }), fetching(false))
    assert.equal(detours.isQuiet, true)
    await turn()
    assert.deepEqual(said, ['again in commit, quiet: false', 'settled', 'again in prepare, quiet: true'])
  })

  it('detours: where the next part of an answer can not be had, the client is told and the lane hears that nobody wants the rest', async () => {
    const { detours, said } = frontEnd(Promise.resolve(AWAY))
    const told: OutgoingAnswer[] = []
    detours.begin(ticketOf({ queue: 'heavy', stream: 7, sink: { answer: (answer) => told.push(answer) } }), fetching(false))
    await turn()
    assert.deepEqual([said, told], [['abandon', 'again in heavy, quiet: true'], [AWAY]])
  })
})

function later(): { readonly promise: Promise<OutgoingAnswer | undefined>; readonly settle: (answer: OutgoingAnswer | undefined) => void } {
  let settle: (answer: OutgoingAnswer | undefined) => void = () => undefined
  const promise = new Promise<OutgoingAnswer | undefined>((resolve) => (settle = resolve))
  return { promise, settle }
}
