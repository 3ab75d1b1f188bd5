/**
 * What an answer made on the loop may know of the server: settings and the present phase, nothing that needs
 * a store or a lane. Front-end thread only.
 */
import type { Config } from '../config/config.js'
import type { Answer } from '../wire/answer.js'
import type { Phase } from '../wire/control_block.js'
import type { VectorConfig } from '../background/embedding/provider.js'

export interface ServerState {
  readonly config: Config
  /**
   * Where the HTTP surface listens, e.g. `127.0.0.1:11023`: the real port, also where port 0 was asked for.
   */
  readonly listenAddress: string
  /** Wall clock, milliseconds. */
  readonly startedAt: number
  phase(): Phase
  /** Why the phase is `unhealthy`; empty otherwise. */
  phaseReason(): string
  /** How far the lanes are behind the deadline of a request; 0: not at all. */
  lanesOverdueMs(): number
  /** The index lacks what the store has: searches wait. */
  isIndexStale(): boolean
  /** There is no space for what grows the store: writes are refused, reads go on. */
  isDiskFull(): boolean
  /** Free space under which writes are refused. */
  diskFloorBytes(): number
  /** The disk refuses the index, and it is asked again. */
  indexUnstored(): boolean
  /** The same of the vectors. */
  areVectorsUnstored(): boolean
  /** Rows and documents that do not belong together, as the store compared with itself shows; 0: none. */
  damageFound(): number
  /** The store lacks writes that it had on its disk, as its index shows. */
  areWritesLost(): boolean
  /** The embedding provider, without its key. */
  vectorConfig(): VectorConfig
}

/**
 * Answers an operation of cost `loop` from the state of the server. Must take microseconds: it runs between
 * two socket events.
 */
export type SystemAnswer = (state: ServerState, input: Readonly<Record<string, string>>) => Answer
