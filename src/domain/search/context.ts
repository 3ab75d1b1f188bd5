/** The context of a search beside its request: the collection, and the signal to stop. Types only. */
import type { StopWord } from '../../engine/types.js'
import type { CollectionSettings } from '../settings/collection_settings.js'

/** The client has gone, or the deadline has passed. */
export interface Stop {
  shouldStop(): boolean
  /** The same for the native engines, which read it while they work. */
  readonly stopWord?: StopWord
}

/** The collection that a request searches. Undefined in its place: there is no such collection. */
export interface SearchedCollection {
  readonly id: number
  readonly settings: CollectionSettings
}
