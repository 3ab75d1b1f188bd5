/**
 * How one provider is asked: what differs between them, and nothing else. Retries, turns, checks of vectors:
 * remote_provider.ts. Pure.
 */
import type { EmbeddingRole } from './provider.js'

export interface Protocol {
  /** Behind the base address. */
  readonly path: string
  /** Texts of one request, at most: the provider's bound. */
  readonly textsMax: number
  /**
   * UTF-8 bytes of all texts of one request. A token has at least one byte, so that the provider's bound of
   * tokens holds.
   */
  readonly textBytesMax: number
  /**
   * UTF-8 bytes to which a text is cut before it is sent; where that was refused, to the second. Undefined:
   * the provider cuts by itself.
   */
  readonly cuts: { readonly first: number; readonly second: number | undefined }
  /** Whether vectors can be asked for in base64 instead of as decimal text. */
  readonly canEncode: boolean
  readonly body: (request: ProtocolRequest) => Readonly<Record<string, unknown>>
  /**
   * One row a text, in their order: a list of numbers, or base64 of little-endian float32. Nothing of it is
   * checked further. @throws BadAnswer
   */
  readonly rows: (answer: unknown, count: number) => readonly unknown[]
}

export interface ProtocolRequest {
  readonly model: string
  readonly texts: readonly string[]
  readonly role: EmbeddingRole
  /** Only where the model can give another number than its own, and is to. */
  readonly dimensions: number | undefined
  readonly isEncoded: boolean
}

/** An answer with a status of success that can't be used. */
export class BadAnswer extends Error {
  constructor(text: string) {
    super(text)
    this.name = 'BadAnswer'
  }
}

/** @throws BadAnswer */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadAnswer('the answer is no object')
  return value as Readonly<Record<string, unknown>>
}

/** @throws BadAnswer */
export function listOf(value: unknown, count: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadAnswer('the answer has no list of vectors')
  if (value.length !== count) throw new BadAnswer(`${value.length} vectors for ${count} texts`)
  return value
}

/** `{data: [{index, embedding}]}`, in any order. @throws BadAnswer */
export function indexedRows(answer: unknown, count: number): readonly unknown[] {
  const rows = new Array<unknown>(count).fill(undefined)
  for (const item of listOf(objectOf(answer).data, count)) {
    const { index, embedding } = objectOf(item)
    const isPlace = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < count
    if (!isPlace || rows[index] !== undefined) throw new BadAnswer('an index is missing, wrong or there twice')
    rows[index] = embedding ?? null
  }
  return rows
}
