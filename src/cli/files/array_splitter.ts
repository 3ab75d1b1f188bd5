/**
 * Splits the bytes of a JSON array, or of objects that follow each other, into elements of bounded length,
 * without parsing them: brackets and strings are counted. A longer element is reported and skipped, and never
 * in memory as a whole. Pure, except for the stream that it reads.
 */
import type { Line } from './line_splitter.js'

/** One element. `number` counts elements from 1. */
export interface Element extends Line {
  /** The line, from 1, on which it begins. */
  readonly line: number
}

const NEWLINE = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** @returns whether JSON may have this byte between its parts */
export const isBlank = (byte: number): boolean => byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09

/**
 * An element need not be JSON: it ends at a comma or bracket outside of its own brackets and strings.
 * @param stream begins with `[`, behind blanks
 * @throws Error if the array does not end, or if something follows it
 */
export async function* splitArray(stream: AsyncIterable<Buffer>, elementBytesMax: number): AsyncGenerator<Element> {
  const state = new ArrayState(elementBytesMax)
  for await (const chunk of stream) yield* state.read(chunk)
  if (!state.isEnded) throw new Error(`the array is cut off in line ${state.line}`)
}

/**
 * As `splitArray`, of objects without an array around them, over as many lines as they have.
 * @throws Error if the last one does not end
 */
export async function* splitObjects(stream: AsyncIterable<Buffer>, elementBytesMax: number): AsyncGenerator<Element> {
  const state = new ArrayState(elementBytesMax, 'objects')
  for await (const chunk of stream) yield* state.read(chunk)
  if (state.isWithin) throw new Error(`the object is cut off in line ${state.line}`)
}

class ArrayState {
  line = 1
  #depth: number
  #isInString = false
  #isEscaped = false
  #number = 0
  #begunInLine = 0
  #buffered = 0
  #parts: Buffer[] = []

  /** @param form objects are elements at the depth of those of an array */
  constructor(
    readonly elementBytesMax: number,
    readonly form: 'array' | 'objects' = 'array',
  ) {
    this.#depth = form === 'array' ? 0 : 1
  }

  get isEnded(): boolean {
    return this.#depth === 0 && this.#number > 0
  }

  get isWithin(): boolean {
    return this.#begunInLine > 0
  }

  *read(chunk: Buffer): Generator<Element> {
    let begin = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!
      if (byte === NEWLINE) this.line += 1
      if (this.#isInString) {
        this.#readInString(byte)
        continue
      }
      if (isBlank(byte)) continue
      if (this.isEnded) throw new Error(`something follows the array in line ${this.line}`)
      if (this.form === 'objects') {
        if (this.#begunInLine === 0) this.#begunInLine = this.line
        this.#count(byte)
        if (this.#depth > 1 || byte !== CLOSE_OBJECT) continue
        yield this.#take(chunk.subarray(begin, at + 1), false)!
        begin = at + 1
        continue
      }
      if (this.#depth === 1 && (byte === COMMA || byte === CLOSE_LIST)) {
        const element = this.#take(chunk.subarray(begin, at), byte === CLOSE_LIST)
        if (element !== undefined) yield element
        begin = at + 1
      } else if (this.#depth === 0) begin = at + 1
      else if (this.#begunInLine === 0) this.#begunInLine = this.line
      this.#count(byte)
    }
    if (this.#depth > 0) this.#hold(chunk.subarray(begin))
  }

  #readInString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInString = false
  }

  #count(byte: number): void {
    if (byte === QUOTE) this.#isInString = true
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#depth += 1
    // At depth 1 no element is open: an end there is a fault of it, but for that of the array.
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (this.#depth > 1 || (byte === CLOSE_LIST && this.form === 'array')) this.#depth -= 1
    }
  }

  #hold(part: Buffer): void {
    this.#buffered += part.length
    if (this.#buffered > this.elementBytesMax) this.#parts = []
    else this.#parts.push(part)
  }

  /** Undefined for the end of an empty array. */
  #take(rest: Buffer, isLast: boolean): Element | undefined {
    this.#hold(rest)
    const bytes = this.#buffered > this.elementBytesMax ? undefined : Buffer.concat(this.#parts, this.#buffered)
    const isEmpty = isLast && this.#number === 0 && this.#begunInLine === 0
    this.#number += 1
    const line = this.#begunInLine === 0 ? this.line : this.#begunInLine
    this.#parts = []
    this.#buffered = 0
    this.#begunInLine = 0
    return isEmpty ? undefined : { number: this.#number, line, bytes }
  }
}
