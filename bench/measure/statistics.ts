/** Medians of samples, for benches. */

/** The item with the median measure (the upper of two). Requires at least one item. */
export function medianBy<T>(items: readonly T[], measure: (item: T) => number): T {
  return [...items].sort((a, b) => measure(a) - measure(b))[Math.floor(items.length / 2)]!
}

export function median(values: readonly number[]): number {
  return medianBy(values, (value) => value)
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}
