/**
 * A small seeded generator (xorshift32), so that a failing run can be repeated from its printed seed. Not for
 * secrets.
 */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0 || 0x9e3779b9
  }

  /** Uniform in [0, 1). */
  next(): number {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x >>> 0
    return this.#state / 4294967296
  }

  /** Uniform integer in [0, end). */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError('pick from an empty list')
    return item
  }
}

/** The seed of a run: `MDS_TEST_SEED` to repeat one, else drawn from the clock. The caller prints it. */
export function runSeed(): number {
  const given = process.env['MDS_TEST_SEED']
  if (given === undefined) return Date.now() >>> 0
  const seed = Number(given)
  if (!Number.isSafeInteger(seed)) throw new RangeError(`MDS_TEST_SEED is no integer: ${given}`)
  return seed
}
