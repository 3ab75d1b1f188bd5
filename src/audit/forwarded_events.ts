/**
 * The receiver of audit events on a further event loop and on the write lane: sends those of a turn of the
 * loop to the front end in one message. Their lines lack the time, which the front end fills in, so that
 * times increase strictly within the process.
 */
import type { AuditEvent, AuditLines, AuditReceiver } from '../telemetry/audit.js'
import { lineOf, NO_TIME } from './event_line.js'
import { LineBuffer } from './line_buffer.js'

export class ForwardedEvents implements AuditReceiver {
  readonly #lines = new LineBuffer()
  #isScheduled = false

  constructor(readonly send: (lines: AuditLines) => void) {}

  take(event: AuditEvent): void {
    this.#lines.append(lineOf(NO_TIME, event))
    this.#schedule()
  }

  /** Of a thread whose events come by way of this one. */
  takeLines(lines: AuditLines): void {
    this.send(lines)
  }

  #schedule(): void {
    if (this.#lines.isFull) this.#flush()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        this.#flush()
      })
    }
  }

  #flush(): void {
    for (let lines = this.#lines.take(); lines !== null; lines = this.#lines.take()) this.send(lines)
  }
}
