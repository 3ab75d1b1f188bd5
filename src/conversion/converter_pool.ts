/**
 * Converts files to markdown in a small pool of processes, which start on first use and end when they are
 * idle. A file that makes its converter crash, loop or take all memory costs its own conversion, nothing
 * else. Converters and their libraries are loaded in the processes only. Used by servers and the command
 * line.
 */
import { stat } from 'node:fs/promises'
import { plainBytesOf } from '../base/sealed_files.js'
import { MIB } from '../limits/units.js'
import type { ConversionTask } from './conversion_frames.js'
import { ConversionRefused } from './conversion_refused.js'
import { ConverterProcess } from './converter_process.js'

/** Processes of a pool: 1 GB at most, and half of the cores of a small machine stay free. */
const CONVERTERS_MAX = 2
/** Conversions that wait for a process. At half a second each, the last one waits for 4 s. */
const CONVERSIONS_WAITING_MAX = 16
/** A process without work ends after this time. A start takes 0.1 s, its libraries up to 0.3 s more. */
const CONVERTER_IDLE_MS = 30_000
/** Bytes of a file that is converted: the largest upload. */
export const CONVERSION_FILE_BYTES_MAX = 100 * MIB
/** A conversion may take this time, */
const CONVERSION_MS_BASE = 5000
/** and this for each whole MB of the file, */
const CONVERSION_MS_PER_MB = 1000
/** but no longer than this. */
const CONVERSION_MS_MAX = 60_000

/** `path` is only read. */
interface Conversion extends ConversionTask {
  readonly signal?: AbortSignal
}

interface Waiting {
  begin(): void
}

export class ConverterPool {
  readonly #idle: { readonly process: ConverterProcess; readonly timer: NodeJS.Timeout }[] = []
  readonly #processes = new Set<ConverterProcess>()
  readonly #waiting: Waiting[] = []
  #active = 0
  #isClosed = false

  /**
   * @returns markdown, or text, of at most DOCUMENT_BYTES_MAX bytes
   * @throws ConversionRefused; the reason of the signal if it aborts
   */
  async convert({ signal, ...task }: Conversion): Promise<{ markdown: string }> {
    const file = await stat(task.path).catch((error: NodeJS.ErrnoException) => {
      throw new ConversionRefused('failed', `the file can't be read: ${error.code ?? error.message}`)
    })
    const size = plainBytesOf(file.size, task.key ?? '')
    if (size > CONVERSION_FILE_BYTES_MAX)
      throw new ConversionRefused('tooLarge', `the file has ${size} bytes, more than ${CONVERSION_FILE_BYTES_MAX}`)
    const timeMsMax = Math.min(CONVERSION_MS_BASE + Math.floor(size / MIB) * CONVERSION_MS_PER_MB, CONVERSION_MS_MAX)
    await this.#takePlace(signal)
    try {
      signal?.throwIfAborted()
      if (this.#isClosed) throw new ConversionRefused('failed', 'the converters are stopped')
      return { markdown: await this.#run(task, timeMsMax, signal) }
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#active--
      // The place passes on.
      else next.begin()
    }
  }

  /** Process ids, those of idle ones included. */
  pids(): number[] {
    return [...this.#processes].flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
  }

  /** Conversions under way are refused. */
  close(): void {
    this.#isClosed = true
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer)
    for (const process of this.#processes) process.kill()
  }

  async #run(task: ConversionTask, timeMsMax: number, signal?: AbortSignal): Promise<string> {
    const process = this.#takeProcess()
    try {
      return await process.convert(task, timeMsMax, signal)
    } finally {
      this.#giveBack(process)
    }
  }

  /** The one that was used last is warm. */
  #takeProcess(): ConverterProcess {
    const idle = this.#idle.pop()
    if (idle !== undefined) {
      clearTimeout(idle.timer)
      return idle.process
    }
    const process: ConverterProcess = new ConverterProcess(() => this.#remove(process))
    this.#processes.add(process)
    return process
  }

  #giveBack(process: ConverterProcess): void {
    if (!process.isUsable) return
    const timer = setTimeout(() => process.kill(), CONVERTER_IDLE_MS)
    timer.unref()
    this.#idle.push({ process, timer })
  }

  #remove(process: ConverterProcess): void {
    this.#processes.delete(process)
    const at = this.#idle.findIndex((idle) => idle.process === process)
    if (at !== -1) clearTimeout(this.#idle.splice(at, 1)[0]?.timer)
  }

  /** Counts as active once it returns. */
  async #takePlace(signal: AbortSignal | undefined): Promise<void> {
    if (this.#active >= CONVERTERS_MAX) await this.#wait(signal)
    else this.#active++
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.length >= CONVERSIONS_WAITING_MAX)
      throw new ConversionRefused('busy', `${CONVERSIONS_WAITING_MAX} conversions are waiting already`)
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal?.reason instanceof Error ? signal.reason : new Error('the conversion was aborted'))
      }
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        },
      }
      this.#waiting.push(waiting)
      signal?.addEventListener('abort', abort)
    })
  }
}
