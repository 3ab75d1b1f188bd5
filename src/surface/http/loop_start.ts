/** What the thread of an event loop that serves HTTP is started with: plain values and shared memory. */
import type { AuthenticatorParts } from '../../access/authenticator.js'
import { Authenticator } from '../../access/authenticator.js'
import type { Config } from '../../config/config.js'
import type { Surface } from '../../dispatch/surface.js'
import type { GaugeName, Telemetry } from '../../telemetry/registry.js'
import type { BudgetKind, LoopBlock } from '../../wire/loop_block.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import { ByteBudget } from './bounds/byte_budget.js'

export interface HttpLoopStart {
  /** Its address has the real port. */
  readonly config: Config
  readonly surface: Surface
  readonly entry: Entry
  /** Its number; 0 is the loop of the dispatcher. */
  readonly loop: number
  /** Shared by all threads: src/wire/control_block.ts, telemetry/registry.ts, telemetry/log.ts. */
  readonly control: SharedArrayBuffer
  readonly telemetry: SharedArrayBuffer
  readonly log: SharedArrayBuffer
  /** Shared by the loops: src/wire/loop_block.ts. */
  readonly loops: SharedArrayBuffer
  /** Shared by all that serve clients: src/access/rate_limit.ts. Null: there is no rate limit. */
  readonly rateLimit: SharedArrayBuffer | null
  /** The generation of the store to read; null: none yet. */
  readonly generation: string | null
}

/** How connections come to an event loop. */
export interface Entry {
  /** The loop's own listener has TLS with this pair. Null: no TLS. */
  readonly files: TlsFiles | null
  /** Connections come from the gate, which says the address of the client. */
  readonly isBehindGate: boolean
}

export const PLAIN_ENTRY: Entry = { files: null, isBehindGate: false }

/** The authenticator of one of the loops. */
export function authenticatorOf({ auth }: Config, parts: Omit<AuthenticatorParts, 'jwtSecret'>): Authenticator {
  return new Authenticator({ jwtSecret: auth?.jwtSecret ?? null, ...parts })
}

/** The budgets of one of the loops, which share their bounds. */
export function budgetsOf(
  { limits }: Config,
  loops: LoopBlock,
  loop: number,
  telemetry: Telemetry,
): Readonly<Record<BudgetKind, ByteBudget>> {
  const gauge =
    (name: GaugeName) =>
    (used: number): void =>
      telemetry.set(name, used)
  return {
    bodies: new ByteBudget(limits.BODIES_IN_FLIGHT_BYTES_MAX, loops.bytes('bodies'), loop, gauge('bodies_in_flight_bytes')),
    unsent: new ByteBudget(limits.ANSWERS_UNSENT_BYTES_MAX, loops.bytes('unsent'), loop, gauge('answers_unsent_bytes')),
  }
}
