/** Messages between a lane and the front end on the lane's port, beside batches. */
import type { MessagePort } from 'node:worker_threads'
import type { ForwardedLines } from '../../telemetry/audit.js'
import type { Envelope } from '../envelope.js'
import type { BlockMemory } from '../envelope_blocks.js'
import type { ObjectsWanted } from './object_messages.js'

/**
 * The first message of a worker, on its own thread's port. It contains the port for all other messages and
 * the memory of its answers.
 */
export interface LaneHello {
  readonly hello: true
  /** Number of the thread, by which the results of its batches name it. */
  readonly thread: number
  readonly port: MessagePort
  readonly answers: BlockMemory
  /** By which the thread can be profiled; null if that is off. */
  readonly profiles: MessagePort | null
}

/**
 * The result of a batch: its last answers, which so need no message of their own. Undefined: all were sent on
 * the lane's port before.
 */
export type BatchResult = { readonly thread: number; readonly answers: Envelope } | undefined

/**
 * Messages of a lane. `failed`: its context could not be opened; it will run nothing. `fatal`: the process
 * must not continue.
 */
export type LaneMessage =
  | { readonly kind: 'ready'; readonly row: number }
  | { readonly kind: 'answers'; readonly envelope: Envelope }
  | ObjectsWanted
  | { readonly kind: 'obeyed'; readonly number: number; readonly error: string | null }
  | { readonly kind: 'noticed'; readonly topics: readonly string[] }
  /** Audit events of background work. */
  | { readonly kind: 'audit'; readonly lines: ForwardedLines }
  | { readonly kind: 'failed'; readonly reason: string; readonly row: number }
  | { readonly kind: 'fatal'; readonly reason: string }

/**
 * Orders of the front end. `takeAccounts`: the write lane replaces the accounts of the generation, which is
 * open, by those of the store that it serves. `endTokens`: its accounts stay, and tokens that have ended in
 * the store that is served are ended there. `adopt` opens the generation if no `open` was sent before, and
 * does nothing if it is served already.
 */
export interface LaneOrder {
  readonly number: number
  readonly kind: 'open' | 'takeAccounts' | 'endTokens' | 'adopt' | 'drop'
  readonly generation: string
}
