/**
 * A map that forgets what has not been used for long, so that it never grows over its bound. Two halves: what
 * is used moves to the young one; when that is full, it becomes the old one and the rest of the old one is
 * forgotten. One per lane and purpose; not shared between threads.
 */
export class BoundedCache<Value> {
  readonly #halfMax: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  /** @param most entries held */
  constructor(most: number) {
    this.#halfMax = Math.max(1, Math.floor(most / 2))
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#halfMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
