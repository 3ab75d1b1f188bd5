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
import type { DumpFault } from './dump_error.js'

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
 * Reads no further part before the caller asks for the next frame, so a slow caller slows the writer.
 * @throws Error if the bytes are no frames, or end without one that says so
 */
export async function* readDumpFrames(parts: AsyncIterable<Buffer>): AsyncGenerator<DumpFrame> {
  let kept: Buffer[] = []
  let bytes = 0
  let wanted = HEAD_BYTES
  for await (const part of parts) {
    kept.push(part)
    bytes += part.length
    while (bytes >= wanted) {
      const all: Buffer = kept.length === 1 ? kept[0]! : Buffer.concat(kept, bytes)
      kept = [all]
      wanted = HEAD_BYTES + lengthOf(all)
      if (bytes < wanted) break
      yield readFrame(all.subarray(0, wanted))
      kept = [all.subarray(wanted)]
      bytes -= wanted
      wanted = HEAD_BYTES
    }
  }
}

function lengthOf(head: Buffer): number {
  const kind = head[0]!
  const length = head.readUInt32LE(1)
  if (kind > END || length > (kind === PAGES ? FRAME_BYTES_MAX : END_BYTES_MAX))
    throw new Error('the reader of the dump sent no valid frame')
  return length
}

function readFrame(bytes: Buffer): DumpFrame {
  const payload = bytes.subarray(HEAD_BYTES)
  if (bytes[0] === PAGES) return { pages: payload }
  const { fault, message } = JSON.parse(payload.toString()) as DumpEnd
  return { end: { fault, message: String(message) } }
}
