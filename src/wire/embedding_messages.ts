/** What lanes and front end send to each other about documents that are to be embedded. */
import type { EmbeddedDocument } from '../domain/embedding/embedded_document.js'
import type { CutDocument, NamedDocument } from '../domain/embedding/inputs.js'

export type { CutDocument, NamedDocument }

export interface NamedDocuments {
  /** Of the store, hexadecimal: in another one the same numbers name other documents. */
  readonly epoch: string
  readonly documents: readonly NamedDocument[]
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
