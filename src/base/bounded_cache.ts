/**
 * A bounded map that evicts entries not used recently. It has two generations. A used entry moves to the
 * young one. A full young generation becomes the old one, and the entries left in the previous old one are
 * evicted. One per lane and purpose; not shared between threads.
 */
export class BoundedCache<Value> {
  readonly #halfMax: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  /** @param most maximum number of entries */
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
