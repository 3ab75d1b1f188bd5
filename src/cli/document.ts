/**
 * The items that every source of an import yields: documents as the bytes that go to the server, and problems
 * with their position. Pure data; any thread.
 */

export interface ImportDocument {
  readonly key: string
  readonly lang: string
  readonly meta: Readonly<Record<string, unknown>>
  readonly contentMd: string
  /** As an export has them: the server's to judge. */
  readonly expiresAt?: unknown
  readonly addedAt?: unknown
  readonly updatedAt?: unknown
}

export interface SourcePoint {
  /** The last item that counts as done, in the source's own terms. */
  readonly position: string
  /** How much of `total` has been consumed, that item included. */
  readonly consumed: number
}

/** Where an item stands in its source: the point behind it. */
interface Place extends SourcePoint {
  /** What the user reads: a path, or `line 12`. */
  readonly name: string
}

export interface DocumentItem extends Place {
  readonly kind: 'document'
  /** The document as JSON text, and its length in UTF-8 bytes. */
  readonly json: string
  readonly jsonBytes: number
  /** Lower-cased key and language: documents with the same one must arrive in order. */
  readonly identity: string
  /** Something the user should know although the document is imported. */
  readonly warning?: string
}

export interface ProblemItem extends Place {
  readonly kind: 'problem'
  readonly problem: string
}

export type SourceItem = DocumentItem | ProblemItem

export interface ImportSource {
  /** In units of `consumed`. */
  readonly total: number
  /** Changes when the source is another one, so that a position in the old one means nothing. */
  readonly fingerprint: string
  /**
   * In an order that is the same each time. `after` is where to continue. The generator holds one item at a
   * time.
   */
  items(after: SourcePoint | undefined): AsyncGenerator<SourceItem>
}

/** The source cannot be read at all: nothing of it was or will be imported. */
export class SourceError extends Error {}

export function documentItem(document: ImportDocument, place: Place, warning?: string): DocumentItem {
  const { key, lang, meta, contentMd, expiresAt, addedAt, updatedAt } = document
  const json = JSON.stringify({ key, lang, meta, contentMd, expiresAt, addedAt, updatedAt })
  return {
    kind: 'document',
    name: place.name,
    position: place.position,
    consumed: place.consumed,
    json,
    jsonBytes: Buffer.byteLength(json),
    identity: `${document.key.toLowerCase()}\0${document.lang.toLowerCase()}`,
    ...(warning === undefined ? {} : { warning }),
  }
}
