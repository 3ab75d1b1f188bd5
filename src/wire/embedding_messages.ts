/** What lanes and front end send to each other about documents that are to be embedded. */
import type { EmbeddedDocument } from '../domain/embedding/embedded_document.js'

/** A document to embed, as a lane has named it. */
export interface NamedDocument {
  readonly collection: number
  readonly docid: number
  /** LSN of the write that waits for it, 0: none does. */
  readonly queued: number
  /** Embedded again even where nothing has changed. */
  readonly force: boolean
}

export interface NamedDocuments {
  /** Of the store, hexadecimal: in another one the same numbers name other documents. */
  readonly epoch: string
  readonly documents: readonly NamedDocument[]
}

/** `gone`: there is no such document, or it does not wait any more. `current`: nothing has changed. `same`: written again as it was. `new`: its texts want vectors, if it has any. */
export type CutOutcome = 'gone' | 'current' | 'same' | 'new'

export interface CutDocument {
  readonly outcome: CutOutcome
  /** As it is to be stored; where it is new without the vectors of `texts`, one for each of its `given`. */
  readonly document: EmbeddedDocument
  readonly texts: readonly string[]
  /** Chunks that have their vectors already. */
  readonly reused: number
}

export interface CutDocuments {
  /** The store is another than the one of the request. */
  readonly isOther: boolean
  /** Of the first documents of the request, as many as the wanted number of texts takes. */
  readonly documents: readonly CutDocument[]
}

export interface MadeVectors {
  readonly epoch: string
  /** Id of a bulk ingest whose documents these are, which have no room; empty: none. */
  readonly job: string
  readonly documents: readonly EmbeddedDocument[]
}
