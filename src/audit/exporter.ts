/**
 * Sends events somewhere else, in order and in batches, from a bounded queue. A delivery that fails is tried
 * again after a back-off, for as long as it takes; meanwhile the oldest events are lost when the queue is
 * full, and counted. So a receiver may get an event twice, and never gets them in another order. Thread of
 * the audit log.
 */
import { log } from '../telemetry/log.js'
import type { ExporterState } from '../wire/messages/audit_messages.js'

/** Events of one request to a webhook, or of one write to a syslog server: 512 of 250 bytes are 128 KB. */
const AUDIT_EXPORT_BATCH_EVENTS_MAX = 512
/** Milliseconds until a delivery that failed is tried again: doubled from the first to the last. */
const AUDIT_EXPORT_RETRY_MS_FIRST = 250
const AUDIT_EXPORT_RETRY_MS_MAX = 60_000
/** Characters of the last error of an exporter, as `GET /v1/audit/exporters` shows it. */
const AUDIT_ERROR_CHARS_MAX = 200

export interface Sink {
  /** `webhook` or `syslog`. */
  readonly name: string
  /** Where the events go, without credentials. */
  readonly target: string
  /**
   * Resolves when the receiver, or its connection, has taken the events.
   * @param lines events as JSON, oldest first
   */
  deliver(lines: readonly string[]): Promise<void>
  close(): void
}

export class Exporter {
  readonly #queue: string[] = []
  /** Events of the delivery that is under way. */
  #sending = 0
  #isSending = false
  #delivered = 0
  #failed = 0
  #dropped = 0
  #lastError = ''
  #retry: NodeJS.Timeout | undefined
  #failuresInRow = 0
  #onIdle: (() => void) | undefined

  constructor(
    readonly sink: Sink,
    readonly queueMax: number,
  ) {}

  /** @param lines events as JSON without newlines, oldest first */
  take(lines: readonly string[]): void {
    for (const line of lines) this.#queue.push(line)
    const overflow = this.#queue.length - this.queueMax
    if (overflow > 0) {
      // Those that are being sent stay: they fit, because they came from this queue.
      this.#queue.splice(this.#sending, overflow)
      this.#dropped += overflow
    }
    this.#next()
  }

  state(): ExporterState {
    const { name, target } = this.sink
    return {
      name,
      target,
      queued: this.#queue.length,
      delivered: this.#delivered,
      failed: this.#failed,
      dropped: this.#dropped,
      lastError: this.#lastError,
      bufferSize: this.queueMax,
    }
  }

  /** Delivers what is queued, and ends, at the latest after `msMax`. */
  async close(msMax: number): Promise<void> {
    clearTimeout(this.#retry)
    this.#retry = undefined
    let late: NodeJS.Timeout | undefined
    const drained = new Promise<void>((resolve) => (this.#onIdle = resolve))
    this.#next()
    await Promise.race([drained, new Promise((resolve) => (late = setTimeout(resolve, msMax)))])
    clearTimeout(late)
    clearTimeout(this.#retry)
    this.sink.close()
  }

  #next(): void {
    if (this.#isSending || this.#retry !== undefined) return
    if (this.#queue.length === 0) {
      this.#onIdle?.()
      return
    }
    this.#isSending = true
    void this.#send(this.#queue.slice(0, AUDIT_EXPORT_BATCH_EVENTS_MAX))
  }

  /** Never rejects. The events stay in the queue until they are delivered. */
  async #send(lines: readonly string[]): Promise<void> {
    this.#sending = lines.length
    try {
      await this.sink.deliver(lines)
      this.#queue.splice(0, lines.length)
      this.#delivered += lines.length
      this.#lastError = ''
      this.#failuresInRow = 0
    } catch (error) {
      if (this.#failuresInRow === 0) log.warn('audit events are not delivered', { address: this.sink.target, reason: error })
      this.#failed += 1
      this.#lastError = (error instanceof Error ? error.message : String(error)).slice(0, AUDIT_ERROR_CHARS_MAX)
      this.#pause()
    }
    this.#sending = 0
    this.#isSending = false
    this.#next()
  }

  #pause(): void {
    const ms = Math.min(AUDIT_EXPORT_RETRY_MS_FIRST * 2 ** this.#failuresInRow, AUDIT_EXPORT_RETRY_MS_MAX)
    this.#failuresInRow += 1
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.#next()
    }, ms)
  }
}
