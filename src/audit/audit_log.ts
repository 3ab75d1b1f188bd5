/**
 * The audit log as the front end sees it: receives events, gives each its time and its line, and sends them
 * in batches to the thread that writes them (thread.ts). Events that wait for the file are bounded by the
 * size of the ring; a further one is dropped and counted. Main thread; an event costs about a microsecond.
 */
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { makeFolders } from '../base/folders.js'
import { programPath } from '../base/installation.js'
import type { Config } from '../config/config.js'
import { lockFile } from '../engine/search/native_engine.js'
import { AUDIT_CLOSE_MS_MAX, AUDIT_EXPORT_CLOSE_MS_MAX } from '../limits/process.js'
import type { Service } from '../services.js'
import { type AuditEvent, type AuditLines, type ForwardedLines, receiveAuditEvents } from '../telemetry/audit.js'
import { log, logMemory } from '../telemetry/log.js'
import type { Telemetry } from '../telemetry/registry.js'
import type { AuditOrder, AuditQuestion, AuditReport, AuditThreadStart } from '../wire/messages/audit_messages.js'
import { EventClock, eventOfLine, lineOf, setTime } from './event_line.js'
import { LineBuffer } from './line_buffer.js'
import { RepeatedFailures } from './repeated_failures.js'

/**
 * How long an event waits for others, so that a slow stream of events causes at most 20 flushes per second.
 */
const AUDIT_BATCH_MS = 50
/** Share of the bound from which health warns. */
const AUDIT_LOG_NEARLY_FULL = 0.8
/** Interval in which further failures of one client become one event (repeated_failures.ts). */
const AUDIT_ALIKE_MS = 60_000
/** How long a query waits for the thread of the log, which may wait for the disk. */
const AUDIT_QUERY_MS_MAX = 8_000
/** Until the thread of the log is started again after its death. */
const AUDIT_RESTART_MS = 1_000
/** Heap of the thread of the log, beside the events: code, one answer, one batch. */
const AUDIT_HEAP_MB = 128

type Batch = Extract<AuditOrder, { kind: 'batch' }>
type Exported = Pick<Extract<AuditReport, { kind: 'exported' }>, 'delivered' | 'failed' | 'dropped'>
type Found = Extract<AuditReport, { kind: 'answer' }>

const NEWLINE = 0x0a
const PROGRAM = programPath('audit/thread')
const THREAD_ENDED = 'the thread of the audit log has ended'

interface AuditLogParts {
  readonly config: Config
  readonly telemetry: Telemetry
  /** Told when writes must be refused, which only a strict log asks for, and when they need not any more. */
  readonly setRefusing: (refuses: boolean) => void
}

