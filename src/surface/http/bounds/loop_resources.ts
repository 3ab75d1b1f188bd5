/** What the requests of one event loop share. */
import type { SpareBuffers } from '../../../dispatch/port/spare_buffers.js'
import type { BodyWatch } from './body_watch.js'
import type { ByteBudget } from './byte_budget.js'
import type { OpenStreams } from './open_streams.js'
import type { WriteTurns } from './write_turns.js'

export interface LoopResources {
  /** The budget of the bytes of request bodies in memory. */
  readonly bodies: ByteBudget
  /** The budget of the bytes of answers that clients have not read yet. */
  readonly unsent: ByteBudget
  /** Bodies that are being received. */
  readonly receiving: BodyWatch
  /** Buffers for long bodies. */
  readonly spare: SpareBuffers
  /** In which large answers are written. */
  readonly turns: WriteTurns
  /** The streams that a shutdown ends: streamed bodies and pushed answers. */
  readonly streams: OpenStreams
  /** How long a client may read nothing of an answer in parts or of a pushed answer. */
  readonly stallMsMax: number
  readonly readsAgent: boolean
  /** Whether the server shuts down: connections close behind their next answer. */
  readonly isLeaving: () => boolean
  /** Whether the peer is the gate, which says the address of the client (gate/proxy_header.ts). */
  readonly isBehindGate: boolean
}
