/**
 * Imports of dumps of wikis. Without a job the answer waits for the import, which ends behind the batch under
 * way if its client leaves. Jobs run one after another; the store has their records and their order, so they
 * go on after any end of the process. Bounded in number and bytes. Front-end thread only.
 */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { spoolPath } from '../../base/spool_files.js'
import { Chore, type ChoreTools, type Rest } from '../../chore.js'
import type { Config } from '../../config/config.js'
import type { WikiImportOptions } from '../../conversion/wiki/import_options.js'
import { refusal, successOf } from '../../dispatch/answers/answers.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { ask, askFor } from '../../dispatch/inner_request.js'
import type { Io, IoTools } from '../../dispatch/io.js'
import type { WikiRecord } from '../../domain/wiki_import.js'
import type { ErrorCode } from '../../errors.js'
import { GIB } from '../../limits/units.js'
import { importPages, importWiki, openWikiJobs, submitWikiJob } from '../../operations/documents/import_wiki.js'
import type { Service } from '../../services.js'
import { log } from '../../telemetry/log.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import type { WikiImport } from '../../wire/messages/wiki_messages.js'
import { DumpImport, type DumpImportOutcome, type DumpImportTask } from './dump_import.js'
import { KeptDumps } from './kept_dumps.js'

/** Imports under way, a job included: each has a process of 150 MB that keeps one core busy. */
const WIKI_IMPORTS_MAX = 2
/** Jobs that wait or run. */
const WIKI_JOBS_MAX = 16
/** Bytes of their dumps on disk: four of the largest by default. A dump that is alone is never refused. */
const WIKI_JOB_BYTES_MAX = 16 * GIB
/** Pause before a job looks again whether it may begin. */
const WIKI_JOB_WAIT_MS = 500
/** Interval at which an import looks whether its client is still there, and the server goes on. */
const WANTED_WATCH_MS = 250
/**
 * Interval at which a job under way is looked up: its next batch would be refused if it was cancelled, but
 * its reader may be long without one.
 */
const JOB_WATCH_MS = 2000
/** Errors in an answer. Fixed by the contract. */
const WIKI_ERRORS_MAX = 10

interface OpenJob {
  readonly id: string
  readonly record: WikiRecord & { readonly wiki: WikiImportOptions }
}

export class WikiImports implements Service {
  readonly name = 'wiki-imports'
  readonly #chore: Chore
  readonly #dumps: KeptDumps
  readonly #end = new AbortController()
  #underWay = 0
  /** Jobs whose record is being written. */
  #arriving = 0

