/** How connections come to an event loop. Plain values, also for threads. */
import type { TlsFiles } from '../../wire/tls_files.js'

export interface Entry {
  /** The loop's own listener has TLS with this pair. Null: no TLS. */
  readonly files: TlsFiles | null
  /** Connections come from the gate, which says the address of the client. */
  readonly isBehindGate: boolean
}

export const PLAIN_ENTRY: Entry = { files: null, isBehindGate: false }
