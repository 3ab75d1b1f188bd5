/**
 * The program of the thread that owns the audit log: its file, its events in memory, and its exporters. The
 * front end sends batches of lines; each is kept in memory at once and written with one flush, in order. A
 * batch that cannot be written is tried again until it is, and the front end is told that it waits. Events
 * are exported once they are on the disk.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { AUDIT_CLOSE_MS_MAX, AUDIT_EXPORT_CLOSE_MS_MAX } from '../limits/process.js'
import { joinLog, log } from '../telemetry/log.js'
import type { AuditOrder, AuditReport, AuditThreadStart } from '../wire/messages/audit_messages.js'
import { Exporter } from './exporter.js'
import { LogWriter } from './log_writer.js'
import { Ring } from './ring.js'
import { syslogSink } from './syslog.js'
import { webhookSink } from './webhook.js'

/** Milliseconds until a batch that could not be written is tried again: doubled up to the second. */
const AUDIT_RETRY_MS_FIRST = 100
const AUDIT_RETRY_MS_MAX = 5_000
/** How often files are looked at that are too old. A file has a day of events. */
const AUDIT_TRIM_MS = 3_600_000
/** How often the thread of the log reports the counters of its exporters. */
const AUDIT_COUNTS_MS = 500

type Batch = Extract<AuditOrder, { kind: 'batch' }>

const NO_LINES = new Uint8Array(0)

class AuditThread {
  #ring: Ring
  readonly #writer: LogWriter
  readonly #exporters: readonly Exporter[]
  readonly #waiting: Batch[] = []
  #isOpen = false
  #isFirst = true
  #dropped = 0
  #obstacle: string | null | undefined
  #retry: NodeJS.Timeout | undefined
  #retryMs = AUDIT_RETRY_MS_FIRST
  #exported = ''
  #closesBy = Infinity

  constructor(
    readonly start: AuditThreadStart,
    readonly port: MessagePort,
  ) {
    const { ringSize, queueMax, webhook, syslog } = start
    this.#ring = new Ring(ringSize)
    this.#writer = new LogWriter(start)
    const sinks = [...(webhook === null ? [] : [webhookSink(webhook)]), ...(syslog === null ? [] : [syslogSink(syslog)])]
    this.#exporters = sinks.map((sink) => new Exporter(sink, queueMax))
  }

