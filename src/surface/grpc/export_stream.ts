/** An answer in parts as a stream of chunks, at the pace of its client. */
import { nextPart } from '../../dispatch/awaited_answers.js'
import { KIB } from '../../limits/units.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import type { StreamCall } from './server_calls.js'

/** Bytes of one chunk of an export: well under the 4 MiB that clients accept by default. */
const GRPC_CHUNK_BYTES_MAX = 512 * KIB

/** The last chunk says so and has no data. @throws Error for a part that does not come */
export async function sendChunks(call: StreamCall, first: OutgoingAnswer): Promise<void> {
  const stop = new AbortController()
  call.on('cancelled', () => stop.abort())
  let part = first
  try {
    for (;;) {
      const body = typeof part.body === 'string' ? Buffer.from(part.body) : part.body
      for (let at = 0; at < body.length; at += GRPC_CHUNK_BYTES_MAX)
        await send(call, { data: body.subarray(at, at + GRPC_CHUNK_BYTES_MAX), is_last: false })
      if (part.rest === undefined) break
      part = await nextPart(part.rest, stop.signal)
      if (part.code !== null) throw new Error(`a part of the export failed: ${part.code}`)
    }
    await send(call, { data: new Uint8Array(), is_last: true })
  } catch (error) {
    part.rest?.end()
    throw error
  }
}

/**
 * Resolves when the flow control of the client has let the whole chunk pass. The return value of `write`
 * would not do: the package queues sixteen messages before it asks to wait.
 * @throws Error if the call is cancelled
 */
async function send(call: StreamCall, chunk: { readonly data: Uint8Array; readonly is_last: boolean }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onCancelled = (): void => reject(new Error('cancelled'))
    if (call.cancelled) return onCancelled()
    call.once('cancelled', onCancelled)
    call.write(chunk, (error?: Error | null) => {
      call.off('cancelled', onCancelled)
      if (error) reject(error)
      else resolve()
    })
  })
}
