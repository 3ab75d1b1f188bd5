/** Messages between lanes and front end about documents that are to be embedded. */
import type { EmbeddedDocument } from '../../domain/embedding/embedded_document.js'
import type { CutDocument, NamedDocument } from '../../domain/embedding/inputs.js'

export type { CutDocument, NamedDocument }

export interface NamedDocuments {
  /** Epoch of the store, hexadecimal: in another store the same numbers denote other documents. */
  readonly epoch: string
  readonly documents: readonly NamedDocument[]
}

export interface CutDocuments {
  /** The store differs from that of the request. */
  readonly isOther: boolean
  /** The first documents of the request, as many as fit into the requested number of texts. */
  readonly documents: readonly CutDocument[]
}

export interface MadeVectors {
  readonly epoch: string
  /** Id of a bulk ingest whose documents exceed the queue's capacity; empty: none. */
  readonly job: string
  readonly documents: readonly EmbeddedDocument[]
}

/** A reindex, as the lane has checked it. */
export interface ReindexMessage {
  /** Id of the collection; 0: there is none of the name. */
  readonly collection: number
  readonly name: string
  readonly documents: number
  readonly force: boolean
  /** Name of the user who asked for it; empty: access control is off. */
  readonly submitter: string
}
