/** The context of a search in addition to its request: the collection, and the stop signal. Types only. */
import type { StopWord } from '../../engine/types.js'
import type { CollectionSettings } from '../settings/collection_settings.js'

/** Signals that the client has disconnected or the deadline has passed. */
export interface Stop {
  shouldStop(): boolean
  /** The same signal for the native engines, which poll it while they work. */
  readonly stopWord?: StopWord
}

/** The collection that a request searches. Passed as undefined if the collection does not exist. */
export interface SearchedCollection {
  readonly id: number
  readonly settings: CollectionSettings
}
