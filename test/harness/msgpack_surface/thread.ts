/** The surface's own thread: a unix socket in front of the core's port. */
import { createServer, type Socket } from 'node:net'
import { workerData } from 'node:worker_threads'
import { ANONYMOUS, type Principal } from '../../../src/access/principal.js'
import { Admission, type Admitted } from '../../../src/dispatch/admission.js'
import { awaitAnswer, nextPart } from '../../../src/dispatch/awaited_answers.js'
import { operationByName } from '../../../src/operations/index.js'
import { PortCore } from '../../../src/surface/thread/port_core.js'
import { ThreadPort } from '../../../src/surface/thread/thread_port.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import type { SurfaceStart } from '../../../src/wire/messages/surface_messages.js'
import { bytesInput, packAnswer } from '../../../src/wire/msgpack_input.js'
import { type Answered, type Asked, END_THREAD, frameOf, FrameReader } from './frames.js'

const { port, options } = workerData as SurfaceStart
const { path } = options as { readonly path: string }
const sockets = new Set<Socket>()
let underWay = 0
let isDraining = false

const messages = new ThreadPort(port, {
  onDrain: () => {
    isDraining = true
    server.close()
    endWhenIdle()
  },
})
// Admission is asked by the front end, and nothing is read here.
const reads = { serve: () => Promise.resolve(), answer: () => null }
const core = new PortCore(messages, new Admission(ControlBlock.create()), reads)

const server = createServer((socket) => {
  sockets.add(socket)
  const gone = new AbortController()
  const frames = new FrameReader()
  socket.on('close', () => {
    sockets.delete(socket)
    gone.abort()
  })
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    for (const asked of frames.take(chunk)) void serve(socket, asked as Asked, gone.signal)
  })
})
server.on('error', ({ message }) => messages.refused(message))
server.listen(path, () => messages.listening(`unix:${path}`))

async function serve(socket: Socket, { id, operation, input, user, parts = Infinity }: Asked, signal: AbortSignal): Promise<void> {
  // In a thread, exit ends the thread only.
  if (operation === END_THREAD) process.exit(1)
  underWay++
  try {
    // A client may name anything.
    const admitted = { operation: operationByName.get(operation) ?? { name: operation, audit: null } } as Admitted
    const principal: Principal = user === undefined ? ANONYMOUS : { kind: 'user', name: user }
    const given = bytesInput(input instanceof Uint8Array ? input : packAnswer(input))
    const receivedAt = performance.now()
    let answer = await awaitAnswer(core, (sink) => ({ admitted, input: given, principal, receivedAt, sink }), signal)
    const bodies = [Buffer.from(answer.body as Uint8Array)]
    while (answer.rest !== undefined && bodies.length < parts) {
      answer = await nextPart(answer.rest, signal)
      bodies.push(Buffer.from(answer.body as Uint8Array))
    }
    answer.rest?.end()
    const { code, facts, contentType } = answer
    socket.write(frameOf({ id, code, facts, contentType, body: Buffer.concat(bodies) } satisfies Answered))
  } catch (error) {
    // The client has disconnected: its requests count as ended.
    if (!signal.aborted) throw error
  } finally {
    underWay--
    endWhenIdle()
  }
}

function endWhenIdle(): void {
  if (!isDraining || underWay > 0) return
  for (const socket of sockets) socket.end()
  messages.drained()
}
