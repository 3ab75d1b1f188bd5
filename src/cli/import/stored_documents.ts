/**
 * What a collection has before an import: a digest of each document, read from its export. A document of the
 * source with the same digest is not sent. Memory: about 200 bytes a document, for STORED_DOCUMENTS_MAX of
 * them. Main thread of the CLI.
 */
import { createHash } from 'node:crypto'
import { AnswerError, sendForBytes } from '../client.js'
import type { ImportDocument, SourceItem, UnchangedItem } from '../files/document.js'
import { identityOf } from '../files/document.js'
import { splitLines } from '../files/line_splitter.js'
import { patiently, ServerBusy } from './patience.js'
import { SOURCE_KEY } from './prepared_source.js'

/** Documents whose digests are kept: 100 MB. Those behind them count as changed, and are sent. */
const STORED_DOCUMENTS_MAX = 500_000
/** Bytes of one line of an export: a document of 16 MiB whose characters are escaped by six bytes each. */
const EXPORT_LINE_BYTES_MAX = 128 * 1024 * 1024
/** Bytes of a digest: a collision of 500 000 documents has the probability of 2^-91. */
const DIGEST_BYTES = 16
/** The collection may not be read, but perhaps written: everything is sent. */
export const WRITE_ONLY: readonly number[] = [401, 403]

export interface StoredDocument {
  readonly key: string
  readonly lang: string
  /** Undefined if the document has to be sent whatever the source has. */
  readonly digest: string | undefined
  /** The name that `--sync` has given to its source. */
  readonly source: string | undefined
}

/** By identity. An entry goes when its document is sent, so that a later version of it is sent too. */
export type StoredDocuments = Map<string, StoredDocument>

interface Listing {
  readonly documents: StoredDocuments
  /** Why documents of the collection may be missing. */
  readonly incomplete?: string
}

/**
 * Never changes the server. A collection that is absent or that may not be read has no documents.
 * @param onWait called with the reason before the export is requested again
 * @throws ImportStopped, AnswerError
 */
export function readStored(url: string, collection: string, onWait: (reason: string) => void): Promise<Listing> {
  return patiently(() => readExport(url, collection), onWait)
}

async function readExport(url: string, collection: string): Promise<Listing> {
  const documents: StoredDocuments = new Map()
  try {
    for await (const { bytes } of splitLines(sendForBytes(url, '/v1/export', JSON.stringify({ collection })), EXPORT_LINE_BYTES_MAX)) {
      const document = bytes === undefined ? undefined : readLine(bytes)
      if (document !== undefined) documents.set(identityOf(document), document)
      if (documents.size === STORED_DOCUMENTS_MAX) return { documents, incomplete: `it has more than ${STORED_DOCUMENTS_MAX} documents` }
    }
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error
    if (error.status === 503) throw new ServerBusy(error.message)
    if (error.status !== 404 && !WRITE_ONLY.includes(error.status)) throw error
    return error.status === 404 ? { documents } : { documents, incomplete: error.message }
  }
  return { documents }
}

/** Passes on what the server lacks, and marks the rest as unchanged. */
export async function* changedItems(items: AsyncIterable<SourceItem>, stored: StoredDocuments): AsyncGenerator<SourceItem | UnchangedItem> {
  for await (const item of items) {
    if (item.kind === 'problem' || !isUnchanged(item.document, stored.get(item.identity))) {
      if (item.kind === 'document') stored.delete(item.identity)
      yield item
    } else yield { kind: 'unchanged', name: item.name, position: item.position, consumed: item.consumed }
  }
}

/** A document with an expiry is always sent: the write begins its time anew. */
export function isUnchanged(document: ImportDocument, stored: StoredDocument | undefined): boolean {
  if (stored?.digest === undefined || (document.expiresAt ?? 0) !== 0) return false
  return stored.digest === digestOf(document)
}

/** Undefined where a line is no document: it counts as not stored. */
function readLine(bytes: Buffer): StoredDocument | undefined {
  const { key, lang, meta, contentMd, expiresAt } = JSON.parse(bytes.toString()) as Partial<ImportDocument>
  if (typeof key !== 'string' || typeof lang !== 'string' || typeof contentMd !== 'string') return undefined
  return storedAs({ key, lang, meta: meta ?? {}, contentMd, expiresAt })
}

/** What the server has once it has taken the document. */
export function storedAs(document: ImportDocument): StoredDocument {
  const { key, lang, meta, expiresAt } = document
  const digest = (expiresAt ?? 0) === 0 ? digestOf(document) : undefined
  const source = Object.hasOwn(meta, SOURCE_KEY) ? meta[SOURCE_KEY] : undefined
  return { key, lang, digest, source: Array.isArray(source) && source.length === 1 ? String(source[0]) : undefined }
}

/** Of spelling, text and metadata, whatever the order of metadata keys. */
function digestOf({ key, lang, meta, contentMd }: ImportDocument): string {
  const entries = Object.entries(meta).sort(([a], [b]) => (a < b ? -1 : 1))
  const hash = createHash('sha256')
    .update(JSON.stringify([key, lang, entries]))
    .update('\0')
    .update(contentMd)
  return hash.digest().toString('latin1', 0, DIGEST_BYTES)
}
