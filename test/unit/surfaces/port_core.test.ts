/** The core in the thread of a surface: every promise of an answer settles. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, it } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { ANONYMOUS } from '../../../src/access/principal.js'
import { Admission, type Admitted } from '../../../src/dispatch/admission.js'
import { awaitAnswer, nextPart } from '../../../src/dispatch/awaited_answers.js'
import { FieldsRequest } from '../../../src/dispatch/fields_request.js'
import { KnownClient } from '../../../src/dispatch/surface.js'
import { operationByName } from '../../../src/operations/index.js'
import { PortCore } from '../../../src/surface/thread/port_core.js'
import { ThreadPort } from '../../../src/surface/thread/thread_port.js'
import type { OutgoingAnswer } from '../../../src/wire/answer.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import type { SurfaceReply, SurfaceRequest } from '../../../src/wire/messages/surface_messages.js'
import { SURFACE } from '../../harness/dispatching.js'

const { port1, port2 } = new MessageChannel()
const port = new ThreadPort(port2, { onDrain: () => undefined })
const control = ControlBlock.create()
control.phase = 'healthy'
const core = new PortCore(port, new Admission(control), { serve: () => Promise.resolve(), answer: () => null })

const NOBODY = new KnownClient('', '')

function ask(operation: string, signal?: AbortSignal): Promise<OutgoingAnswer> {
  const admitted = core.admission.admit(operationByName.get(operation)!, SURFACE) as Admitted
  return awaitAnswer(core, (sink) => new FieldsRequest(admitted, {}, { principal: ANONYMOUS, client: NOBODY }, sink), signal)
}

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
  await assert.rejects(ask('get', AbortSignal.abort()), /^Error: cancelled$/)
  const sent = nextRequest()
  port.listening('here')
  assert.equal((await sent).kind, 'listening')
})

it('a cancelled request is rejected, and the front end is notified', async () => {
  const stop = new AbortController()
  const sent = nextRequest()
  const asked = ask('get', stop.signal)
  const { id } = (await sent) as { readonly id: number }
  const told = nextRequest()
  stop.abort()
  await assert.rejects(asked, /^Error: cancelled$/)
  assert.deepEqual(await told, { kind: 'cancel', id })
})

it('a request for a further part is rejected when it is cancelled, during it or before', async () => {
  const stop = new AbortController()
  let sent = nextRequest()
  const asked = ask('export')
  const { id } = (await sent) as { readonly id: number }
  answer(id, true)
  const { rest } = await asked
  sent = nextRequest()
  const more = nextPart(rest!, stop.signal)
  assert.deepEqual(await sent, { kind: 'more', id })
  sent = nextRequest()
  stop.abort()
  await assert.rejects(more, /^Error: cancelled$/)
  assert.deepEqual(await sent, { kind: 'cancel', id })
  sent = nextRequest()
  await assert.rejects(nextPart(rest!, stop.signal), /^Error: cancelled$/)
  assert.deepEqual(await sent, { kind: 'cancel', id })
})

it('an answered request leaves no listener on its signal', async () => {
  const { signal } = new AbortController()
  const sent = nextRequest()
  const asked = ask('get', signal)
  answer(((await sent) as { readonly id: number }).id, false)
  await asked
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})
