/**
 * The receiver of audit events on a further event loop: sends those of a turn of the loop to the front end in
 * one message, which gives them their times.
 */
import { AUDIT_BATCH_EVENTS_MAX } from '../limits/audit.js'
import type { AuditEvent } from '../telemetry/audit.js'

export class ForwardedEvents {
  #events: AuditEvent[] = []
  #isScheduled = false

  constructor(readonly send: (events: readonly AuditEvent[]) => void) {}

  readonly take = (event: AuditEvent): void => {
    this.#events.push(event)
    if (this.#events.length >= AUDIT_BATCH_EVENTS_MAX) this.flush()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => this.flush())
    }
  }

  flush(): void {
    this.#isScheduled = false
    if (this.#events.length === 0) return
    const events = this.#events
    this.#events = []
    this.send(events)
  }
}
