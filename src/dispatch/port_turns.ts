/**
 * The turns of searches that the thread of a surface asks for: so many are under way, from their submission
 * until the thread has taken the answer; the others wait, the oldest first. Lanes make answers of many
 * megabytes a second, and each is copied on the event loop of the front end: without turns, it would copy for
 * threads that cannot keep up, and requests of HTTP would wait behind it. One object a port; front-end thread
 * only.
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
