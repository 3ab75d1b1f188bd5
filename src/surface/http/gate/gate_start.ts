/**
 * What the thread of the gate is started with. The gate is the listener of `SVC_TLS_CLIENT_AUTH=require`: it
 * completes the handshake, refuses clients without a valid certificate, and hands the connection to an event
 * loop by a unix socket. Plain values only. Decision: docs/decisions/operation/tls.md.
 */
import type { ListenAddress } from '../../../config/options/values.js'
import type { OverridableLimits } from '../../../limits/overridable.js'
import type { TlsFiles } from '../../../wire/tls_files.js'

export interface GateStart {
  readonly address: ListenAddress & { readonly kind: 'tcp' }
  readonly files: TlsFiles
  readonly limits: OverridableLimits
  /** The unix sockets of the event loops. */
  readonly sockets: readonly string[]
  /** Its own place among the loops. */
  readonly loop: number
  /** Shared by the loops: wire/loop_block.ts. */
  readonly loops: SharedArrayBuffer
  /** Shared by all threads: telemetry/registry.ts, telemetry/log.ts. */
  readonly telemetry: SharedArrayBuffer
  readonly log: SharedArrayBuffer
}
