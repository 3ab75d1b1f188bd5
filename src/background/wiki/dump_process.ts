/**
 * The process that reads one dump (src/programs/dump_reader.ts), as its parent sees it. Whatever the process
 * does, its frames end, by its last one or by an error. Front-end thread only.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { programPath } from '../../base/installation.js'
import { lowerPriorityOf } from '../../base/thread_priority.js'
import { DUMP_FRAMES_DESCRIPTOR, type DumpFrame, type DumpTask, readDumpFrames } from '../../conversion/wiki/dump_frames.js'

/**
 * V8's old space of the process: ten times what a dump of usual pages takes, and enough for the longest page
 * with its copies.
 */
const DUMP_READER_HEAP_MB_MAX = 384
/** Threads that answer requests go first, also before the process starts and collects its garbage. */
const DUMP_READER_NICE = 10
/** From the end of its frames to the end of a process, which has nothing left to do. */
const DUMP_READER_END_MS_MAX = 2_000

export class DumpProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<string>

  /** @param program the reader's, but in tests of what another one might do */
  constructor(task: DumpTask, program = programPath('dump_reader')) {
    const child = spawn(process.execPath, [`--max-old-space-size=${DUMP_READER_HEAP_MB_MAX}`, program], {
      // Nothing of the server's configuration.
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    })
    lowerPriorityOf(child.pid, DUMP_READER_NICE)
    this.#child = child
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(`the reader of the dump can't be started: ${error.message}`))
      child.once('exit', (code, signal) => resolve(`the reader of the dump ended by ${signal ?? `exit code ${code}`}`))
    })
    // The pipes of a process that has died; its end says more.
    child.stdin?.on('error', () => undefined)
    child.stdin?.write(`${JSON.stringify(task)}\n`)
  }

  /** The last one says why there are no more, also where the process has not said so. Never throws. */
  async *frames(): AsyncGenerator<DumpFrame> {
    const pipe = this.#child.stdio?.[DUMP_FRAMES_DESCRIPTOR] as Readable | undefined
    try {
      for await (const frame of readDumpFrames((pipe ?? []) as AsyncIterable<Buffer>)) {
        yield frame
        if ('end' in frame) return
      }
    } catch (error) {
      this.kill()
      yield { end: { fault: 'unreadable', message: (error as Error).message } }
      return
    }
    yield { end: { fault: 'unreadable', message: await this.#whyEnded() } }
  }

  async #whyEnded(): Promise<string> {
    const late = setTimeout(() => this.kill(), DUMP_READER_END_MS_MAX)
    try {
      return await this.#ended
    } finally {
      clearTimeout(late)
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
