/**
 * Output of the benches: each measurement immediately as a JSON line, and all of them as a table at the end.
 * Standard output only.
 */
export type Measurement = Readonly<Record<string, string | number | null>>

export class Report {
  readonly #rows: Measurement[] = []

  add(row: Measurement): void {
    this.#rows.push(row)
    console.log(JSON.stringify(row))
  }

  /** @param columns in display order; a value missing in a row is shown as a dash */
  table(columns: readonly string[]): void {
    const lines = [columns, ...this.#rows.map((row) => columns.map((column) => show(row[column])))]
    const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)))
    console.log('')
    for (const line of lines) console.log(line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '))
  }
}

function show(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'string') return value
  return Number.isInteger(value) ? String(value) : value.toPrecision(4)
}

/**
 * Percentile of a sample, which is sorted in place.
 * @param share 0..1
 */
export function percentile(sample: number[], share: number): number {
  sample.sort((a, b) => a - b)
  return sample[Math.min(sample.length - 1, Math.floor(sample.length * share))] ?? Number.NaN
}

/** Reports that a part is measured differently or left out, and why. */
export function skipPart(reason: string): void {
  console.log(`SKIPPED: ${reason}`)
}

/** Ends the bench with one line and status 0 if something that it needs is missing on this machine. */
export function skip(reason: string): never {
  console.log(`SKIPPED: ${reason}`)
  process.exit(0)
}
