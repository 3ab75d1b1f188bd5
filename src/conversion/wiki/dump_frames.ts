/**
 * What passes between a server and the process that reads a dump for it (src/programs/dump_reader.ts): one
 * task as a line of JSON on the standard input, then frames on descriptor 3. The reader of frames does not
 * trust their writer: lengths are checked before bytes are kept. Pure; the parent and the child load it.
 *
 *   kind (1 byte: 0 pages, 1 end) | length (4 bytes, little-endian) | a batch of pages, or JSON
 */
import { Buffer } from 'node:buffer'
import { DOCUMENT_BYTES_MAX } from '../../limits/documents.js'
import { MIB } from '../../limits/units.js'
import { DUMP_FAULTS, type DumpFault } from './dump_error.js'

/** The descriptor of frames in the child. */
export const DUMP_FRAMES_DESCRIPTOR = 3
/**
 * Bytes at which a batch of pages ends early: 500 pages of 8 KB. It bounds the memory of the bulk lane, and
 * the time that others wait for it.
 */
export const PAGE_BATCH_BYTES_WANTED = 4 * MIB
/** The last page of a batch may be the longest document, and its head has less than 1 MiB. */
const FRAME_BYTES_MAX = PAGE_BATCH_BYTES_WANTED + DOCUMENT_BYTES_MAX + MIB
/** A reason names an element or a position. */
const END_BYTES_MAX = 16 * 1024

export interface DumpTask {
  readonly path: string
  /** Of a sealed file (src/base/sealed_files.ts); empty: it is not sealed. */
  readonly key: string
  readonly namespaces: readonly number[]
  readonly skipRedirects: boolean
  /** Documents of a batch. */
  readonly batchDocuments: number
  /** Pages of the dump that are passed over. */
  readonly after: number
  /** Of the dump, decompressed. */
  readonly bytesMax: number
}

/** Why the dump was read no further. */
export interface DumpEnd {
  /** Empty: it was read to its end. `unreadable`: the file could not be read. */
  readonly fault: DumpFault | 'unreadable' | ''
  readonly message: string
}

export type DumpFrame = { readonly pages: Buffer } | { readonly end: DumpEnd }

const HEAD_BYTES = 5
const PAGES = 0
const END = 1
const FAULTS: ReadonlySet<unknown> = new Set(['', 'unreadable', ...DUMP_FAULTS])

export function pagesFrame(batch: Buffer): Buffer {
  return frame(PAGES, batch)
}

export function endFrame(end: DumpEnd): Buffer {
  return frame(END, Buffer.from(JSON.stringify({ ...end, message: end.message.slice(0, END_BYTES_MAX / 8) })))
}

function frame(kind: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head[0] = kind
  head.writeUInt32LE(payload.length, 1)
  return Buffer.concat([head, payload])
}

/**
 * Reads no further part before the caller asks for the next frame, so a slow caller slows the writer. Keeps
 * one frame, however small the parts are that it comes in. Where the bytes end within a frame, the frames
 * end before it.
 * @throws Error if the bytes are no frames
 */
export async function* readDumpFrames(parts: AsyncIterable<Uint8Array>): AsyncGenerator<DumpFrame> {
  const head = Buffer.alloc(HEAD_BYTES)
  let headBytes = 0
  let payload = head
  let payloadBytes = 0
  for await (const part of parts) {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.length)
    for (let at = 0; at < bytes.length;) {
      if (headBytes < HEAD_BYTES) {
        const copied = bytes.copy(head, headBytes, at)
        headBytes += copied
        at += copied
        if (headBytes < HEAD_BYTES) break
        payload = Buffer.allocUnsafeSlow(lengthOf(head))
        payloadBytes = 0
      }
      const copied = bytes.copy(payload, payloadBytes, at)
      payloadBytes += copied
      at += copied
      if (payloadBytes < payload.length) break
      headBytes = 0
      yield readFrame(head[0]!, payload)
    }
  }
}

function lengthOf(head: Buffer): number {
  const kind = head[0]!
  const length = head.readUInt32LE(1)
  if (kind > END || length === 0 || length > (kind === PAGES ? FRAME_BYTES_MAX : END_BYTES_MAX))
    throw new Error('the reader of the dump sent no valid frame')
  return length
}

function readFrame(kind: number, payload: Buffer): DumpFrame {
  return kind === PAGES ? { pages: payload } : { end: readEnd(payload.toString()) }
}

function readEnd(text: string): DumpEnd {
  try {
    const { fault, message } = JSON.parse(text) as Partial<Record<keyof DumpEnd, unknown>>
    if (typeof message === 'string' && FAULTS.has(fault)) return { fault: fault as DumpEnd['fault'], message }
  } catch {
    // As one without its fields.
  }
  throw new Error('the reader of the dump sent no valid end')
}
