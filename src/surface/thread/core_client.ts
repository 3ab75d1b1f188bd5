/**
 * The core as seen by a surface in a thread of its own: operations by name, inputs as objects or as
 * MessagePack, answers whole or in parts. One client per thread. The front end's side is
 * src/dispatch/surface_port.ts.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Principal } from '../../access/principal.js'
import { packAnswer } from '../../wire/msgpack_input.js'
import type { SurfaceReply, SurfaceRequest } from '../../wire/surface_messages.js'

export type CoreAnswer = Extract<SurfaceReply, { kind: 'answer' }>

export interface AskOptions {
  readonly principal: Principal
  readonly deadlineMs?: number
  /** Abort cancels the request. */
  readonly signal?: AbortSignal
}

export class CoreClient {
  readonly #port: MessagePort
  readonly #waiting = new Map<number, (answer: CoreAnswer) => void>()
  #lastId = 0

  /**
   * @param onDrain called when the server shuts down: accept no new connections, and call `drained` when the
   * last request has ended
   */
  constructor(port: MessagePort, onDrain: () => void) {
    this.#port = port
    port.on('message', (reply: SurfaceReply) => {
      if (reply.kind === 'drain') onDrain()
      else this.#settle(reply)
    })
  }

  /**
   * @param input the fields, or an input encoded as MessagePack, whose ownership passes to the callee
   * @returns the answer or a refusal; if it has more parts, `more` or `cancel` must follow
   */
  ask(operation: string, input: object | Uint8Array, { principal, deadlineMs, signal }: AskOptions): Promise<CoreAnswer> {
    const id = ++this.#lastId
    const bytes = input instanceof Uint8Array ? input : packAnswer(input)
    const answered = this.#wait(id)
    signal?.addEventListener('abort', () => this.cancel(id), { once: true })
    const deadline = deadlineMs === undefined ? {} : { deadlineMs }
    this.#send({ kind: 'ask', id, operation, input: bytes, principal, ...deadline })
    return answered
  }

  /** Requests the next part. @param answer the previous part, which has more */
  more({ id }: CoreAnswer): Promise<CoreAnswer> {
    const answered = this.#wait(id)
    this.#send({ kind: 'more', id })
    return answered
  }

  /** @param id of the answer whose rest is not wanted */
  cancel(id: number): void {
    this.#waiting.delete(id)
    this.#send({ kind: 'cancel', id })
  }

  listening(address: string): void {
    this.#send({ kind: 'listening', address })
  }

  refused(reason: string): void {
    this.#send({ kind: 'refused', reason })
  }

  drained(): void {
    this.#send({ kind: 'drained' })
  }

  #wait(id: number): Promise<CoreAnswer> {
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  #settle(answer: CoreAnswer): void {
    const resolve = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (resolve === undefined && answer.hasMore) this.cancel(answer.id)
    resolve?.(answer)
  }

  #send(message: SurfaceRequest): void {
    this.#port.postMessage(message)
  }
}
