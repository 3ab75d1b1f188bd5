/**
 * GraphQL as the front end runs it: the thread that executes documents (src/programs/graphql_thread.ts),
 * started with the first request and started again if it ends. Requests reach it by its port, those of one
 * turn of the event loop together. Front-end thread only.
 */
import type { Principal } from '../../access/principal.js'
import { programPath } from '../../base/installation.js'
import { successOf } from '../../dispatch/answers/answers.js'
import type { SpareBuffers } from '../../dispatch/port/spare_buffers.js'
import type { ThreadRunner, ThreadTicket } from '../../dispatch/thread_operations.js'
import type { DispatchRequest } from '../../dispatch/ticket.js'
import { PORT_TRANSFER_BYTES_MIN, SURFACE_RESTART_MS } from '../../limits/lanes.js'
import { log } from '../../telemetry/log.js'
import { releaseAnswer } from '../../wire/answer.js'
import { packBodies, type ThreadAnswers, type ThreadAsker, type ThreadCall } from '../../wire/messages/thread_calls.js'
import type { SurfaceHost } from '../host.js'
import { CounterRow, threadStart } from '../thread/thread_start.js'
import { ThreadSurface } from '../thread/thread_surface.js'

const PROGRAM = programPath('graphql_thread')
const NO_BODY = new Uint8Array()

export class GraphqlHost implements ThreadRunner {
  readonly #host: SurfaceHost
  readonly #thread: ThreadSurface
  readonly #row = new CounterRow()
  readonly #open = new Map<number, ThreadTicket>()
  readonly #ids = new Map<ThreadTicket, number>()
  /** Requests of this turn of the event loop. */
  #batch: { readonly call: ThreadCall; readonly body: Uint8Array }[] = []
  readonly #askers = new WeakMap<Principal, ThreadAsker>()
  #lastId = 0
  #hasThread = false
  #mayStartAt = 0

  /** @param spare receives the buffers of long bodies, once the thread has read them */
  constructor(host: SurfaceHost, spare: SpareBuffers) {
    this.#host = host
    this.#thread = new ThreadSurface(host, {
      program: PROGRAM,
      options: () => threadStart(host, this.#row, null, null),
      // Otherwise the package looks for a second copy of itself at each step of an execution.
      env: { NODE_ENV: 'production' },
      heapMbMax: host.config.limits.GRAPHQL_HEAP_MB_MAX,
      asksAdmission: true,
      isRestarted: false,
      onReport: (report) => {
        if (report.kind === 'read') spare.keep(report.buffer)
        else this.#answered(report)
      },
      onEnd: () => this.#onEnd(),
    })
    host.dispatcher.served.add(this.#thread)
  }

  run(ticket: ThreadTicket, { input, principal, client }: DispatchRequest): void {
    if (input.form !== 'json') return ticket.refuse('unknownOperation')
    if (!this.#hasThread && !this.#wake()) return ticket.refuse('laneLost')
    const id = ++this.#lastId
    this.#open.set(id, ticket)
    this.#ids.set(ticket, id)
    if (this.#batch.length === 0) setImmediate(() => this.#send())
    const { authEnabled, auditEnabled } = this.#host.config
    // The throttle of logins needs the address, audit events need both.
    const address = authEnabled || auditEnabled ? (client?.clientAddress() ?? '') : ''
    const agent = auditEnabled ? (client?.userAgent() ?? '') : ''
    const body = input.body ?? NO_BODY
    this.#batch.push({ call: { id, asker: this.#askerOf(principal), address, agent, bytes: body.length }, body })
  }

  stop(ticket: ThreadTicket): void {
    const id = this.#ids.get(ticket)
    if (id === undefined) return
    this.#forget(id, ticket)
    const waits = this.#batch.length
    this.#batch = this.#batch.filter(({ call }) => call.id !== id)
    if (this.#batch.length === waits) this.#thread.order({ kind: 'stop', id })
  }

  close(): void {
    this.#thread.close()
  }

  /** @returns whether the thread starts; not directly after it has ended */
  #wake(): boolean {
    if (performance.now() < this.#mayStartAt) return false
    this.#hasThread = true
    this.#thread.listen().then(
      () => log.info('GraphQL: the thread has started'),
      (error: unknown) => log.error('GraphQL: the thread does not start', { reason: error }),
    )
    return true
  }

  #send(): void {
    const batch = this.#batch
    this.#batch = []
    // The collector of a body gives its buffer away with it (http/body/body_collector.ts).
    const short = batch.filter(({ body }) => body.length < PORT_TRANSFER_BYTES_MIN)
    for (const { call, body } of batch)
      if (body.length >= PORT_TRANSFER_BYTES_MIN)
        this.#thread.order({ kind: 'run', calls: [call], bodies: body as Uint8Array<ArrayBuffer> }, [body.buffer as ArrayBuffer])
    if (short.length === 0) return
    const bodies = packBodies(
      short.map(({ body }) => [body]),
      short.map(({ call }) => call.bytes),
    )
    this.#thread.order({ kind: 'run', calls: short.map(({ call }) => call), bodies }, [bodies.buffer])
  }

  #answered({ ids, codes, bytes, bodies }: ThreadAnswers): void {
    // A long body comes alone.
    const owned = ids.length === 1 && bodies.length >= PORT_TRANSFER_BYTES_MIN ? bodies.buffer : undefined
    let at = 0
    for (const [index, id] of ids.entries()) {
      const end = at + bytes[index]!
      const ticket = this.#open.get(id)
      const answer = { ...successOf(bodies.subarray(at, end)), code: codes[index]!, owned }
      if (ticket === undefined) releaseAnswer(answer)
      else {
        this.#forget(id, ticket)
        ticket.answer(answer)
      }
      at = end
    }
  }

  /** The same object for the same principal: a message has it once. */
  #askerOf(principal: Principal): ThreadAsker {
    const known = this.#askers.get(principal)
    if (known !== undefined) return known
    const { rights, ...rest } = principal
    const asker = { principal: rest, rights: rights?.plain ?? null }
    this.#askers.set(principal, asker)
    return asker
  }

  #forget(id: number, ticket: ThreadTicket): void {
    this.#open.delete(id)
    this.#ids.delete(ticket)
  }

  /** What the requests of the thread have written is not known. */
  #onEnd(): void {
    this.#hasThread = false
    this.#batch = []
    this.#mayStartAt = performance.now() + SURFACE_RESTART_MS
    const row = this.#row.take()
    if (row >= 0) this.#host.telemetry.releaseRow(row)
    for (const ticket of [...this.#open.values()]) ticket.refuse('outcomeUnknown')
    this.#open.clear()
    this.#ids.clear()
  }
}
