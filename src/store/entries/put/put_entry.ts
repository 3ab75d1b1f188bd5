/** The fields of a `put` entry. */
import type { EntryBase } from '../entry_kind.js'

/** A new state of a document. Creates the collection when its id is new. */
export interface PutEntry extends EntryBase {
  readonly kind: 'put'
  readonly collectionName: string
  readonly key: string
  readonly lang: string
  /** The head record as stored. */
  readonly head: Buffer
  /** Superseded states with a lower number are removed. 0: all are kept. */
  readonly trimBelow: number
  /**
   * Record of the object that the body has in a storage backend. Null: the body has no object, or keeps the
   * one that it had.
   */
  readonly object: Buffer | null
  /** The document is to be embedded. */
  readonly wantsVectors: boolean
  /** Unix seconds of the write. Undefined: the `updatedAt` of its head. */
  readonly at?: number
}
