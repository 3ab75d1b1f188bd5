/** The surface's own thread: a unix socket in front of the core's port. */
import { createServer, type Socket } from 'node:net'
import { workerData } from 'node:worker_threads'
import { ANONYMOUS } from '../../../src/access/principal.js'
import { CoreClient, type CoreAnswer } from '../../../src/surface/thread/core_client.js'
import { CorePort } from '../../../src/surface/thread/core_port.js'
import type { SurfaceStart } from '../../../src/wire/surface_messages.js'
import { END_THREAD, frameOf, FrameReader, type Answered, type Asked } from './frames.js'

const { port, options } = workerData as SurfaceStart
const { path } = options as { readonly path: string }
const sockets = new Set<Socket>()
let underWay = 0
let isDraining = false

const messages = new CorePort(port, {
  onDrain: () => {
    isDraining = true
    server.close()
    endWhenIdle()
  },
})
const core = new CoreClient(messages)

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
    let answer: CoreAnswer = await core.ask(operation, input as object, {
      principal: user === undefined ? ANONYMOUS : { kind: 'user', name: user },
      signal,
    })
    const bodies = [answer.body]
    while (answer.hasMore && bodies.length < parts) {
      answer = await core.more(answer, signal)
      bodies.push(answer.body)
    }
    if (answer.hasMore) core.cancel(answer.id)
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
