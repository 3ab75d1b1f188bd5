/**
 * The interface for what differs between the providers' HTTP APIs. Retries, turns and checks of vectors are
 * in remote_provider.ts. Pure.
 */
import type { EmbeddingRole } from './provider.js'

export interface Protocol {
  /** Appended to the base address. */
  readonly path: string
  /** Maximum number of texts per request: the provider's limit. */
  readonly textsMax: number
  /**
   * Maximum UTF-8 bytes of all texts of one request. A token has at least one byte, so this also enforces the
   * provider's token limit.
   */
  readonly textBytesMax: number
  /**
   * UTF-8 bytes to which a text is truncated before it is sent. If the request was refused, the text is
   * truncated to the second value. Undefined: the provider truncates by itself.
   */
  readonly cuts: { readonly first: number; readonly second: number | undefined }
  /** Whether vectors can be requested in base64 instead of decimal text. */
  readonly canEncode: boolean
  readonly body: (request: ProtocolRequest) => Readonly<Record<string, unknown>>
  /**
   * One row per text, in the order of the texts: a list of numbers, or base64 of little-endian float32. The
   * rows themselves are not checked.
   * @throws BadAnswer
   */
  readonly rows: (answer: unknown, count: number) => readonly unknown[]
}

interface ProtocolRequest {
  readonly model: string
  readonly texts: readonly string[]
  readonly role: EmbeddingRole
  /**
   * Set only if the model supports another number of dimensions than its own and another number is
   * configured.
   */
  readonly dimensions: number | undefined
  readonly isEncoded: boolean
}

/** A response with a success status that is unusable. */
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

/**
 * Reads `{data: [{index, embedding}]}`, in any order.
 * @throws BadAnswer
 */
export function indexedRows(answer: unknown, count: number): readonly unknown[] {
  const rows = new Array<unknown>(count).fill(undefined)
  for (const item of listOf(objectOf(answer).data, count)) {
    const { index, embedding } = objectOf(item)
    const isIndex = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < count
    if (!isIndex || rows[index] !== undefined) throw new BadAnswer('an index is missing, wrong or there twice')
    rows[index] = embedding ?? null
  }
  return rows
}