export class AuditLog implements Service {
  readonly name = 'audit log'
  readonly #parts: AuditLogParts
  readonly #clock = new EventClock()
  /** Events that are not sent to the thread yet. */
  readonly #lines = new LineBuffer()
  #window: NodeJS.Timeout | undefined
  readonly #failures = new RepeatedFailures(() => {
    this.#window = setTimeout(() => this.#takeFolded(), AUDIT_ALIKE_MS)
  })
  /** Batches that the thread has not written yet. */
  readonly #sent: Batch[] = []
  #held = 0
  #dropped = 0
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  #worker: Worker | undefined
  #restart: NodeJS.Timeout | undefined
  #isStopping = false
  #obstacle: string | null = null
  #onState: (() => void) | undefined
  #onEnd: (() => void) | undefined
  #asked = 0
  readonly #questions = new Map<number, (found: Found | null) => void>()
  #exported: Exported = { delivered: 0, failed: 0, dropped: 0 }

  constructor(parts: AuditLogParts) {
    this.#parts = parts
  }

  /**
   * Resolves when the log is open, or cannot be opened for the time being.
   * @throws Error if another process writes it
   */
  async start(): Promise<void> {
    if (!this.#parts.config.auditEnabled) return
    claim(auditFolder(this.#parts.config))
    const isKnown = new Promise<void>((known) => (this.#onState = known))
    this.#spawn()
    receiveAuditEvents({
      take: (event) => {
        if (this.#failures.admits(event)) this.#take(event)
      },
      takeLines: (lines) => this.#takeLines(lines),
    })
    await isKnown
  }

  /** Writes and delivers what is there, within a bound. */
  async stop(): Promise<void> {
    receiveAuditEvents(undefined)
    this.#takeFolded()
    this.#isStopping = true
    clearTimeout(this.#restart)
    if (this.#worker === undefined) return
    this.flush()
    this.#post({ kind: 'close' })
    const late = setTimeout(() => void this.#worker?.terminate(), AUDIT_CLOSE_MS_MAX + AUDIT_EXPORT_CLOSE_MS_MAX)
    await new Promise<void>((resolve) => (this.#onEnd = resolve))
    clearTimeout(late)
  }

  /** Why events are not written; null: they are. */
  obstacle(): string | null {
    return this.#obstacle
  }

  /** Bytes of the log, if it will soon remove events before their time; null: it will not. */
  nearlyFull(): number | null {
    const { auditBytesMax } = this.#parts.config
    return this.#bytes >= AUDIT_LOG_NEARLY_FULL * auditBytesMax ? this.#bytes : null
  }

  /** Events that were lost since the start of the process. */
  get dropped(): number {
    return this.#dropped
  }

  /** Every event that was emitted before is found. @returns null if the thread does not answer in time */
  async ask(question: AuditQuestion): Promise<Found | null> {
    this.flush()
    const id = ++this.#asked
    const late = setTimeout(() => this.#settle(id, null), AUDIT_QUERY_MS_MAX)
    const found = await new Promise<Found | null>((settle) => {
      this.#questions.set(id, settle)
      this.#post({ kind: 'ask', id, question })
    })
    clearTimeout(late)
    return found
  }

  /** Sends what waits for its batch, in batches of at most AUDIT_BATCH_EVENTS_MAX. */
  flush(): void {
    while (!this.#lines.isEmpty) this.#send()
  }

  #take(event: AuditEvent): void {
    if (this.#admit(1) === 1) this.#lines.append(lineOf(this.#clock.next(), event))
    this.#afterTaking()
  }

  #takeLines(lines: ForwardedLines): void {
    if (lines.areFailures) this.#takeFailures(lines)
    else this.#takeBytes(lines)
  }

  #takeFailures({ bytes }: AuditLines): void {
    const { buffer, byteOffset, length } = bytes
    for (const line of Buffer.from(buffer, byteOffset, length).toString().split('\n').slice(0, -1)) {
      const event = eventOfLine(line)
      if (this.#failures.admits(event)) this.#take(event)
    }
  }

  /** Ends the window of failures that are alike. */
  #takeFolded(): void {
    clearTimeout(this.#window)
    for (const event of this.#failures.take()) this.#take(event)
  }

  #takeBytes({ bytes, events }: AuditLines): void {
    const admitted = this.#admit(events)
    for (let at = 0, begin = 0; at < admitted; at++) {
      const end = bytes.indexOf(NEWLINE, begin) + 1
      const line = bytes.subarray(begin, end)
      setTime(line, this.#clock.next())
      this.#lines.appendBytes(line)
      begin = end
    }
    this.#afterTaking()
  }

  /** @returns how many of the events there is memory for; the others are lost */
  #admit(events: number): number {
    const { telemetry, config } = this.#parts
    const admitted = Math.min(events, config.auditRingSize - this.#held)
    this.#held += admitted
    telemetry.add('audit_events', admitted)
    if (admitted === events) return admitted
    this.#dropped += events - admitted
    telemetry.add('audit_events_dropped', events - admitted)
    return admitted
  }

  #afterTaking(): void {
    if (this.#held >= this.#parts.config.auditRingSize) this.#setRefusing()
    // While a batch is being written, the next one collects.
    if (this.#sent.length > 0) return
    if (this.#lines.isFull) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), AUDIT_BATCH_MS)
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#lines.take()
    if (lines === null) return
    const batch: Batch = { kind: 'batch', lines, dropped: this.#dropped }
    this.#sent.push(batch)
    this.#post(batch)
  }

  #post(order: AuditOrder): void {
    this.#worker?.postMessage(order)
  }

  #spawn(): void {
    let worker: Worker
    try {
      worker = new Worker(PROGRAM, {
        workerData: threadStart(this.#parts.config),
        resourceLimits: { maxOldGenerationSizeMb: heapOf(this.#parts.config.auditRingSize) },
      })
    } catch (error) {
      // The system has no thread or no descriptor left.
      log.error('audit log', { fault: error })
      return this.#ended()
    }
    this.#worker = worker
    worker.on('message', (report: AuditReport) => this.#hear(report))
    worker.on('error', (error) => log.error('audit log', { fault: error }))
    worker.on('exit', () => this.#ended())
    for (const batch of this.#sent) worker.postMessage(batch)
  }

  #ended(): void {
    this.#worker = undefined
    for (const id of [...this.#questions.keys()]) this.#settle(id, null)
    if (this.#isStopping) return this.#onEnd?.()
    this.#setObstacle(THREAD_ENDED)
    this.#exported = { delivered: 0, failed: 0, dropped: 0 }
    this.#restart = setTimeout(() => this.#spawn(), AUDIT_RESTART_MS)
  }

  #hear(report: AuditReport): void {
    switch (report.kind) {
      case 'written':
        this.#sent.shift()
        this.#held -= report.events
        this.#setRefusing()
        if (this.#sent.length === 0 && !this.#lines.isEmpty) this.#timer ??= setTimeout(() => this.#send(), this.#restMs())
        break
      case 'state':
        this.#setObstacle(report.obstacle)
        break
      case 'size':
        this.#bytes = report.bytes
        this.#parts.telemetry.set('audit_bytes', report.bytes)
        break
      case 'answer':
        this.#settle(report.id, report)
        break
      case 'exported':
        this.#countExported(report)
        break
    }
  }

  /** A full batch needs not wait for more. */
  #restMs(): number {
    return this.#lines.isFull ? 0 : AUDIT_BATCH_MS
  }

  #settle(id: number, found: Found | null): void {
    this.#questions.get(id)?.(found)
    this.#questions.delete(id)
  }

  #setObstacle(obstacle: string | null): void {
    this.#obstacle = obstacle
    this.#parts.telemetry.set('audit_writable', obstacle === null ? 1 : 0)
    this.#setRefusing()
    this.#onState?.()
  }

  /** A strict log refuses writes whose events it could not keep. */
  #setRefusing(): void {
    const { config, setRefusing, telemetry } = this.#parts
    telemetry.set('audit_queue', this.#held)
    if (config.auditStrict) setRefusing(this.#obstacle !== null || this.#held >= config.auditRingSize)
  }

  #countExported({ delivered, failed, dropped }: Exported): void {
    const { telemetry } = this.#parts
    telemetry.add('audit_events_delivered', delivered - this.#exported.delivered)
    telemetry.add('audit_deliveries_failed', failed - this.#exported.failed)
    telemetry.add('audit_events_undelivered', dropped - this.#exported.dropped)
    this.#exported = { delivered, failed, dropped }
  }
}

/** Heap in MB: a line of 250 bytes takes some 300 with its place in the ring. */
function heapOf(ringSize: number): number {
  return AUDIT_HEAP_MB + Math.ceil((ringSize * 2 * 320) / 2 ** 20)
}

function threadStart(config: Config): AuditThreadStart {
  return {
    log: logMemory(),
    folder: auditFolder(config),
    fileBytesMax: config.auditFileBytesMax,
    retentionDays: config.auditRetentionDays,
    bytesMax: config.auditBytesMax,
    ringSize: config.auditRingSize,
    queueMax: config.auditExportQueueMax,
    webhook:
      config.auditWebhookUrl === ''
        ? null
        : { url: config.auditWebhookUrl, headers: config.auditWebhookHeaders, checksCertificate: !config.auditWebhookInsecureTls },
    syslog: config.auditSyslogAddr === null ? null : { ...config.auditSyslogAddr, facility: config.auditSyslogFacility },
  }
}

/**
 * Two processes would break the chain. What else is wrong with the folder is found by the thread, which tries
 * again.
 */
function claim(folder: string): void {
  try {
    makeFolders(folder, 0o700)
    lockFile(join(folder, 'LOCK'), false)
  } catch (error) {
    if (error instanceof Error && error.message === 'locked') throw new Error(`the audit log in ${folder} is in use by another process`)
  }
}

/** The folder of the audit log. */
function auditFolder({ auditDirectory, path }: Pick<Config, 'auditDirectory' | 'path'>): string {
  return auditDirectory === '' ? join(resolve(path), 'audit') : resolve(auditDirectory)
}
