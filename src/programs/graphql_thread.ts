/**
 * The program of the thread that executes GraphQL. It listens on no socket: requests come from the front end,
 * by the port (src/surface/graphql/graphql_host.ts), and their answers return by it, those of one turn of the
 * event loop together.
 */
import { ANY, type KnownMembers, scanOf } from '../engine/json_scan.js'
import { PORT_TRANSFER_BYTES_MIN } from '../limits/lanes.js'
import { type GraphqlAnswer, GraphqlService } from '../surface/graphql/graphql_service.js'
import { JSON_BOUNDS } from '../wire/json_bounds.js'
import { bytesOf, packBodies, type ThreadOrder } from '../wire/messages/thread_calls.js'
import { openSurfaceThread } from './surface_thread.js'

/** The members of a request; others are not built. */
const REQUEST_MEMBERS: KnownMembers = {
  kind: 'object',
  members: [
    ['query', ANY],
    ['variables', ANY],
    ['operationName', ANY],
  ],
  rest: null,
}

const { config, surface, core, port } = await openSurfaceThread('graphql', {
  onDrain: () => port.drained(),
  onOrder: (order) => obey(order),
})
const service = new GraphqlService(config, scanOf(REQUEST_MEMBERS, JSON_BOUNDS), { core, surface })
let answers: GraphqlAnswer[] = []

/** A long body goes alone, so that its buffer has one user. */
function sendAll(): void {
  const sized = answers.map((answer) => ({ answer, bytes: bytesOf(answer.body) }))
  answers = []
  for (const each of sized) if (each.bytes >= PORT_TRANSFER_BYTES_MIN) send([each])
  const short = sized.filter(({ bytes }) => bytes < PORT_TRANSFER_BYTES_MIN)
  if (short.length > 0) send(short)
}

function send(sized: readonly { readonly answer: GraphqlAnswer; readonly bytes: number }[]): void {
  const bytes = sized.map((each) => each.bytes)
  const bodies = packBodies(
    sized.map(({ answer }) => answer.body),
    bytes,
  )
  const ids = sized.map(({ answer }) => answer.id)
  const codes = sized.map(({ answer }) => answer.code)
  port.post({ kind: 'answers', ids, codes, bytes, bodies }, [bodies.buffer])
}

function take(answer: GraphqlAnswer): void {
  if (answers.length === 0) setImmediate(sendAll)
  answers.push(answer)
}

function obey(order: ThreadOrder): void {
  if (order.kind === 'stop') {
    service.stop(order.id)
    return
  }
  let at = 0
  for (const call of order.calls) {
    service.run(call, order.bodies.subarray(at, at + call.bytes), take)
    at += call.bytes
  }
  const { buffer } = order.bodies
  if (order.bodies.length >= PORT_TRANSFER_BYTES_MIN) port.post({ kind: 'read', buffer }, [buffer])
}

port.listening('graphql')
