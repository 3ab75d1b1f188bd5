/**
 * Properties, checked within a budget of time. fast-check's own limit (`interruptAfterTimeLimit`) abandons an
 * asynchronous run that is under way, whose requests would then meet the next test; here a run is finished.
 */
import fc from 'fast-check'
import { runSeed } from './random.js'

/** Milliseconds after which a property has been checked enough. `npm test -- deep` checks it to the end. */
const BUDGET_MS = 500
/** A property is checked in this many parts, between which the time is looked at. */
const PARTS = 25
const NUM_RUNS = 100
const isDeep = process.env['MDS_TEST_DEPTH'] === 'deep'
/** `MDS_TEST_SEED` repeats a run: a failure names the seed of its part. */
const seed = runSeed() | 0

export interface Depth {
  /** Default: 100. */
  readonly numRuns?: number
}

/** @throws Error with the seed, if the property does not hold for a generated value */
export function holds<Values>(property: fc.IAsyncProperty<Values>, depth?: Depth): Promise<void>
export function holds<Values>(property: fc.IProperty<Values>, depth?: Depth): void
export function holds<Values>(property: fc.IRawProperty<Values>, { numRuns = NUM_RUNS }: Depth = {}): Promise<void> | void {
  const parts = partsOf(numRuns)
  const begun = performance.now()
  const isOver = (): boolean => !isDeep && performance.now() - begun > BUDGET_MS
  const next = (at: number): Promise<void> | void => {
    for (let part = at; part < parts.length && !(part > 0 && isOver()); part++) {
      const checked = fc.assert(property as fc.IProperty<Values>, { numRuns: parts[part]!, seed: seed + part }) as Promise<void> | void
      if (checked instanceof Promise) return checked.then(() => next(part + 1))
    }
  }
  return property.isAsync() ? Promise.resolve(next(0)) : next(0)
}

/** Numbers of runs whose sum is `numRuns`. */
function partsOf(numRuns: number): readonly number[] {
  const size = Math.ceil(numRuns / PARTS)
  const whole = Math.floor(numRuns / size)
  const rest = numRuns - whole * size
  return [...Array.from({ length: whole }, () => size), ...(rest > 0 ? [rest] : [])]
}
