/**
 * An import source for JSON, with or without gzip: a record a line, an array of records, or objects over
 * several lines; what a record may be says json_records.ts. Gzip is detected by the first two bytes, the form
 * by the first ones, not by the name. A position is the number of a line or element. Only one record is in
 * memory at a time.
 */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createGunzip } from 'node:zlib'
import { BODY_BYTES_DEFAULT } from '../../limits/documents.js'
import { type Element, isBlank, splitArray, splitObjects } from '../files/array_splitter.js'
import type { ImportSource, SourceItem } from '../files/document.js'
import { documentItem, SourceError } from '../files/document.js'
import { decodeUtf8 } from '../files/document_file.js'
import type { Line } from '../files/line_splitter.js'
import { splitLines } from '../files/line_splitter.js'
import { JsonRecords, type RecordOptions } from './json_records.js'

/** Bytes of one record: what fits in a request body with its frame. */
export const IMPORT_LINE_BYTES_MAX = BODY_BYTES_DEFAULT - 1024

const READ_BYTES = 256 * 1024
/** Pieces of blanks in front of the first record that are kept to see what it is: 16 MB. */
const BLANK_CHUNKS_MAX = 64
const NEWLINE = 0x0a
const OPEN_LIST = 0x5b
const OPEN_OBJECT = 0x7b
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

export async function openNdjson(path: string, options: RecordOptions): Promise<ImportSource> {
  const { size, mtimeMs, isGzip } = await inspect(path)
  return {
    total: size,
    fingerprint: `ndjson ${resolve(path)} ${size} ${mtimeMs}`,
    async *items(after) {
      const firstNew = after === undefined ? 1 : Number(after.position) + 1
      const records = new JsonRecords(options)
      let last: Line | undefined
      const file = createReadStream(path, { highWaterMark: READ_BYTES })
      try {
        for await (const record of splitRecords(isGzip ? gunzip(file) : file)) {
          if (record.number < firstNew || (record.line === undefined && record.bytes?.length === 0)) continue
          last = record
          const item = readRecord(record, file.bytesRead, records)
          if (item !== undefined) yield item
        }
        if (last !== undefined && records.isWaiting)
          yield {
            kind: 'problem',
            name: nameOf(last),
            position: String(last.number),
            consumed: size,
            ...records.refuse('its document is missing'),
          }
      } catch (cause) {
        throw new SourceError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
      } finally {
        file.destroy()
      }
    },
  }
}

export async function inspect(path: string): Promise<{ size: number; mtimeMs: number; isGzip: boolean }> {
  const file = await open(path).catch((cause: unknown) => {
    throw new SourceError(`cannot open ${path}`, { cause })
  })
  try {
    const { size, mtimeMs } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return { size, mtimeMs, isGzip: bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b }
  } finally {
    await file.close()
  }
}

/**
 * `pipe` forwards no errors, but the reader of the gunzip stream must get a failed read as well as a
 * truncated archive.
 */
export function gunzip(file: ReturnType<typeof createReadStream>): AsyncIterable<Buffer> {
  const stream = createGunzip({ chunkSize: READ_BYTES })
  file.on('error', (error) => stream.destroy(error))
  return file.pipe(stream)
}

/** Lines, the elements of the array with which the bytes begin, or objects over several lines each. */
async function* splitRecords(stream: AsyncIterable<Buffer>): AsyncGenerator<Line & Partial<Element>> {
  const chunks = stream[Symbol.asyncIterator]()
  const ahead: Buffer[] = []
  let form: RecordForm | undefined
  while (form === undefined && ahead.length <= BLANK_CHUNKS_MAX) {
    const next = await chunks.next()
    if (next.done === true) break
    ahead.push(ahead.length === 0 && next.value.subarray(0, 3).equals(BYTE_ORDER_MARK) ? next.value.subarray(3) : next.value)
    form = formOf(Buffer.concat(ahead))
  }
  async function* whole(): AsyncGenerator<Buffer> {
    yield* ahead.splice(0)
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  if (form === 'array') yield* splitArray(whole(), IMPORT_LINE_BYTES_MAX)
  else if (form === 'objects') yield* splitObjects(whole(), IMPORT_LINE_BYTES_MAX)
  else yield* splitLines(whole(), IMPORT_LINE_BYTES_MAX)
}

type RecordForm = 'array' | 'objects' | 'lines'

/** Undefined where more has to be seen. A brace alone in its line begins an object as programs lay it out. */
function formOf(bytes: Buffer): RecordForm | undefined {
  const first = bytes.findIndex((byte) => !isBlank(byte))
  if (first < 0) return undefined
  if (bytes[first] === OPEN_LIST) return 'array'
  if (bytes[first] !== OPEN_OBJECT) return 'lines'
  const second = bytes.findIndex((byte, at) => at > first && (byte === NEWLINE || !isBlank(byte)))
  if (second < 0) return undefined
  return bytes[second] === NEWLINE ? 'objects' : 'lines'
}

const nameOf = ({ number, line }: Line & Partial<Element>): string =>
  line === undefined ? `line ${number}` : `element ${number} in line ${line}`

/** Undefined where the next record belongs to it. */
function readRecord(record: Line & Partial<Element>, consumed: number, records: JsonRecords): SourceItem | undefined {
  const origin = { name: nameOf(record), position: String(record.number), consumed }
  const value = parse(record.bytes)
  const read = 'problem' in value ? records.refuse(value.problem) : records.read(value.json)
  if (read === undefined) return undefined
  return 'problem' in read ? { kind: 'problem', ...origin, ...read } : documentItem(read, origin)
}

function parse(bytes: Buffer | undefined): { readonly json: unknown } | { readonly problem: string } {
  if (bytes === undefined) return { problem: `longer than ${IMPORT_LINE_BYTES_MAX} bytes` }
  const text = decodeUtf8(bytes)
  if (text === undefined) return { problem: 'not valid UTF-8' }
  try {
    return { json: JSON.parse(text) }
  } catch (error) {
    return { problem: `invalid JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}
