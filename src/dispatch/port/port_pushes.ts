/**
 * Pushed answers whose clients are in another thread. A piece for many clients crosses once. The thread says
 * what its clients have taken; a producer is told that a client is behind while more than a bound has not
 * been taken. Front-end thread only; the other side is src/surface/thread/thread_pushes.ts.
 */
import { KIB } from '../../limits/units.js'
import type { BodyPush, DetachReason, PushedBody } from '../../wire/body_streams.js'
import type { CoreReply } from '../../wire/messages/surface_messages.js'

/** Bytes on the way to a client of another thread, or in that thread: a page of the change feed. */
const PORT_PUSH_UNTAKEN_BYTES_MAX = 256 * KIB

class PortPush implements BodyPush {
  /** Bytes that the thread has not reported as taken. */
  #untaken = 0
  #isBehind = false
  isOver = false

  constructor(
    readonly id: number,
    readonly body: PushedBody,
    readonly pushes: PortPushes,
  ) {}

  write(bytes: Uint8Array): boolean {
    if (this.isOver) return false
    this.#untaken += bytes.length
    this.#isBehind ||= this.#untaken > PORT_PUSH_UNTAKEN_BYTES_MAX
    if (bytes.length > 0) this.pushes.send(bytes, this.id)
    return !this.#isBehind
  }

  end(): void {
    if (!this.isOver) this.pushes.finish(this, true)
  }

  close(): void {
    if (!this.isOver) this.pushes.finish(this, false)
  }

  taken(bytes: number): void {
    this.#untaken = Math.max(0, this.#untaken - bytes)
    if (!this.#isBehind || this.#untaken > 0) return
    this.#isBehind = false
    this.body.drained?.()
  }
}

export class PortPushes {
  readonly #post: (reply: CoreReply) => void
  readonly #forget: (id: number) => void
  readonly #open = new Map<number, PortPush>()
  /** Pieces of this turn, with the clients that get them. */
  #pieces = new Map<Uint8Array, number[]>()

  /** @param forget called when an answer has ended */
  constructor(post: (reply: CoreReply) => void, forget: (id: number) => void) {
    this.#post = post
    this.#forget = forget
  }

  open(id: number, body: PushedBody): void {
    this.#open.set(id, new PortPush(id, body, this))
  }

  /** The thread has written the head. */
  attached(id: number): void {
    const push = this.#open.get(id)
    push?.body.attach(push)
  }

  /** @param acks id and bytes in turn, as the thread sent them */
  taken(acks: readonly number[]): void {
    for (let at = 0; at + 1 < acks.length; at += 2) this.#open.get(acks[at] as number)?.taken(Number(acks[at + 1]) || 0)
  }

  /** The client does not take any more. */
  detach(id: number, reason: DetachReason): void {
    const push = this.#open.get(id)
    if (push === undefined) return
    push.isOver = true
    this.#open.delete(id)
    this.#forget(id)
    push.body.detach(reason)
  }

  send(bytes: Uint8Array, id: number): void {
    if (this.#pieces.size === 0) queueMicrotask(() => this.#flush())
    const ids = this.#pieces.get(bytes)
    if (ids === undefined) this.#pieces.set(bytes, [id])
    else ids.push(id)
  }

  finish(push: PortPush, isComplete: boolean): void {
    push.isOver = true
    this.#open.delete(push.id)
    this.#flush()
    this.#post({ kind: 'pushEnd', id: push.id, isComplete })
    this.#forget(push.id)
  }

  #flush(): void {
    if (this.#pieces.size === 0) return
    const pieces = [...this.#pieces]
    this.#pieces = new Map<Uint8Array, number[]>()
    this.#post({ kind: 'pushed', pieces })
  }
}
