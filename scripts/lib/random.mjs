/** Seeded random numbers of campaigns. */

/** The seed of a run: MDS_SEED repeats one. */
export const seedOfRun = () => Number(process.env['MDS_SEED'] ?? Date.now() % 0x7fffffff)

/** @returns a function of a bound: whole numbers from 0 to below it; mulberry32 */
export function randomFrom(seed) {
  let state = seed >>> 0
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}
