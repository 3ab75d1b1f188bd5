/**
 * The receiver of audit events on a further event loop and on the write lane: sends those of a turn of the
 * loop to the front end in one message. Their lines lack the time, which the front end fills in, so that
 * times increase strictly within the process.
 */
import type { AuditEvent, AuditReceiver, ForwardedLines } from '../telemetry/audit.js'
import { lineOf, NO_TIME } from './event_line.js'
import { LineBuffer } from './line_buffer.js'

export class ForwardedEvents implements AuditReceiver {
  readonly #lines = new LineBuffer()
  readonly #failures = new LineBuffer()
  #isScheduled = false

  constructor(readonly send: (lines: ForwardedLines) => void) {}

  take(event: AuditEvent): void {
    const lines = event.result === 'ok' ? this.#lines : this.#failures
    lines.append(lineOf(NO_TIME, event))
    this.#schedule()
  }

  /** Of a thread whose events come by way of this one. */
  takeLines(lines: ForwardedLines): void {
    this.send(lines)
  }

  #schedule(): void {
    if (this.#lines.isFull || this.#failures.isFull) this.#flush()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        this.#flush()
      })
    }
  }

  #flush(): void {
    for (let lines = this.#lines.take(); lines !== null; lines = this.#lines.take()) this.send({ ...lines, areFailures: false })
    for (let lines = this.#failures.take(); lines !== null; lines = this.#failures.take()) this.send({ ...lines, areFailures: true })
  }
}
