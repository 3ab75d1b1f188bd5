/**
 * Reads the lines of one file of the audit log and follows its chain. Used by a start, which resumes behind
 * the last seal, and by `mds audit verify`, which checks the whole log. Bytes are fed in pieces of any size;
 * memory is bounded by one batch. Pure. Format: docs/formats/audit-log.md.
 */
import { createHash, type Hash } from 'node:crypto'
import { AUDIT_BATCH_EVENTS_MAX } from '../limits/process.js'
import { KIB } from '../limits/units.js'
import { type Header, kindOf, parseHeader, parseSeal, type Seal, sumOf } from './chain.js'

/** Bytes of a line of the file: the seal of a full batch has 33 KB, an event at most 15 KB in UTF-8. */
const AUDIT_LINE_BYTES_MAX = 64 * KIB

/** A batch as it is in the file, whether or not it is what was sealed. */
export interface ReadBatch {
  readonly seal: Seal
  /** SHA-256 of the bytes that are there. */
  readonly hash: string
  /** Numbers of lines in the file, from 1: the first one of its events or its seal, and the seal. */
  readonly firstLine: number
  readonly sealLine: number
  /** Checksums of the lines of its events that are there. */
  readonly sums: readonly string[]
  /** Offset in the file behind its seal. */
  readonly end: number
}

interface ChainEvents {
  /** The bytes are valid during the call only. */
  readonly onEvent?: (line: Uint8Array) => void
  readonly onBatch: (batch: ReadBatch) => void
}

export class ChainReader {
  /** The first line, if it is a header. */
  header: Header | undefined
  /** Number of lines, the last one whole or not. */
  lines = 0
  /** Bytes behind the last seal, and the number of the first line of them. */
  tailBytes = 0
  tailLine = 1
  readonly #events: ChainEvents
  #hash: Hash = createHash('sha256')
  #sums: string[] = []
  #rest: Uint8Array = new Uint8Array(0)
  #offset = 0

  constructor(events: ChainEvents) {
    this.#events = events
  }

  /** @param bytes the next ones of the file; valid during the call only */
  feed(bytes: Uint8Array): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    let begin = 0
    for (let end = all.indexOf(0x0a); end >= 0; begin = end + 1, end = all.indexOf(0x0a, begin)) this.#line(all.subarray(begin, end + 1))
    // A line that is longer than any is taken in pieces: it is none of the log, and fits no checksum.
    for (; all.length - begin > AUDIT_LINE_BYTES_MAX; begin += AUDIT_LINE_BYTES_MAX)
      this.#line(all.subarray(begin, begin + AUDIT_LINE_BYTES_MAX))
    this.#rest = new Uint8Array(all.subarray(begin))
  }

  /** After the last bytes of the file. */
  end(): void {
    if (this.#rest.length === 0) return
    this.lines += 1
    this.tailBytes += this.#rest.length
  }

  /** @param line with its newline */
  #line(line: Uint8Array): void {
    const number = ++this.lines
    this.#offset += line.length
    this.#hash.update(line)
    const text = line.subarray(0, -1)
    const kind = kindOf(text)
    if (kind === 'header' && number === 1) this.header = parseHeader(text)
    const seal = kind === 'seal' ? parseSeal(text) : undefined
    if (seal !== undefined) this.#seal(seal, number)
    else this.#tail(line, text, number)
  }

  #tail(line: Uint8Array, text: Uint8Array, number: number): void {
    this.tailBytes += line.length
    if (number === 1 && this.header !== undefined) {
      this.tailLine = 2
      return
    }
    // More than any batch has: whatever follows, they do not fit a seal.
    if (this.#sums.length <= AUDIT_BATCH_EVENTS_MAX) this.#sums.push(sumOf(text))
    this.#events.onEvent?.(text)
  }

  #seal(seal: Seal, sealLine: number): void {
    const hash = this.#hash.digest('hex')
    this.#events.onBatch({ seal, hash, firstLine: this.tailLine, sealLine, sums: this.#sums, end: this.#offset })
    this.#hash = createHash('sha256')
    this.#sums = []
    this.tailBytes = 0
    this.tailLine = sealLine + 1
  }
}
