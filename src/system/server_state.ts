/**
 * The state that an answer made on the event loop may read: settings and the present phase, nothing that
 * needs a store or a lane. Front-end thread only.
 */
import type { VectorConfig } from '../background/embedding/provider.js'
import type { Update } from '../background/update_check.js'
import type { AccessMode, Config } from '../config/config.js'
import type { Answer } from '../wire/answer.js'
import type { Phase } from '../wire/control_block.js'

/** A surface as `/v1/config` and `/v1/endpoints` show it. */
interface DescribedSurface {
  readonly name: string
  /** Undefined: it is off. */
  mode(config: Config): AccessMode | undefined
  readonly endpoints?: (config: Config) => readonly object[]
  readonly described?: (config: Config) => object
}

export interface ServerState {
  /** Open sessions of MCP by transport. Undefined: MCP is off. */
  mcpSessions(): { readonly sse: number; readonly streamable: number } | undefined
  readonly config: Config
  /**
   * By name of the surface: its address, e.g. `127.0.0.1:11023`, with the actual port, also if port 0 was
   * requested. Empty before they listen.
   */
  readonly listenAddresses: ReadonlyMap<string, string>
  /** All that there are, also those that are off. */
  readonly surfaces: readonly DescribedSurface[]
  /** What clients may do on any of the surfaces. */
  readonly mode: AccessMode
  /** Wall clock, milliseconds. */
  readonly startedAt: number
  phase(): Phase
  /** Reason of the phase `unhealthy`; empty otherwise. */
  phaseReason(): string
  /** Milliseconds that the lanes are behind the deadline of a request; 0: not at all. */
  lanesOverdueMs(): number
  /** The index lacks documents of the store: searches wait. */
  isIndexStale(): boolean
  /** There is no space for work that grows the store: writes are refused, reads continue. */
  isDiskFull(): boolean
  /** Free space under which writes are refused. */
  diskFloorBytes(): number
  /** The disk refuses the index, and the engine retries. */
  indexUnstored(): boolean
  /** The same for the vectors. */
  areVectorsUnstored(): boolean
  /** Number of findings of the comparison of the store with itself; 0: none. */
  damageFound(): number
  /** The index shows that the store lacks writes that had been on its disk. */
  areWritesLost(): boolean
  /** Why the audit log is not written; null: it is, or there is none. */
  auditObstacle(): string | null
  /** Bytes of the audit log, if it will soon remove events before their time; null: it will not. */
  auditNearlyFull(): number | null
  /** The embedding provider, without its key. */
  vectorConfig(): VectorConfig
  /** Undefined: not asked, or not answered yet. */
  update(): Update | undefined
}

/**
 * Answers an operation of cost `loop` from the state of the server. Must take microseconds: it runs between
 * two socket events.
 */
export type SystemAnswer = (state: ServerState, input: Readonly<Record<string, string>>) => Answer
