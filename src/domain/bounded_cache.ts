/**
 * A map with a bound, which evicts entries that were not used for long. It has two generations: a used entry
 * moves to the young one; a full young generation becomes the old one, and what was left in the old one is
 * evicted. One per lane and purpose; not shared between threads.
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
