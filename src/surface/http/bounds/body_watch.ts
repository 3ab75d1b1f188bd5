/**
 * The bodies that one event loop receives. Each must make progress within a time; a slow client is waited
 * for. uWebSockets.js would close a connection whose body brings less than 16 KiB/s, at its own timer, which
 * is put off here. Decision: docs/decisions/interfaces/bounds-of-requests.md. On the thread of the loop.
 */
import { KIB } from '../../../limits/units.js'

/** Bytes that count as progress: 1 KiB/s, */
const BODY_PROGRESS_BYTES_MIN = 30 * KIB
/** or this part of what has come, because it is held in memory, */
const BODY_PROGRESS_PART = 1 / 16
/** but no more than 16 KiB/s. */
const BODY_PROGRESS_BYTES_MAX = 480 * KIB
/** How often bodies are looked at. uWebSockets.js would close their connections in twice this time. */
const BODY_WATCH_MS = 3_000

export interface WatchedBody {
  /** Bytes received so far. */
  readonly received: number
  /** The server itself reads nothing at present. */
  readonly isPaused: boolean
  /** Puts off the timer of uWebSockets.js. */
  waitLonger(): void
  /** Ends the request. */
  endSlow(): void
}

/** When a body had made progress last, and what had come of it then. */
interface Mark {
  readonly at: number
  readonly received: number
}

export class BodyWatch {
  /** Null: not looked at yet, or paused at the last look. Its time begins at the next look. */
  readonly #bodies = new Map<WatchedBody, Mark | null>()
  #timer: NodeJS.Timeout | null = null

  /** @param progressMsMax in which a body must make progress */
  constructor(readonly progressMsMax: number) {}

  add(body: WatchedBody): void {
    this.#bodies.set(body, null)
    this.#timer ??= setInterval(() => this.#look(), Math.min(BODY_WATCH_MS, this.progressMsMax)).unref()
  }

  delete(body: WatchedBody): void {
    this.#bodies.delete(body)
  }

  #look(): void {
    if (this.#bodies.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer)
      this.#timer = null
    }
    const now = performance.now()
    for (const [body, mark] of this.#bodies) {
      if (body.isPaused) {
        this.#bodies.set(body, null)
        continue
      }
      if (mark === null || body.received - mark.received >= wantedBytes(mark)) {
        this.#bodies.set(body, { at: now, received: body.received })
      } else if (now - mark.at >= this.progressMsMax) {
        body.endSlow()
        continue
      }
      body.waitLonger()
    }
  }
}

function wantedBytes({ received }: Mark): number {
  return Math.min(BODY_PROGRESS_BYTES_MAX, Math.max(BODY_PROGRESS_BYTES_MIN, received * BODY_PROGRESS_PART))
}
