/**
 * A map by text, bounded by entries and by the characters of their texts. The entry that was not used for
 * longest goes first. One thread.
 */
export interface TextCacheBounds {
  readonly entriesMax: number
  readonly charsMax: number
  /** A longer text is not kept. */
  readonly textCharsMax: number
}

export class TextCache<Value> {
  /** In the order of their last use. */
  readonly #kept = new Map<string, Value>()
  #chars = 0

  constructor(readonly bounds: TextCacheBounds) {}

  get size(): number {
    return this.#kept.size
  }

  get(text: string): Value | undefined {
    const found = this.#kept.get(text)
    if (found === undefined) return undefined
    this.#kept.delete(text)
    this.#kept.set(text, found)
    return found
  }

  set(text: string, value: Value): void {
    const { entriesMax, charsMax, textCharsMax } = this.bounds
    if (text.length > textCharsMax) return
    if (!this.#kept.has(text)) this.#chars += text.length
    this.#kept.set(text, value)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= entriesMax && this.#chars <= charsMax) return
      this.#kept.delete(oldest)
      this.#chars -= oldest.length
    }
  }
}
