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
  /** Of the client, for logs and audit events. */
  readonly address?: string
  /** Abort cancels the request, which then rejects. */
  readonly signal?: AbortSignal
}

interface Waiting {
  resolve(answer: CoreAnswer): void
  reject(reason: Error): void
}

export class CoreClient {
  readonly #port: MessagePort
  readonly #waiting = new Map<number, Waiting>()
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
   * @throws Error `cancelled` if the request is cancelled before its answer
   */
  async ask(operation: string, input: object | Uint8Array, { principal, deadlineMs, address, signal }: AskOptions): Promise<CoreAnswer> {
    if (signal?.aborted === true) throw cancelled()
    const id = ++this.#lastId
    const bytes = input instanceof Uint8Array ? input : packAnswer(input)
    const optional = { ...(deadlineMs === undefined ? {} : { deadlineMs }), ...(address === undefined ? {} : { address }) }
    this.#send({ kind: 'ask', id, operation, input: bytes, principal, ...optional })
    return await this.#wait(id, signal)
  }

  /**
   * Requests the next part.
   * @param answer the previous part, which has more
   * @param signal abort cancels the rest of the answer
   * @throws Error `cancelled` as for `ask`
   */
  async more({ id }: CoreAnswer, signal?: AbortSignal): Promise<CoreAnswer> {
    if (signal?.aborted === true) {
      this.cancel(id)
      throw cancelled()
    }
    this.#send({ kind: 'more', id })
    return await this.#wait(id, signal)
  }

  /** Whoever waits for the answer is rejected. @param id of the answer that is not wanted, or its rest */
  cancel(id: number): void {
    this.#waiting.get(id)?.reject(cancelled())
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

  #wait(id: number, signal: AbortSignal | undefined): Promise<CoreAnswer> {
    const onAbort = (): void => this.cancel(id)
    signal?.addEventListener('abort', onAbort, { once: true })
    return new Promise<CoreAnswer>((resolve, reject) => this.#waiting.set(id, { resolve, reject })).finally(() =>
      signal?.removeEventListener('abort', onAbort),
    )
  }

  #settle(answer: CoreAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (waiting === undefined && answer.hasMore) this.cancel(answer.id)
    waiting?.resolve(answer)
  }

  #send(message: SurfaceRequest): void {
    this.#port.postMessage(message)
  }
}

function cancelled(): Error {
  return new Error('cancelled')
}
