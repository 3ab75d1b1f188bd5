/**
 * The program of the thread that executes GraphQL. It listens on no socket: requests come from the front end,
 * by a port of their own (src/surface/graphql/graphql_host.ts), and their answers return by it, those of one
 * turn of the event loop together.
 */
import { workerData } from 'node:worker_threads'
import { openSurfaceThread } from './surface_thread.js'
import type { GraphqlStart } from './surface/graphql/graphql_host.js'
import { GraphqlService } from './surface/graphql/graphql_service.js'
import type { SurfaceStart } from './wire/surface_messages.js'
import type { ThreadAnswer, ThreadOrder } from './wire/thread_calls.js'

const { calls } = (workerData as SurfaceStart).options as GraphqlStart
const { config, surface, remote, port } = await openSurfaceThread('graphql', { onDrain: () => port.drained() })
const service = new GraphqlService(config, { core: remote, surface })
let answers: ThreadAnswer[] = []

function send(): void {
  if (answers.length > 0) calls.postMessage(answers)
  answers = []
}

function take(answer: ThreadAnswer): void {
  if (answers.length === 0) setImmediate(send)
  answers.push(answer)
}

calls.on('message', (order: ThreadOrder) => {
  if (order.kind === 'stop') service.stop(order.id)
  else for (const call of order.calls) service.run(call, take)
})
port.listening('graphql')
