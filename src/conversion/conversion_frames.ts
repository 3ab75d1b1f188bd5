/**
 * What passes between a pool of converters and one of its processes: tasks as lines of JSON on the standard
 * input, answers as frames on descriptor 3. The reader of answers does not trust their writer: sizes are
 * checked before bytes are kept. Pure; the parent and the child load it.
 *
 *   kind (1 byte) | last (1 byte, 0 or 1) | length (4 bytes, little-endian) | text in UTF-8
 */
import { Buffer } from 'node:buffer'
import { DOCUMENT_BYTES_MAX } from '../limits/documents.js'
import type { ConvertedFormat } from './formats.js'

/** UTF-8 bytes of a reason that a converter gives. */
export const CONVERSION_REASON_BYTES_MAX = 1000

/** The descriptor of answers in the child. */
export const ANSWER_DESCRIPTOR = 3
/** With this code a child ends that has reached its bound of memory. */
export const MEMORY_EXIT_CODE = 71

export interface ConversionTask {
  readonly path: string
  /** Of a sealed file (src/base/sealed_files.ts); absent or empty: it is not sealed. */
  readonly key?: string
  readonly format: ConvertedFormat
  readonly textOnly: boolean
  /** Of HTML: without menus, sidebars and footers. */
  readonly mainContent?: boolean | undefined
}

const KINDS = ['text', 'failed', 'tooLarge'] as const
export interface ConversionAnswer {
  readonly kind: (typeof KINDS)[number]
  readonly text: string
  /** The child ends after this answer. */
  readonly isLast: boolean
}

const HEAD_BYTES = 6

export function encodeAnswer({ kind, text, isLast }: ConversionAnswer): Buffer {
  const bytes = Buffer.from(text)
  const head = Buffer.alloc(HEAD_BYTES)
  head[0] = KINDS.indexOf(kind)
  head[1] = isLast ? 1 : 0
  head.writeUInt32LE(bytes.length, 2)
  return Buffer.concat([head, bytes])
}

/** Puts the frame of one answer together. */
export class AnswerReader {
  #parts: Buffer[] = []
  #bytes = 0

  /** Undefined until the frame is complete. @throws Error if the bytes are no frame */
  push(part: Buffer): ConversionAnswer | undefined {
    this.#parts.push(part)
    this.#bytes += part.length
    if (this.#bytes < HEAD_BYTES) return undefined
    const first = this.#parts[0]!
    if (first.length < HEAD_BYTES) this.#parts = [Buffer.concat(this.#parts)]
    const head = this.#parts[0]!
    const kind = KINDS[head[0]!]
    const length = head.readUInt32LE(2)
    const lengthMax = kind === 'text' ? DOCUMENT_BYTES_MAX : CONVERSION_REASON_BYTES_MAX
    if (kind === undefined || head[1]! > 1 || length > lengthMax || this.#bytes > HEAD_BYTES + length)
      throw new Error('the converter sent no valid answer')
    if (this.#bytes < HEAD_BYTES + length) return undefined
    const text = Buffer.concat(this.#parts).toString('utf8', HEAD_BYTES)
    this.#parts = []
    this.#bytes = 0
    return { kind, text, isLast: head[1] === 1 }
  }
}
