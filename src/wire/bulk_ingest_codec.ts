/**
 * A bulk ingest on its way from the bulk lane, which has checked it, to the front end, which keeps its documents until their turn: one buffer of `u32 LE` bytes of a JSON header, the header,
 * the command that makes the job's record, and the bodies of its chunks.
 */

/** Documents that are prepared and committed together; the body of an `ingestChunk` request. */
export interface IngestChunk {
  readonly documents: number
  readonly body: Uint8Array
}

export interface SubmittedIngest {
  readonly id: string
  readonly collection: string
  /** Empty: nobody is told. */
  readonly callbackUrl: string
  readonly command: Uint8Array
  readonly chunks: readonly IngestChunk[]
}

type Header = readonly [
  id: string,
  collection: string,
  callbackUrl: string,
  commandBytes: number,
  chunks: readonly (readonly [documents: number, bytes: number])[],
]

export function encodeIngest({ id, collection, callbackUrl, command, chunks }: SubmittedIngest): Uint8Array {
  const parts = chunks.map(({ documents, body }) => [documents, body.length] as const)
  const header = Buffer.from(JSON.stringify([id, collection, callbackUrl, command.length, parts] satisfies Header))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(header.length)
  // A buffer of its own: it is transferred.
  const whole = new Uint8Array(4 + header.length + command.length + parts.reduce((sum, [, bytes]) => sum + bytes, 0))
  let at = 0
  for (const part of [length, header, command, ...chunks.map(({ body }) => body)]) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Views of the bytes. */
export function decodeIngest(bytes: Uint8Array): SubmittedIngest {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 4 + buffer.readUInt32LE(0)
  const [id, collection, callbackUrl, commandBytes, parts] = JSON.parse(buffer.toString('utf8', 4, at)) as Header
  const take = (count: number): Uint8Array => {
    at += count
    return bytes.subarray(at - count, at)
  }
  const command = take(commandBytes)
  return { id, collection, callbackUrl, command, chunks: parts.map(([documents, count]) => ({ documents, body: take(count) })) }
}
