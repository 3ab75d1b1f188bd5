/**
 * Messages between the front end (src/audit/audit_log.ts) and the thread of the audit log
 * (src/audit/thread.ts), and what a query asks for. Plain values.
 */
import type { AuditLines } from '../../telemetry/audit.js'

/** Checked and bounded by the operation's handler. Times: nanoseconds in decimal digits, inclusive. */
export interface AuditFilter {
  readonly from?: string
  readonly to?: string
  readonly actor?: string
  readonly action?: string
  readonly collection?: string
  /** Texts that stand for one document: its key, and hashes of it. */
  readonly keys?: readonly string[]
  readonly result?: 'ok' | 'fail'
  readonly limit: number
}

export interface ExporterState {
  readonly name: string
  readonly target: string
  /** Events that wait. */
  readonly queued: number
  readonly delivered: number
  /** Attempts that failed. Their events are tried again. */
  readonly failed: number
  /** Events that were lost because the queue was full. */
  readonly dropped: number
  /** Empty after a delivery that succeeded. */
  readonly lastError: string
  readonly bufferSize: number
}

/** What the operation's lane asks of the front end: dispatch/io.ts. */
export type AuditQuestion = { readonly kind: 'events'; readonly filter: AuditFilter } | { readonly kind: 'exporters' }

export type AuditOrder =
  /** `dropped`: events that the front end has dropped so far. */
  | { readonly kind: 'batch'; readonly lines: AuditLines; readonly dropped: number }
  | { readonly kind: 'ask'; readonly id: number; readonly question: AuditQuestion }
  /** Write and deliver what is there, and end. */
  | { readonly kind: 'close' }

export type AuditReport =
  /** A batch is on the disk, the oldest that was not. */
  | { readonly kind: 'written'; readonly events: number }
  /** Why nothing can be written; null: it can. The first one follows the opening of the log. */
  | { readonly kind: 'state'; readonly obstacle: string | null }
  /** Bytes of all files of the log. */
  | { readonly kind: 'size'; readonly bytes: number }
  /** The answer to a question, as JSON. Events: a list. */
  | { readonly kind: 'answer'; readonly id: number; readonly events: readonly string[]; readonly exporters: readonly ExporterState[] }
  /** Sums over the exporters. */
  | { readonly kind: 'exported'; readonly delivered: number; readonly failed: number; readonly dropped: number }

/** The `workerData` of the thread. */
export interface AuditThreadStart {
  /** Shared memory of telemetry/log.ts. */
  readonly log: SharedArrayBuffer
  readonly folder: string
  readonly fileBytesMax: number
  readonly retentionDays: number
  /** Of all files. */
  readonly bytesMax: number
  readonly ringSize: number
  /** Events in the queue of each exporter. */
  readonly queueMax: number
  readonly webhook: WebhookSettings | null
  readonly syslog: SyslogSettings | null
}

export interface WebhookSettings {
  readonly url: string
  /** Name, value, name, value ... May be secret. */
  readonly headers: readonly string[]
  /** Whether the certificate must be valid. */
  readonly checksCertificate: boolean
}

export interface SyslogSettings {
  readonly protocol: 'udp' | 'tcp' | 'tls'
  readonly host: string
  readonly port: number
  /** RFC 5424: 0 to 23. */
  readonly facility: number
}
