/** What a lane and the front end send each other on the lane's port, beside batches. */
import type { MessagePort } from 'node:worker_threads'
import type { Envelope } from './envelope.js'
import type { BlockMemory } from './envelope_blocks.js'
import type { ObjectsWanted } from './object_messages.js'

/**
 * The first message of a worker: on its own thread's port, with the port on which everything else comes and
 * the memory in which its answers lie.
 */
export interface LaneHello {
  readonly hello: true
  readonly port: MessagePort
  readonly answers: BlockMemory
}

/**
 * What a lane sends. `failed`: its context could not be opened; it will run nothing. `fatal`: the process
 * must not go on.
 */
export type LaneMessage =
  | { readonly kind: 'ready'; readonly row: number }
  | { readonly kind: 'answers'; readonly envelope: Envelope }
  | ObjectsWanted
  | { readonly kind: 'obeyed'; readonly number: number; readonly error: string | null }
  | { readonly kind: 'noticed'; readonly topics: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'fatal'; readonly reason: string }

/**
 * What the front end orders. `adopt` opens the generation where `open` was
 * not said, and is nothing where it is served already.
 */
export interface LaneOrder {
  readonly number: number
  readonly kind: 'open' | 'adopt' | 'drop'
  readonly generation: string
}
