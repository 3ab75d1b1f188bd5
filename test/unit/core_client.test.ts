/** The core's client in the thread of a surface: every promise that it gives settles. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, it } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { ANONYMOUS } from '../../src/access/principal.js'
import { CoreClient } from '../../src/surface/thread/core_client.js'
import { CorePort } from '../../src/surface/thread/core_port.js'
import type { SurfaceReply, SurfaceRequest } from '../../src/wire/surface_messages.js'

const { port1, port2 } = new MessageChannel()
const port = new CorePort(port2, { onDrain: () => undefined })
const core = new CoreClient(port)
const principal = ANONYMOUS

const nextRequest = (): Promise<SurfaceRequest> => new Promise((resolve) => port1.once('message', resolve))

function answer(id: number, hasMore: boolean): void {
  port1.postMessage({
    kind: 'answer',
    id,
    code: null,
    contentType: null,
    facts: [],
    isCompressed: false,
    isPage: false,
    body: new Uint8Array(),
    hasMore,
  } satisfies SurfaceReply)
}

after(() => port1.close())

it('a request whose signal is aborted already is rejected and not sent', async () => {
  await assert.rejects(core.ask('get', {}, { principal, signal: AbortSignal.abort() }), /^Error: cancelled$/)
  const sent = nextRequest()
  port.listening('here')
  assert.equal((await sent).kind, 'listening')
})

it('a cancelled request is rejected, and the front end is notified', async () => {
  const stop = new AbortController()
  const sent = nextRequest()
  const asked = core.ask('get', {}, { principal, signal: stop.signal })
  const { id } = (await sent) as { readonly id: number }
  const told = nextRequest()
  stop.abort()
  await assert.rejects(asked, /^Error: cancelled$/)
  assert.deepEqual(await told, { kind: 'cancel', id })
})

it('a request for a further part is rejected when it is cancelled, during it or before', async () => {
  const stop = new AbortController()
  let sent = nextRequest()
  const asked = core.ask('export', {}, { principal })
  answer(((await sent) as { readonly id: number }).id, true)
  const first = await asked
  sent = nextRequest()
  const more = core.more(first, stop.signal)
  assert.deepEqual(await sent, { kind: 'more', id: first.id })
  sent = nextRequest()
  stop.abort()
  await assert.rejects(more, /^Error: cancelled$/)
  assert.deepEqual(await sent, { kind: 'cancel', id: first.id })
  sent = nextRequest()
  await assert.rejects(core.more(first, stop.signal), /^Error: cancelled$/)
  assert.deepEqual(await sent, { kind: 'cancel', id: first.id })
})

it('an answered request leaves no listener on its signal', async () => {
  const { signal } = new AbortController()
  const sent = nextRequest()
  const asked = core.ask('get', {}, { principal, signal })
  answer(((await sent) as { readonly id: number }).id, false)
  await asked
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})
