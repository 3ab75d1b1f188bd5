/**
 * Audit events: the one function by which any code of the front end reports one, and the receiver that it
 * goes to. Events contain names and ids, no content. Without a receiver the cost is one check. The receiver
 * of the main thread is src/audit/audit_log.ts, that of a further event loop forwards to it
 * (src/audit/forwarded_events.ts). Fields: service-2, "Audit event".
 */
/** An event without its time, which the log gives it. Unknown texts are empty. */
export interface AuditEvent {
  /** For example `auth.login` or `write./v1/add`. */
  readonly action: string
  /** Name of the principal; of a login the name that was tried, of bounded length. */
  readonly actor: string
  /** What the action was about: collections, else the path. */
  readonly resource: string
  /** The one collection that it was about, and the document, where they are known. */
  readonly collection?: string
  readonly key?: string
  readonly result: 'ok' | 'fail'
  /** Address of the client. */
  readonly ip: string
  readonly userAgent: string
  readonly detail?: string
  /** Number of events that this one stands for. */
  readonly count?: number
}

/** Whole lines of events (src/audit/event_line.ts). */
export interface AuditLines {
  readonly bytes: Uint8Array
  readonly events: number
}

/** Lines of another thread, without their times. */
export interface ForwardedLines extends AuditLines {
  /** Failures come apart from other events, because they may be folded. */
  readonly areFailures: boolean
}

/** Neither function throws; an event takes about a microsecond. */
export interface AuditReceiver {
  take(event: AuditEvent): void
  takeLines(lines: ForwardedLines): void
}

let receiver: AuditReceiver | undefined

/** Sets or removes the receiver of this thread. */
export function receiveAuditEvents(by: AuditReceiver | undefined): void {
  receiver = by
}

/** False: events need not be made. */
export function isAuditWanted(): boolean {
  return receiver !== undefined
}

export function emitAuditEvent(event: AuditEvent): void {
  receiver?.take(event)
}

/** @param lines as another thread has sent them */
export function passAuditLines(lines: ForwardedLines): void {
  receiver?.takeLines(lines)
}
