/**
 * One process that converts files, one at a time (src/programs/converter.ts), as its parent sees it. Whatever
 * the process does, each task is settled once; a process that breaks a bound is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { programPath } from '../base/installation.js'
import { lowerPriorityOf } from '../base/thread_priority.js'
import { DOCUMENT_BYTES_MAX } from '../limits/documents.js'
import { ANSWER_DESCRIPTOR, AnswerReader, type ConversionAnswer, type ConversionTask, MEMORY_EXIT_CODE } from './conversion_frames.js'
import { ConversionRefused } from './conversion_refused.js'
import { CONVERTER_MEMORY_MB_MAX } from './converter_memory.js'

const PROGRAM = programPath('converter')
/**
 * Threads that answer requests go first, as before those of surfaces: before all of the process, also before
 * its start and its collections of garbage. At 10 it would get a tenth of a busy core, and its bound of time
 * would tell the load of the machine.
 */
const CONVERTER_NICE = 5

interface Running {
  resolve(markdown: string): void
  reject(refusal: Error): void
}

export class ConverterProcess {
  readonly #child: ChildProcess
  readonly #onEnd: () => void
  readonly #reader = new AnswerReader()
  #running: Running | undefined
  #isEnded = false

  /** @param onEnd called once, when the process can take no further task */
  constructor(onEnd: () => void) {
    const child = spawn(process.execPath, [PROGRAM], {
      // Nothing of the server's configuration: a converter that is taken over finds no secrets.
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    })
    lowerPriorityOf(child.pid, CONVERTER_NICE)
    this.#child = child
    this.#onEnd = onEnd
    const end = (refusal: ConversionRefused): void => {
      this.#end()
      this.#settle((running) => running.reject(refusal))
    }
    child.once('error', (error) => end(new ConversionRefused('failed', `the converter can't be started: ${error.message}`)))
    child.once('exit', (code, signal) => end(refusalOf(code, signal)))
    // Without descriptors there are no pipes, and the error event follows.
    const answers = child.stdio?.[ANSWER_DESCRIPTOR] as Readable | undefined
    // Pipes of a process that has died; its end says more.
    child.stdin?.on('error', () => undefined)
    answers?.on('error', () => undefined)
    answers?.on('data', (part: Buffer) => this.#receive(part))
    this.#setWaited(false)
  }

  /** @throws ConversionRefused; the reason of the signal if it aborts, which ends the process */
  async convert(task: ConversionTask, timeMsMax: number, signal: AbortSignal | undefined): Promise<string> {
    this.#setWaited(true)
    const timer = setTimeout(() => {
      this.#kill(new ConversionRefused('tooLong', `the conversion took longer than ${timeMsMax / 1000} s`))
    }, timeMsMax)
    const abort = (): void => this.#kill(signal?.reason instanceof Error ? signal.reason : new Error('the conversion was aborted'))
    signal?.addEventListener('abort', abort)
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#running = { resolve, reject }
        this.#child.stdin?.write(`${JSON.stringify(task)}\n`)
      })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      this.#setWaited(false)
    }
  }

  /** Its task, if there is one, is refused. */
  kill(): void {
    this.#kill(new ConversionRefused('failed', 'the converter was stopped'))
  }

  /** Whether it takes a further task. */
  get isUsable(): boolean {
    return !this.#isEnded
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#onEnd()
  }

  #kill(refusal: Error): void {
    this.#end()
    this.#settle((running) => running.reject(refusal))
    this.#child.kill('SIGKILL')
  }

  #receive(part: Buffer): void {
    try {
      if (this.#running === undefined) throw new Error('the converter sent an answer that nobody asked for')
      const answer = this.#reader.push(part)
      if (answer?.isLast === true) this.#end()
      if (answer !== undefined) this.#settle((running) => give(answer, running))
    } catch (error) {
      this.#kill(new ConversionRefused('failed', (error as Error).message))
    }
  }

  #settle(settle: (running: Running) => void): void {
    const running = this.#running
    this.#running = undefined
    if (running !== undefined) settle(running)
  }

  /** A process without a task does not keep its parent alive: it ends with it. */
  #setWaited(isWaited: boolean): void {
    const pipes = [this.#child.stdin, this.#child.stdio?.[ANSWER_DESCRIPTOR]]
    for (const handle of [this.#child, ...pipes] as ({ ref(): void; unref(): void } | null | undefined)[]) {
      if (isWaited) handle?.ref()
      else handle?.unref()
    }
  }
}

function give({ kind, text }: ConversionAnswer, running: Running): void {
  if (kind === 'text') running.resolve(text)
  else if (kind === 'tooLarge')
    running.reject(new ConversionRefused('tooLarge', `the text of the file has more than ${DOCUMENT_BYTES_MAX} bytes`))
  else running.reject(new ConversionRefused('failed', text))
}

function refusalOf(code: number | null, signal: string | null): ConversionRefused {
  // V8 aborts where its heap is full at once, before the process sees it.
  if (code === MEMORY_EXIT_CODE || signal === 'SIGABRT')
    return new ConversionRefused('tooMuchMemory', `the conversion needed more than ${CONVERTER_MEMORY_MB_MAX} MB of memory`)
  return new ConversionRefused('failed', `the converter ended by ${signal ?? `exit code ${code}`}`)
}
