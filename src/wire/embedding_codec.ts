/** What lanes and front end say to each other about documents that are to be embedded. Structured clones as bytes where vectors or texts are in it; JSON else. */
import { deserialize, serialize } from 'node:v8'
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

/** The answer of a write, for when its documents have room among those that wait. */
export interface RoomFirst {
  readonly status: number
  readonly body: Uint8Array
  readonly named: NamedDocuments
}

type Message = CutDocuments | MadeVectors | RoomFirst

/** Bytes in a buffer of their own. */
export function encodeEmbedding(message: Message): Uint8Array {
  return new Uint8Array(serialize(message))
}

/** @param bytes from a thread of this process; what it holds are views of them */
export function decodeEmbedding<Of extends Message>(bytes: Uint8Array): Of {
  return deserialize(bytes) as Of
}
