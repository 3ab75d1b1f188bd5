/**
 * What the port of a surface in a thread bounds: the searches under way, and the large answers that the
 * thread has not taken. One object of each a port; front-end thread only.
 */
import { PORT_TRANSFER_BYTES_MIN } from '../../limits/lanes.js'

/**
 * The turns of searches that the thread asks for: so many are under way, from their submission until the
 * thread has taken the answer; the others wait, the oldest first. Lanes make answers of many megabytes a
 * second, and each is copied on the event loop of the front end: without turns, it would copy for threads
 * that cannot keep up, and requests of HTTP would wait behind it.
 */
export class PortTurns {
  readonly #underWay = new Set<number>()
  /** By id, in their order. */
  readonly #waiting = new Map<number, () => void>()
  #isFilling = false

  constructor(
    readonly underWayMax: number,
    readonly waitingMax: number,
  ) {}

  /**
   * @param run submits the request, now or later; must not throw
   * @returns false: too many wait already
   */
  begin(id: number, run: () => void): boolean {
    if (this.#waiting.size >= this.waitingMax) return false
    this.#waiting.set(id, run)
    this.#fill()
    return true
  }

  /** The request has ended, and its answer has been taken; or it does not wait any more. */
  end(id: number): void {
    this.#waiting.delete(id)
    if (this.#underWay.delete(id)) this.#fill()
  }

  /** A request that is refused at once ends within its own turn: then the loop goes on. */
  #fill(): void {
    if (this.#isFilling) return
    this.#isFilling = true
    for (const [id, run] of this.#waiting) {
      if (this.#underWay.size >= this.underWayMax) break
      this.#waiting.delete(id)
      this.#underWay.add(id)
      run()
    }
    this.#isFilling = false
  }
}

/**
 * Large answers on their way to the thread of a surface: from the message until the thread has taken it.
 * Lanes make answers sooner than a thread turns them into messages of its protocol, so they are bounded here.
 * Short ones are bounded by the number of requests.
 */
export class UnreadAnswers {
  readonly #bytes = new Map<number, number>()
  #total = 0

  constructor(readonly bytesMax: number) {}

  /** Whether an answer of so many bytes must not be sent. One alone may be longer than the bound. */
  refuses(bytes: number): boolean {
    return bytes >= PORT_TRANSFER_BYTES_MIN && this.#total > 0 && this.#total + bytes > this.bytesMax
  }

  /** @param id of the request; it has one answer on its way at a time. @returns whether it is a large one */
  add(id: number, bytes: number): boolean {
    if (bytes < PORT_TRANSFER_BYTES_MIN) return false
    this.#bytes.set(id, bytes)
    this.#total += bytes
    return true
  }

  /** The thread has the answer. */
  taken(id: number): void {
    this.#total -= this.#bytes.get(id) ?? 0
    this.#bytes.delete(id)
  }
}
