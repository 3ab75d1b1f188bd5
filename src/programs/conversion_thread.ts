/**
 * The thread of a converter process (programs/converter.ts) that reads files and converts them. It trusts no
 * file: what a library makes of it ends as an answer or ends the process.
 */
import { Buffer } from 'node:buffer'
import { parentPort } from 'node:worker_threads'
import { readWholeSealed } from '../base/sealed_files.js'
import { CONVERSION_REASON_BYTES_MAX, type ConversionAnswer, type ConversionTask } from '../conversion/conversion_frames.js'
import { convertBytes } from '../conversion/formats/converters.js'
import { DOCUMENT_BYTES_MAX } from '../limits/documents.js'

// Of a library that has given its answer already.
process.on('unhandledRejection', () => undefined)

parentPort?.on('message', (task: ConversionTask) => {
  answer(task).then(
    (result) => parentPort?.postMessage(result),
    (error: unknown) => parentPort?.postMessage({ kind: 'failed', text: reasonOf(task, error) }),
  )
})

async function answer({ path, key, format, textOnly, mainContent }: ConversionTask): Promise<Pick<ConversionAnswer, 'kind' | 'text'>> {
  const text = await convertBytes(await readWholeSealed(path, key ?? ''), format, textOnly, mainContent)
  return Buffer.byteLength(text) > DOCUMENT_BYTES_MAX ? { kind: 'tooLarge', text: '' } : { kind: 'text', text }
}

function reasonOf({ format }: ConversionTask, error: unknown): string {
  const message = error instanceof RangeError ? 'nested too deep, or too long' : error instanceof Error ? error.message : String(error)
  const line = (message.split('\n')[0] ?? '').slice(0, CONVERSION_REASON_BYTES_MAX / 4)
  return `no readable ${format}: ${line}`
}
