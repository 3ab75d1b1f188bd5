/**
 * The items that every import source yields: documents as the bytes that are sent to the server, and problems
 * with their position. Pure data; any thread.
 */

export interface ImportDocument {
  readonly key: string
  readonly lang: string
  readonly meta: Readonly<Record<string, unknown>>
  readonly contentMd: string
  /** As in an export. Validated by the server. */
  readonly expiresAt?: unknown
  readonly addedAt?: unknown
  readonly updatedAt?: unknown
}

export interface SourcePoint {
  /** The last completed item, in the source's own terms. */
  readonly position: string
  /** How much of `total` has been consumed, including that item. */
  readonly consumed: number
}

/** Location of an item in its source: the point after it. */
export interface ItemOrigin extends SourcePoint {
  /** The name shown to the user: a path, or `line 12`. */
  readonly name: string
}

export interface DocumentItem extends ItemOrigin {
  readonly kind: 'document'
  readonly document: ImportDocument
  /** The document as JSON text, and its length in UTF-8 bytes. */
  readonly json: string
  readonly jsonBytes: number
  /** Lower-cased key and language. Documents with the same identity must arrive in order. */
  readonly identity: string
  /** A problem that the user should know about, although the document is imported. */
  readonly warning?: string
}

export interface ProblemItem extends ItemOrigin {
  readonly kind: 'problem'
  readonly problem: string
  /** The key that the document would have had, where it is known. */
  readonly key?: string
}

export type SourceItem = DocumentItem | ProblemItem

/** A document that the server has already, and that is not sent. */
export interface UnchangedItem extends ItemOrigin {
  readonly kind: 'unchanged'
}

export interface ImportSource {
  /** In units of `consumed`. */
  readonly total: number
  /** Changes if the source changes, so that positions in the old source become invalid. */
  readonly fingerprint: string
  /**
   * Yields the items in the same order each time. `after` is the point to continue from. The generator keeps
   * few items in memory at a time.
   */
  items(after: SourcePoint | undefined): AsyncGenerator<SourceItem>
  /** Each item is a file of its own, so two of one identity are a mistake. */
  readonly isOfFiles?: true
  /** A line about what was left out on purpose, once the items are read. */
  summary?(): string
}

/** The source cannot be read at all. None of it was or will be imported. */
export class SourceError extends Error {}

export function documentItem(document: ImportDocument, origin: ItemOrigin, warning?: string): DocumentItem {
  const { key, lang, meta, contentMd, expiresAt, addedAt, updatedAt } = document
  const json = JSON.stringify({ key, lang, meta, contentMd, expiresAt, addedAt, updatedAt })
  return {
    kind: 'document',
    name: origin.name,
    position: origin.position,
    consumed: origin.consumed,
    document,
    json,
    jsonBytes: Buffer.byteLength(json),
    identity: identityOf(document),
    ...(warning === undefined ? {} : { warning }),
  }
}

export function identityOf({ key, lang }: { readonly key: string; readonly lang: string }): string {
  return `${key.toLowerCase()}\0${lang.toLowerCase()}`
}
