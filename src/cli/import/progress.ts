/**
 * Progress of an import: a bar that redraws itself on a terminal, a plain line every few seconds elsewhere.
 * Rate and remaining time refer to this run: documents that a resumed import skipped do not count. Main
 * thread of the CLI.
 */
import { createRequire } from 'node:module'

export interface Progress {
  /**
   * @param consumed in units of `total`
   * @param documents number of documents processed in this run
   */
  update(consumed: number, documents: number): void
  /** Prints a line above the bar. */
  say(line: string): void
  stop(): void
}

interface ProgressOptions {
  readonly total: number
  /** Units consumed before this run. */
  readonly startConsumed: number
  readonly stream: NodeJS.WriteStream
}

/** Interval between two lines of progress, where standard error is no terminal. */
const PLAIN_INTERVAL_MS = 5_000

export function openProgress(options: ProgressOptions): Progress {
  const startMs = Date.now()
  const describe = (consumed: number, documents: number): ProgressFigures => figures(options, consumed, documents, Date.now() - startMs)
  return options.stream.isTTY ? openBar(options, describe) : openPlainLines(options, describe)
}

interface ProgressFigures {
  readonly percent: number
  readonly documents: string
  readonly rate: string
  readonly left: string
}

function figures(options: ProgressOptions, consumed: number, documents: number, elapsedMs: number): ProgressFigures {
  const done = consumed - options.startConsumed
  const leftMs = done > 0 ? (elapsedMs / done) * (options.total - consumed) : undefined
  return {
    percent: options.total === 0 ? 100 : Math.min(100, Math.floor((consumed / options.total) * 100)),
    documents: documents.toLocaleString('en-US'),
    rate: Math.round(documents / Math.max(elapsedMs / 1000, 0.001)).toLocaleString('en-US'),
    left: leftMs === undefined ? 'time left unknown' : `${formatSeconds(leftMs / 1000)} left`,
  }
}

/** `42 s`, `3 min 05 s`, `2 h 07 min`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')} min`
}

function openBar(options: ProgressOptions, describe: (consumed: number, documents: number) => ProgressFigures): Progress {
  const { Presets, SingleBar } = createRequire(import.meta.url)('cli-progress') as typeof import('cli-progress')
  const bar = new SingleBar(
    {
      stream: options.stream,
      format: '{bar} {percentage} %  {documents} documents  {rate}/s  {left}',
      hideCursor: true,
      clearOnComplete: false,
      linewrap: false,
      gracefulExit: false,
    },
    Presets.shades_classic,
  )
  bar.start(Math.max(options.total, 1), options.startConsumed, { documents: '0', rate: '0', left: 'time left unknown' })
  return {
    update(consumed, documents) {
      const { percent: _percent, ...payload } = describe(consumed, documents)
      bar.update(Math.min(consumed, options.total), payload)
    },
    say(line) {
      options.stream.write(`\r\x1b[K${line}\n`)
    },
    stop() {
      bar.stop()
    },
  }
}

function openPlainLines(options: ProgressOptions, describe: (consumed: number, documents: number) => ProgressFigures): Progress {
  let printedMs = Date.now()
  return {
    update(consumed, documents) {
      if (Date.now() - printedMs < PLAIN_INTERVAL_MS) return
      printedMs = Date.now()
      const { percent, documents: count, rate, left } = describe(consumed, documents)
      options.stream.write(`${percent} %, ${count} documents, ${rate}/s, ${left}\n`)
    },
    say(line) {
      options.stream.write(`${line}\n`)
    },
    stop() {
      // Nothing to do: every line was written completely.
    },
  }
}
