/**
 * Pages of a dump on their way from the process that reads it to the lane that stores them: a sequence of
 * items, which what lies in between passes on unread. The lane trusts neither lengths nor texts. Pure.
 *
 *   item: length of the head (4 bytes, little-endian) | length of the content (4 bytes) | head | content
 *   head: JSON [pages, skipped], then [title, key, metadata] of a document, or [title, problem] of a page
 *         that can't be one
 */
import { Buffer } from 'node:buffer'
import { DOCUMENT_BYTES_MAX } from '../../limits/documents.js'

/** UTF-8 bytes of a head: seven fields of a page of at most 4 096 characters each, as JSON. */
const PAGE_HEAD_BYTES_MAX = 256 * 1024
/** A batch of nothing but pages that can't be documents, whose titles have one letter, has 90 000. */
const PAGE_BATCH_ITEMS_MAX = 128 * 1024
const LENGTHS_BYTES = 8

export type PageMetadata = Readonly<Record<string, readonly string[]>>

export interface PageItem {
  /** Pages of the dump since the item before this one, its own included. */
  readonly pages: number
  /** How many of them were left out. */
  readonly skipped: number
  /** Empty: the item only says that pages were left out. */
  readonly title: string
  /** Empty: the page is a document. */
  readonly problem: string
  readonly key: string
  readonly meta: PageMetadata
  readonly contentMd: string
}

/** Puts a batch together. */
export class PageBatchWriter {
  #parts: Buffer[] = []
  bytes = 0
  documents = 0

  document(pages: number, skipped: number, title: string, { key, meta, contentMd }: Pick<PageItem, 'key' | 'meta' | 'contentMd'>): void {
    this.documents += 1
    this.#add([pages, skipped, title, key, meta], Buffer.from(contentMd))
  }

  problem(pages: number, skipped: number, title: string, problem: string): void {
    this.#add([pages, skipped, title, problem], NOTHING)
  }

  /** Pages that were left out. */
  gap(pages: number, skipped: number): void {
    this.#add([pages, skipped], NOTHING)
  }

  /** The batch, which begins again. */
  take(): Buffer {
    const batch = Buffer.concat(this.#parts, this.bytes)
    this.#parts = []
    this.bytes = 0
    this.documents = 0
    return batch
  }

  #add(fields: readonly unknown[], content: Buffer): void {
    const head = Buffer.from(JSON.stringify(fields))
    const lengths = Buffer.alloc(LENGTHS_BYTES)
    lengths.writeUInt32LE(head.length, 0)
    lengths.writeUInt32LE(content.length, 4)
    this.#parts.push(lengths, head, content)
    this.bytes += LENGTHS_BYTES + head.length + content.length
  }
}

const NOTHING = Buffer.alloc(0)

/** @throws Error for bytes that no `PageBatchWriter` made */
export function readPageBatch(batch: Uint8Array): readonly PageItem[] {
  const bytes = Buffer.from(batch.buffer, batch.byteOffset, batch.length)
  const items: PageItem[] = []
  let at = 0
  while (at < bytes.length) {
    if (bytes.length - at < LENGTHS_BYTES) throw new Error('a batch of pages ends within an item')
    if (items.length >= PAGE_BATCH_ITEMS_MAX) throw new Error('a batch of pages has too many items')
    const head = at + LENGTHS_BYTES
    const content = head + bytes.readUInt32LE(at)
    const end = content + bytes.readUInt32LE(at + 4)
    if (content - head > PAGE_HEAD_BYTES_MAX || end - content > DOCUMENT_BYTES_MAX || end > bytes.length)
      throw new Error('an item of a batch of pages is too long')
    items.push(readItem(JSON.parse(bytes.toString('utf8', head, content)), bytes.toString('utf8', content, end)))
    at = end
  }
  return items
}

function readItem(fields: unknown, contentMd: string): PageItem {
  if (!Array.isArray(fields)) throw new Error('an item of a batch of pages has no head')
  const [pages, skipped, title = '', keyOrProblem = '', meta = null] = fields as readonly unknown[]
  if (!isCount(pages) || !isCount(skipped) || typeof title !== 'string' || typeof keyOrProblem !== 'string' || typeof meta !== 'object')
    throw new Error('an item of a batch of pages has a wrong head')
  if (meta === null) return { pages, skipped, title, problem: keyOrProblem, key: '', meta: {}, contentMd: '' }
  if (!Object.values(meta).every(isTexts)) throw new Error('an item of a batch of pages has wrong metadata')
  return { pages, skipped, title, problem: '', key: keyOrProblem, meta: meta as PageMetadata, contentMd }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
