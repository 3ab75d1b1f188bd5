/**
 * A process that converts files, one at a time, in a thread (programs/conversion_thread.ts). This thread
 * keeps watch: it ends the process when its memory reaches its bound, or when its parent has ended,
 * whatever the other thread does. It reads no file itself. Started by src/conversion/converter_process.ts.
 */
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import { programPath } from '../base/installation.js'
import {
  ANSWER_DESCRIPTOR,
  type ConversionAnswer,
  type ConversionTask,
  encodeAnswer,
  MEMORY_EXIT_CODE,
} from '../conversion/conversion_frames.js'
import { CONVERTER_HEAP_MB_MAX, CONVERTER_MEMORY_MB_KEPT, CONVERTER_MEMORY_MB_MAX } from '../conversion/converter_memory.js'
import { MIB } from '../limits/units.js'

/** Memory is looked at so often: at a GB a second, which allocating takes, 20 MB come in between. */
const MEMORY_WATCH_MS = 20

const answers = createWriteStream('', { fd: ANSWER_DESCRIPTOR })
// What libraries print goes nowhere.
const thread = new Worker(programPath('conversion_thread'), {
  resourceLimits: { maxOldGenerationSizeMb: CONVERTER_HEAP_MB_MAX },
  env: {},
  stdin: false,
  stdout: true,
  stderr: true,
})
thread.stdout.resume()
thread.stderr.resume()

thread.on('message', (answer: Pick<ConversionAnswer, 'kind' | 'text'>) => {
  const isLast = process.memoryUsage.rss() > CONVERTER_MEMORY_MB_KEPT * MIB
  answers.write(encodeAnswer({ ...answer, isLast }), () => {
    if (isLast) process.exit(0)
  })
})
thread.on('error', (error) => process.exit((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? MEMORY_EXIT_CODE : 1))
thread.on('exit', () => process.exit(1))

setInterval(() => {
  if (process.memoryUsage.rss() > CONVERTER_MEMORY_MB_MAX * MIB) process.exit(MEMORY_EXIT_CODE)
}, MEMORY_WATCH_MS)

const tasks = createInterface({ input: process.stdin })
tasks.on('line', (line) => thread.postMessage(JSON.parse(line) as ConversionTask))
// The parent has closed the pipe, or has ended.
tasks.on('close', () => process.exit(0))
