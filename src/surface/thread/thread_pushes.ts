/**
 * Pushed answers whose producer is on the front end: pieces come by the port, and what clients have taken is
 * reported. On a surface's thread; the other side is src/dispatch/port/port_pushes.ts.
 */
import type { BodyPush, PushedBody } from '../../wire/body_streams.js'
import type { CoreReply, SurfaceRequest } from '../../wire/messages/surface_messages.js'

type Pushed = NonNullable<Extract<CoreReply, { kind: 'answer' }>['pushed']>

interface Open {
  readonly push: BodyPush
  /** Bytes that the client has not taken. */
  untaken: number
}

export class ThreadPushes {
  readonly #post: (message: SurfaceRequest) => void
  readonly #open = new Map<number, Open>()

  constructor(post: (message: SurfaceRequest) => void) {
    this.#post = post
  }

  /** @returns the producer, as this thread has it */
  bodyOf(id: number, { pulse, farewell }: Pushed): PushedBody {
    return {
      pulse,
      ...(farewell === undefined ? {} : { farewell }),
      attach: (push) => {
        this.#open.set(id, { push, untaken: 0 })
        this.#post({ kind: 'attached', id })
      },
      detach: (reason) => {
        this.#open.delete(id)
        this.#post({ kind: 'detached', id, reason })
      },
      drained: () => this.#drained(id),
    }
  }

  take({ pieces }: Extract<CoreReply, { kind: 'pushed' }>): void {
    const acks: number[] = []
    for (const [bytes, ids] of pieces) {
      for (const id of ids) {
        const open = this.#open.get(id)
        if (open === undefined) continue
        if (open.push.write(bytes)) acks.push(id, bytes.length)
        else open.untaken += bytes.length
      }
    }
    if (acks.length > 0) this.#post({ kind: 'pushTaken', acks })
  }

  end({ id, isComplete }: Extract<CoreReply, { kind: 'pushEnd' }>): void {
    const open = this.#open.get(id)
    this.#open.delete(id)
    if (isComplete) open?.push.end()
    else open?.push.close()
  }

  #drained(id: number): void {
    const open = this.#open.get(id)
    if (open === undefined || open.untaken === 0) return
    this.#post({ kind: 'pushTaken', acks: [id, open.untaken] })
    open.untaken = 0
  }
}
