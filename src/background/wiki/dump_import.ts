/**
 * One import of a wiki under way: batches of pages go from the process that reads the dump to the bulk lane,
 * one after another, without being looked at. The process reads on meanwhile. Front-end thread only.
 */
import { setTimeout } from 'node:timers/promises'
import { type Principal, SYSTEM } from '../../access/principal.js'
import { type FileKeys, keyOfFile } from '../../base/sealed_files.js'
import type { DumpEnd, DumpFrame } from '../../conversion/wiki/dump_frames.js'
import type { WikiImportOptions } from '../../conversion/wiki/import_options.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { ask } from '../../dispatch/inner_request.js'
import type { WikiRecord } from '../../domain/wiki_import.js'
import { type ErrorCode, isUnavailable } from '../../errors.js'
import { importPages } from '../../operations/documents/import_wiki.js'
import { type OutgoingAnswer, textOf } from '../../wire/answer.js'
import { DumpProcess } from './dump_process.js'

/** Pause before a batch is sent again to a server that had no capacity for it. */
const PAGES_RETRY_MS = 500
/**
 * Refusals after which an import without a job sends its batch again: nothing of it was stored. One with a
 * job does so after each that may pass: a batch that was stored is found by its position.
 */
const RETRIED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['overloaded', 'collectionChanged'])
/** Lanes that a batch of a job may end before the job does: its pages would end every one. */
const LANES_LOST_MAX = 2

export interface DumpImportTask {
  readonly path: string
  /** Id of the job; empty: none. */
  readonly job: string
  readonly record: WikiRecord
  readonly options: WikiImportOptions
  /** Of the dump, decompressed. */
  readonly bytesMax: number
  /** With what the dump is sealed, if it is. */
  readonly keys: FileKeys | null
  /** Name of whoever asked, the actor of what is written. */
  readonly name: string
}

/** How an import ended. */
export interface DumpImportOutcome {
  /** As far as it is known. */
  readonly record: WikiRecord
  /**
   * - `ended`: it is at its end, whatever the record says of its success;
   * - `dump`: the dump is at fault; `bytes`, `pages`: it is larger than the server imports;
   * - `gone`: collection or right have gone;
   * - `refused`: a batch was refused; `stopped`: nobody wants it any more.
   */
  readonly end: 'ended' | 'dump' | 'bytes' | 'pages' | 'gone' | 'refused' | 'stopped'
  /** Why, for a client. */
  readonly reason: string
  readonly code: ErrorCode | null
}

interface Batch {
  readonly pages: Uint8Array
  readonly last: boolean
  readonly fault: string
}

/** What the write lane answers to a batch. */
interface Stored {
  readonly record: WikiRecord
  readonly isOverLimit: boolean
  readonly isGone: boolean
  readonly reason: string
}

const NO_PAGES = new Uint8Array(0)

export class DumpImport {
  readonly #principal: Principal

  /** @param signal nobody wants the import any more: it ends behind the batch under way */
  constructor(
    readonly dispatcher: Dispatcher,
    readonly task: DumpImportTask,
    readonly signal: AbortSignal,
  ) {
    this.#principal = { ...SYSTEM, name: task.name }
  }

  /** Never rejects but for faults of this server. */
  async run(): Promise<DumpImportOutcome> {
    const { bytesMax } = this.task
    let { record } = this.task
    for await (const frame of this.#frames()) {
      if (this.signal.aborted) break
      const answer = await this.#store(record, batchOf(frame, bytesMax))
      if (answer.code !== null) return { record, end: 'refused', reason: errorOf(answer), code: answer.code }
      const stored = JSON.parse(textOf(answer)) as Stored
      record = stored.record
      if (record.status !== 'processing') return outcomeOf(stored, frame)
    }
    return { record, end: 'stopped', reason: '', code: null }
  }

  async *#frames(): AsyncGenerator<DumpFrame> {
    const { path, keys, record, options, bytesMax } = this.task
    const { namespaces, skipRedirects, maxPages } = options
    const batchDocuments = maxPages > 0 ? Math.min(options.batchSize, maxPages) : options.batchSize
    const key = await keyOfFile(path, keys).catch((error: unknown) => error as Error)
    if (typeof key !== 'string') {
      yield { end: { fault: 'unreadable', message: key.message } }
      return
    }
    if (this.signal.aborted) return
    const process = new DumpProcess({ path, key, namespaces, skipRedirects, batchDocuments, after: record.total, bytesMax })
    const kill = (): void => process.kill()
    this.signal.addEventListener('abort', kill)
    try {
      yield* process.frames()
    } finally {
      this.signal.removeEventListener('abort', kill)
      process.kill()
    }
  }

  async #store(record: WikiRecord, batch: Batch): Promise<OutgoingAnswer> {
    const { job, options } = this.task
    const { lang, skipFts, fast, maxPages } = options
    const own = job === '' ? { record } : {}
    const input = { job, collection: record.collection, lang, skipFts, fast, maxPages, after: record.total, ...own, ...batch }
    for (let lanesLost = 0; ;) {
      const answer = await ask(this.dispatcher, importPages, input, this.#principal)
      const { code } = answer
      if (code === 'laneLost') lanesLost += 1
      const isRetried = code !== null && (job === '' ? RETRIED.has(code) : isUnavailable(code) && lanesLost < LANES_LOST_MAX)
      if (!isRetried || this.signal.aborted) return answer
      await setTimeout(PAGES_RETRY_MS, undefined, { signal: this.signal }).catch(() => undefined)
    }
  }
}

function batchOf(frame: DumpFrame, bytesMax: number): Batch {
  if ('pages' in frame) return { pages: frame.pages, last: false, fault: '' }
  return { pages: NO_PAGES, last: true, fault: faultOf(frame.end, bytesMax) }
}

function faultOf({ fault, message }: DumpEnd, bytesMax: number): string {
  if (fault === 'too-many-bytes') return `more than ${bytesMax} bytes, decompressed`
  return fault === '' ? '' : `the dump can't be read: ${message}`
}

function outcomeOf({ record, isOverLimit, isGone, reason }: Stored, frame: DumpFrame): DumpImportOutcome {
  const isTooLong = 'end' in frame && frame.end.fault === 'too-many-bytes'
  const end = isOverLimit ? 'pages' : isGone ? 'gone' : reason === '' ? 'ended' : isTooLong ? 'bytes' : 'dump'
  return { record, end, reason, code: null }
}

function errorOf(answer: OutgoingAnswer): string {
  return String((JSON.parse(textOf(answer)) as { readonly error?: unknown }).error)
}