  run(): void {
    this.port.on('message', (order: AuditOrder) => this.#take(order))
    setInterval(() => this.#reportExported(), AUDIT_COUNTS_MS)
    setInterval(() => this.#trim(), AUDIT_TRIM_MS)
    this.#write()
  }

  #take(order: AuditOrder): void {
    if (order.kind === 'batch') {
      // In memory at once, so that a query finds what the disk does not take.
      this.#waiting.push(order)
      this.#keep(order)
      if (this.#retry === undefined) this.#write()
    } else if (order.kind === 'ask') {
      const { id, question } = order
      const events = question.kind === 'events' ? this.#ring.find(question.filter) : []
      this.#report({ kind: 'answer', id, events, exporters: this.#exporters.map((exporter) => exporter.state()) })
    } else {
      this.#closesBy = performance.now() + AUDIT_CLOSE_MS_MAX
      clearTimeout(this.#retry)
      this.#write()
    }
  }

  #keep(batch: Batch): void {
    const lines = textOf(batch)
    for (let begin = 0, end = lines.indexOf('\n'); end >= 0; begin = end + 1, end = lines.indexOf('\n', begin))
      this.#ring.push(lines.slice(begin, end))
  }

  /** Writes all batches that wait, or tries again later. */
  #write(): void {
    this.#retry = undefined
    try {
      if (!this.#isOpen) this.#open()
      if (this.#isFirst) {
        this.#append(undefined)
        this.#trim()
      }
      for (let batch = this.#waiting[0]; batch !== undefined; batch = this.#waiting[0]) {
        this.#append(batch)
        this.#waiting.shift()
        this.#report({ kind: 'written', events: batch.lines.events })
        this.#export(batch)
      }
      this.#retryMs = AUDIT_RETRY_MS_FIRST
      this.#setObstacle(null)
      this.#report({ kind: 'size', bytes: this.#writer.bytes })
    } catch (error) {
      this.#setObstacle(error instanceof Error ? error.message : String(error))
      this.#retry = setTimeout(() => this.#write(), this.#retryMs)
      this.#retryMs = Math.min(2 * this.#retryMs, AUDIT_RETRY_MS_MAX)
    }
    if (this.#closesBy < Infinity) this.#closeIfDone()
  }

  #open(): void {
    const { recent, batches, cut } = this.#writer.open(this.start.ringSize)
    this.#isOpen = true
    this.#ring = new Ring(this.start.ringSize)
    for (const line of recent) this.#ring.push(line)
    for (const batch of this.#waiting) this.#keep(batch)
    if (cut > 0) log.warn('audit log: the last batch of an earlier process was not whole and was cut off', { bytes: cut })
    log.info('audit log is open', { path: this.start.folder, entries: batches })
  }

  /** @param batch undefined: none; the seal only says that a process begins */
  #append(batch: Batch | undefined): void {
    this.#dropped = batch?.dropped ?? this.#dropped
    this.#writer.append(batch?.lines.bytes ?? NO_LINES, this.#dropped, this.#isFirst ? 'start' : undefined)
    this.#isFirst = false
  }

  #export(batch: Batch): void {
    if (this.#exporters.length === 0) return
    const each = textOf(batch).split('\n')
    each.pop()
    for (const exporter of this.#exporters) exporter.take(each)
  }

  #trim(): void {
    if (!this.#isOpen || this.#isFirst || this.#retry !== undefined) return
    try {
      const removed = this.#writer.trim(this.#dropped)
      this.#report({ kind: 'size', bytes: this.#writer.bytes })
      if (removed > 0) log.info('audit log: files that retention does not keep were removed', { entries: removed })
    } catch (error) {
      // The next batch meets the same obstacle, and reports it.
      log.warn('audit log: retention is not applied yet', { reason: error })
    }
  }

  #setObstacle(obstacle: string | null): void {
    if (obstacle === this.#obstacle) return
    if (obstacle !== null) log.error('audit log cannot be written', { path: this.start.folder, reason: obstacle })
    else if (this.#obstacle !== undefined) log.info('audit log is written again', { path: this.start.folder })
    this.#obstacle = obstacle
    this.#report({ kind: 'state', obstacle })
  }

  #closeIfDone(): void {
    if (this.#waiting.length > 0 && performance.now() < this.#closesBy) return
    clearTimeout(this.#retry)
    const lost = this.#waiting.reduce((sum, { lines }) => sum + lines.events, 0)
    if (lost > 0) log.error('audit log: events were not written before the shutdown', { entries: lost })
    else this.#stop()
    void Promise.all(this.#exporters.map((exporter) => exporter.close(AUDIT_EXPORT_CLOSE_MS_MAX))).then(() => {
      this.#reportExported()
      process.exit(0)
    })
  }

  #stop(): void {
    try {
      this.#writer.append(NO_LINES, this.#dropped, 'stop')
      this.#writer.close()
    } catch (error) {
      log.error('audit log: the end of the process was not noted', { reason: error })
    }
  }

  #reportExported(): void {
    const sums = { delivered: 0, failed: 0, dropped: 0 }
    for (const { delivered, failed, dropped } of this.#exporters.map((exporter) => exporter.state())) {
      sums.delivered += delivered
      sums.failed += failed
      sums.dropped += dropped
    }
    const shown = JSON.stringify(sums)
    if (shown === this.#exported) return
    this.#exported = shown
    this.#report({ kind: 'exported', ...sums })
  }

  #report(report: AuditReport): void {
    this.port.postMessage(report)
  }
}

function textOf({ lines: { bytes } }: Batch): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
}

if (parentPort === null) throw new Error('this is the program of a thread')
const start = workerData as AuditThreadStart
joinLog(start.log, 'audit log')
new AuditThread(start, parentPort).run()