  constructor(
    readonly config: Config,
    readonly dispatcher: Dispatcher,
    tools: ChoreTools,
  ) {
    this.#dumps = new KeptDumps(config.path)
    this.#chore = new Chore(tools, { name: this.name, failure: 'an import of a wiki ends', round: () => this.#round() })
    // It commits by requests of its own, so a restore need not wait for it.
    dispatcher.onIo(importWiki, this.#run, { commits: false })
    // Another store has other jobs.
    dispatcher.notices.on('store', () => this.#chore.wake())
  }

  start(): void {
    this.#chore.start()
  }

  /** The batches under way are stored. Jobs go on with the next start. */
  async stop(): Promise<void> {
    this.#end.abort()
    await this.#chore.stop()
  }

  readonly #run: Io<WikiImport> = async (message, tools) => {
    if (this.#end.signal.aborted) return refusal('shuttingDown')
    const path = spoolPath(resolve(this.config.path), message.spooled)
    return message.isJob ? await this.#submit(message, path, tools) : await this.#import(message, path, tools)
  }

  async #import(message: WikiImport, path: string, tools: IoTools): Promise<OutgoingAnswer> {
    if (this.#underWay >= WIKI_IMPORTS_MAX) return refusal('overloaded')
    const startedMs = performance.now()
    const { options, record } = message
    const task = { path, job: '', record: record as WikiRecord, options, name: tools.principal.name }
    const outcome = await this.#runImport(task, () => tools.clientAddress() === null)
    return answerOf(outcome, message, Math.round(performance.now() - startedMs))
  }

  async #runImport(task: Omit<DumpImportTask, 'bytesMax' | 'keys'>, hasLeft = (): boolean => false): Promise<DumpImportOutcome> {
    const stop = new AbortController()
    const watch = setInterval(() => {
      if (this.#end.signal.aborted || hasLeft()) stop.abort()
    }, WANTED_WATCH_MS)
    this.#underWay += 1
    const { wikiBytesMax: bytesMax, encryption: keys } = this.config
    try {
      return await new DumpImport(this.dispatcher, { ...task, bytesMax, keys }, stop.signal).run()
    } finally {
      this.#underWay -= 1
      clearInterval(watch)
    }
  }

  async #submit(message: WikiImport, path: string, { principal: { name }, clientAddress }: IoTools): Promise<OutgoingAnswer> {
    this.#arriving += 1
    const id = newId()
    try {
      const open = await this.#openJobs()
      const kept = await this.#dumps.bytes()
      if (open.length + this.#arriving > WIKI_JOBS_MAX || (kept > 0 && kept + message.bytes > WIKI_JOB_BYTES_MAX))
        return refusal('ingestQueueFull')
      await this.#dumps.keep(id, path)
      const { collection, submitter, options } = message
      const answer = await ask(this.dispatcher, submitWikiJob, { id, collection, submitter, options }, { kind: 'system', name })
      return answer.code === null ? { ...answer, facts: ['accepted', '1'] } : answer
    } catch (error) {
      // The dump goes with its client.
      if (clientAddress() === null) return refusal('deadline')
      throw error
    } finally {
      this.#arriving -= 1
      this.#dumps.settled(id)
      // It also removes the dump of a job without a record.
      this.#chore.wake()
    }
  }

  /** Runs the oldest job. What the store says of it counts, so it may have begun before. */
  async #round(): Promise<Rest> {
    const jobs = await this.#openJobs()
    await this.#dumps.sweep(new Set(jobs.map(({ id }) => id)))
    const [job] = jobs
    if (job === undefined) return 'idle'
    if (this.#underWay >= WIKI_IMPORTS_MAX) return WIKI_JOB_WAIT_MS
    const { id, record } = job
    const task = { path: this.#dumps.pathOf(id), job: id, record, options: record.wiki, name: record.submitter ?? '' }
    if (!(await this.#dumps.has(id))) await this.#fail(job, 'its dump is missing')
    else {
      const { end, code, reason } = await this.#runJob(task)
      // A job that was cancelled or moved on is as the store says.
      const isSettled = code === 'ingestEnded' || code === 'notFound' || code === 'importMoved'
      if (end === 'refused' && !isSettled && !this.#end.signal.aborted) await this.#fail(job, reason)
    }
    return 0
  }

  async #runJob(task: Omit<DumpImportTask, 'bytesMax' | 'keys'>): Promise<DumpImportOutcome> {
    let isOver = false
    let isLooking = false
    const look = async (): Promise<void> => {
      isLooking = true
      isOver = !(await this.#openJobs()).some(({ id }) => id === task.job)
      isLooking = false
    }
    const watch = setInterval(() => {
      // A server that can't say it now is asked again.
      if (!isLooking) look().catch(() => (isLooking = false))
    }, JOB_WATCH_MS)
    try {
      return await this.#runImport(task, () => isOver)
    } finally {
      clearInterval(watch)
    }
  }

  async #fail({ id, record: { collection, wiki } }: OpenJob, reason: string): Promise<void> {
    log.error(`${id} ends`, { reason })
    const job = (await this.#openJobs()).find((open) => open.id === id)
    if (job === undefined) return
    const { lang, skipFts, fast, maxPages } = wiki
    const batch = { after: job.record.total, pages: new Uint8Array(0), last: true, fault: reason }
    await ask(this.dispatcher, importPages, { job: id, collection, lang, skipFts, fast, maxPages, ...batch })
  }

  #openJobs(): Promise<readonly OpenJob[]> {
    return askFor<readonly OpenJob[]>(this.dispatcher, openWikiJobs, {})
  }
}

/** Nanoseconds, so that ids increase with time, and 24 random bits. */
function newId(): string {
  const microseconds = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000))
  return `wiki_${microseconds * 1000n}_${randomBytes(3).toString('hex')}`
}

/** Of a refusal by `end`; those of batches have a code of their own. */
const CODES: Readonly<Record<Exclude<DumpImportOutcome['end'], 'ended' | 'refused'>, ErrorCode>> = {
  dump: 'invalid',
  bytes: 'wikiTooLarge',
  pages: 'wikiTooLarge',
  gone: 'ingestEnded',
  stopped: 'shuttingDown',
}

/** The counters are those of what was stored, whatever the outcome. */
function answerOf({ record, end, reason, code }: DumpImportOutcome, { profile }: WikiImport, durationMs: number): OutgoingAnswer {
  const { added, updated, skipped, failed, collection, errors = [] } = record
  const shown = errors.length === 0 ? {} : { errors: errors.slice(0, WIKI_ERRORS_MAX) }
  const counts = { imported: added + updated, skipped, failed, collection, durationMs, profile, ...shown }
  if (end === 'ended') return successOf(JSON.stringify(counts))
  const refused = end === 'refused' ? (code ?? 'internal') : CODES[end]
  return { ...refusal(refused), body: JSON.stringify({ error: end === 'stopped' ? 'shutting down' : reason, ...counts }) }
}
