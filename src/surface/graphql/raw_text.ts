/**
 * The content of a document on its way from the answer of a get to that of GraphQL, as the bytes of the JSON
 * string that it is in both: neither parsed nor written anew, which takes most of the time of a document of
 * some KB. One answer at a time; only the thread of GraphQL has them.
 */
import { randomUUID } from 'node:crypto'
import { KIB } from '../../limits/units.js'
import type { Pieces } from '../../wire/messages/thread_calls.js'

/**
 * Bytes of a document whose content is passed on as it is. To parse and write a shorter one takes less than
 * to look for its content.
 */
const GRAPHQL_RAW_BYTES_MIN = 1 * KIB

/** Stands for raw text while an answer is written. It is drawn anew in each thread, so no client knows it. */
const MARK = randomUUID()
const CONTENT = Buffer.from('"contentMd":"')
const END = Buffer.from('"}')

/** Raw texts of the answer that is being written, in their order. */
let written: RawText[] = []

export class RawText {
  /** @param bytes of a JSON string, without its quotes */
  constructor(readonly bytes: Uint8Array) {}

  toJSON(): string {
    written.push(this)
    return MARK
  }
}

/**
 * Reads the answer of a get, whose last member is the content.
 * @param body valid during this call only
 * @returns null for an answer that is short or has another form
 */
export function readDocument(body: Uint8Array): object | null {
  if (body.length < GRAPHQL_RAW_BYTES_MIN) return null
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  const begin = bytes.indexOf(CONTENT) + CONTENT.length
  const end = bytes.length - END.length
  // A key of the metadata can't be meant: its value is a list.
  if (begin < CONTENT.length || end < begin || bytes.compare(END, 0, END.length, end) !== 0) return null
  const rest = JSON.parse(`${bytes.toString('utf8', 0, begin)}"}`) as object
  return { ...rest, contentMd: new RawText(Uint8Array.prototype.slice.call(bytes, begin, end)) }
}

/** The answer's JSON text, in pieces. */
export function writeAnswer(result: object): Pieces {
  written = []
  const text = JSON.stringify(result)
  if (written.length === 0) return [text]
  const pieces: (string | Uint8Array)[] = []
  let from = 0
  for (const { bytes } of written) {
    const at = text.indexOf(MARK, from)
    pieces.push(text.slice(from, at), bytes)
    from = at + MARK.length
  }
  pieces.push(text.slice(from))
  return pieces
}
