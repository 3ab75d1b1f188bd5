/**
 * The port of a surface in a thread of its own to the core: numbers its requests and finds who waits for an
 * answer. The front end's side is src/dispatch/surface_port.ts. One object a thread.
 */
import type { MessagePort } from 'node:worker_threads'
import type { AskedIdentity, Identity } from '../../access/identity.js'
import type { ErrorCode } from '../../errors.js'
import { PORT_TRANSFER_BYTES_MIN } from '../../limits/dispatch.js'
import type { ForwardedLines } from '../../telemetry/audit.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import type { SurfaceReply, SurfaceRequest } from '../../wire/surface_messages.js'

export type CoreAnswer = Extract<SurfaceReply, { kind: 'answer' }>
type Ask = Extract<SurfaceRequest, { kind: 'ask' }>
type TakeAnswer = (answer: CoreAnswer) => void

export interface CoreEvents {
  /**
   * The server shuts down: accept no new connections, and call `drained` when the last request has ended.
   */
  readonly onDrain: () => void
  /** Read this generation of the store from now on, or none. Default: the thread reads no store. */
  readonly onServe?: (generation: string | null) => Promise<void>
  /** Close further connections of these clients, and of no others. */
  readonly onCrowded?: (clients: readonly string[]) => void
  /** Accept connections with this pair from now on. Default: the thread has no TLS. */
  readonly onRenew?: (files: TlsFiles) => void
}

export class CorePort {
  readonly #port: MessagePort
  readonly #waiting = new Map<number, TakeAnswer>()
  readonly #identifying = new Map<number, (identity: Identity | null | ErrorCode) => void>()
  /** Large answers of this turn of the event loop. */
  readonly #taken: number[] = []
  /** Buffers of answers that are not needed any more. */
  readonly #read: ArrayBuffer[] = []
  #lastId = 0

  constructor(port: MessagePort, { onDrain, onServe, onCrowded, onRenew }: CoreEvents) {
    this.#port = port
    port.on('message', (reply: SurfaceReply) => {
      if (reply.kind === 'answer') this.#settle(reply)
      else if (reply.kind === 'identity') this.#identified(reply.id, reply.identity)
      else if (reply.kind === 'drain') onDrain()
      else if (reply.kind === 'end') process.exit()
      else if (reply.kind === 'crowded') onCrowded?.(reply.clients)
      else if (reply.kind === 'renew') onRenew?.(reply.files)
      else void onServe?.(reply.generation).then(() => this.#send({ kind: 'served', number: reply.number }))
    })
  }

  /**
   * @param take receives the answer or a refusal; if it has more parts, `more` or `cancel` must follow
   * @returns the id of the request and its answer
   */
  ask(request: Omit<Ask, 'kind' | 'id'>, take: TakeAnswer): number {
    const id = ++this.#lastId
    this.#waiting.set(id, take)
    this.#send({ kind: 'ask', id, ...request }, transferredOf(request.input.body))
    return id
  }

  /** Asks who a credential belongs to. Never rejects. @returns null for nobody, or the code of a refusal */
  identify(asked: AskedIdentity): Promise<Identity | null | ErrorCode> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#identifying.set(id, resolve)
      this.#send({ kind: 'identify', id, asked })
    })
  }

  /** Requests the next part of an answer that has more. */
  more(id: number, take: TakeAnswer): void {
    this.#waiting.set(id, take)
    this.#send({ kind: 'more', id })
  }

  /** The body of an answer is not needed any more: its memory is used for others. */
  read({ body }: CoreAnswer): void {
    const { buffer } = body
    if (body.length < PORT_TRANSFER_BYTES_MIN || !(buffer instanceof ArrayBuffer)) return
    this.#report()
    this.#read.push(buffer)
  }

  /** Nobody waits for the answer, or for its rest, any more. */
  cancel(id: number): void {
    this.#waiting.delete(id)
    this.#send({ kind: 'cancel', id })
  }

  audit(lines: ForwardedLines): void {
    this.#send({ kind: 'audit', lines })
  }

  listening(address: string): void {
    this.#send({ kind: 'listening', address })
  }

  refused(reason: string): void {
    this.#send({ kind: 'refused', reason })
  }

  authFailure(ip: string): void {
    this.#send({ kind: 'authFailure', ip })
  }

  drained(): void {
    this.#send({ kind: 'drained' })
  }

  #identified(id: number, identity: Identity | null | ErrorCode): void {
    this.#identifying.get(id)?.(identity)
    this.#identifying.delete(id)
  }

  #settle(answer: CoreAnswer): void {
    if (answer.body.length >= PORT_TRANSFER_BYTES_MIN) {
      this.#report()
      this.#taken.push(answer.id)
    }
    const take = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (take === undefined && answer.hasMore) this.cancel(answer.id)
    take?.(answer)
  }

  /**
   * Reported in a later turn of the event loop: what comes for it is then handled after what the sockets
   * have.
   */
  #report(): void {
    if (this.#taken.length + this.#read.length === 0) setImmediate(() => this.#sendTaken())
  }

  #sendTaken(): void {
    const buffers = this.#read.splice(0)
    this.#send({ kind: 'taken', ids: this.#taken.splice(0), buffers }, buffers)
  }

  #send(message: SurfaceRequest, transferred: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transferred)
  }
}

/** The memory of a long body that has its buffer for itself. Other bodies are copied. */
function transferredOf(body: Uint8Array | null): readonly ArrayBuffer[] {
  if (body === null || body.length < PORT_TRANSFER_BYTES_MIN || !(body.buffer instanceof ArrayBuffer)) return []
  return body.length === body.buffer.byteLength ? [body.buffer] : []
}
