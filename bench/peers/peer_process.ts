/**
 * A search engine in a separate process that waits for commands. Several engines can thus be loaded, warmed
 * up and measured in turn within one run, one at a time on one core. All engines use one protocol (ours:
 * native/bench and engine_process.ts; peers: bench/peers/{lucene,tantivy}): one command per line on standard
 * input, answered by one JSON line.
 *   index                           builds a new index      -> documents, seconds, mergeSeconds, bytes
 *   open                            opens an earlier index  -> documents
 *   measure CLASS WANTED SECONDS    whole passes over a class
 *                                   -> queries, perSecond, p50Us, p99Us, hits, matches, checksum
 * WANTED: `top` the best ten; `exact` the best ten and the number of all matches; `keys` (peers only) the
 * best ten and the stored key of each. `hits` and `matches` are means per query. The process ends when its
 * input ends.
 */
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { spawn } from '../../test/harness/process/owned_processes.js'
import { pinned } from '../measure/pinning.js'

/** Indexing 200 000 documents takes two minutes. */
const ANSWER_MS_MAX = 900_000

export interface Indexing {
  readonly documents: number
  /** Until everything is searchable, without reading the corpus. */
  readonly seconds: number
  /** Duration of the merge into one segment that follows. */
  readonly mergeSeconds: number
  /** Size of the index: files, or memory if there are none. */
  readonly bytes: number
}

export type Wanted = 'top' | 'exact' | 'keys'

export interface Timing {
  readonly queries: number
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  readonly hits: number
  readonly matches: number
  /** Over the hits of all queries in order; comparable only within one engine. */
  readonly checksum: string
}

export class PeerProcess {
  readonly name: string
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #answers: AsyncIterator<string>

  /** Starts the process on the first core, if cores can be selected. */
  constructor(name: string, command: string, args: readonly string[]) {
    this.name = name
    const [program, ...rest] = pinned([command, ...args])
    this.#child = spawn(program!, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  get pid(): number {
    return this.#child.pid ?? -1
  }

  index(): Promise<Indexing> {
    return this.#ask<Indexing>('index')
  }

  open(): Promise<{ readonly documents: number }> {
    return this.#ask<{ readonly documents: number }>('open')
  }

  measure(kind: string, wanted: Wanted, seconds: number): Promise<Timing> {
    return this.#ask<Timing>(`measure ${kind} ${wanted} ${seconds}`)
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.stdin.end()
    await ended
  }

  async #ask<T>(command: string): Promise<T> {
    const late = setTimeout(() => this.#child.kill('SIGKILL'), ANSWER_MS_MAX)
    try {
      this.#child.stdin.write(`${command}\n`)
      const answer = (await this.#answers.next()) as IteratorResult<string, undefined>
      if (answer.done === true) throw new Error(`${this.name} ended on "${command}"`)
      return JSON.parse(answer.value) as T
    } finally {
      clearTimeout(late)
    }
  }
}
