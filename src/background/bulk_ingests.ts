/**
 * Bulk ingest jobs while they wait and run. Their documents are in memory. Jobs run one after another, one
 * chunk at a time, through the bulk lane like any other heavy request, so that online requests keep their
 * lanes. The record of a job, its state transitions and its counters are in the store
 * (src/domain/bulk_ingest.ts). The state in this file is lost with the process. Front-end thread only.
 */
import { setTimeout } from 'node:timers/promises'
import { type Principal, SYSTEM } from '../access/principal.js'
import { Chore, type ChoreTools, type Rest } from '../chore.js'
import type { Config } from '../config/config.js'
import { refusal } from '../dispatch/answers/answers.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { ask } from '../dispatch/inner_request.js'
import type { Io, IoTools } from '../dispatch/io.js'
import { type ErrorCode, isFault, isUnavailable } from '../errors.js'
import { cancelBulkIngest, ingestChunk, submitBulkIngest } from '../operations/documents/bulk_ingest.js'
import type { Outbound } from '../outbound/safe_fetch.js'
import type { Service } from '../services.js'
import { log } from '../telemetry/log.js'
import type { Telemetry } from '../telemetry/registry.js'
import type { OutgoingAnswer } from '../wire/answer.js'
import type { IngestChunk, SubmittedIngest } from '../wire/messages/ingest_messages.js'

/** Pause before a chunk is sent again to a lane that had no capacity for it. */
const INGEST_RETRY_MS = 500
/** A callback is sent once, and its answer is ignored. */
const CALLBACK_MS_MAX = 10_000
const CALLBACK_ANSWER_BYTES_MAX = 16 * 1024
/** Callbacks in progress. Further ones are dropped: clients can read the record of the job. */
const CALLBACKS_MAX = 64

/**
 * Refusals after which a chunk is not retried: its write may have been stored, it ended its lane, or an
 * object store refused it for as long as retries last. The store may be unavailable for days.
 */
const FINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['outcomeUnknown', 'laneLost', 'backendUnavailable'])

interface Ingest extends SubmittedIngest {
  readonly bytes: number
  /** The server itself, on behalf of whoever submitted the job: the actor of the entries of its documents. */
  readonly principal: Principal
}

export class BulkIngests implements Service {
  readonly name = 'bulk-ingests'
  readonly #chore: Chore
  readonly #waiting: Ingest[] = []
  /** Number of jobs that wait, or whose record is being written. */
  #admitted = 0
  #bytesWaiting = 0
  readonly #callbacks = new Set<Promise<void>>()
  readonly #end = new AbortController()

  constructor(
    readonly config: Config,
    readonly dispatcher: Dispatcher,
    readonly outbound: Outbound,
    readonly telemetry: Telemetry,
    tools: ChoreTools,
  ) {
    this.#chore = new Chore(tools, { name: this.name, first: 'idle', failure: 'a bulk ingest ends', round: () => this.#round() })
    dispatcher.onIo(submitBulkIngest, this.#submit)
    dispatcher.onIo(cancelBulkIngest, this.#cancel)
  }

  start(): void {
    this.#chore.start()
  }

  /** Lets the current chunk and the current callbacks finish. The next start fails the jobs that wait. */
  async stop(): Promise<void> {
    this.#end.abort()
    await this.#chore.stop()
    await Promise.all(this.#callbacks)
  }

  readonly #submit: Io<SubmittedIngest> = async (message, { commit, principal: { name } }) => {
    const ingest: Ingest = { ...message, bytes: bytesOf(message), principal: { ...SYSTEM, name } }
    const { INGESTS_QUEUED_MAX, INGEST_BYTES_HELD_MAX } = this.config.limits
    if (this.#end.signal.aborted) return refusal('shuttingDown')
    if (this.#admitted >= INGESTS_QUEUED_MAX || this.#bytesWaiting + ingest.bytes > INGEST_BYTES_HELD_MAX) return refusal('ingestQueueFull')
    this.#admitted += 1
    this.#count(ingest.bytes)
    const answer = await commit(ingest.command)
    if (answer?.code === null) {
      this.#waiting.push(ingest)
      this.#chore.wake()
      return answer
    }
    this.#admitted -= 1
    this.#count(-ingest.bytes)
    return answer ?? refusal('deadline')
  }

  readonly #cancel: Io<Uint8Array> = async (command, { commit }: IoTools) => {
    const answer = await commit(command)
    if (answer?.code !== null) return answer ?? refusal('deadline')
    const { id } = parsed(answer) as { readonly id: string }
    const at = this.#waiting.findIndex((ingest) => ingest.id === id)
    // A job that is no longer waiting has begun meanwhile: its next chunk is refused.
    if (at >= 0) for (const ingest of this.#waiting.splice(at, 1)) this.#forget(ingest)
    return answer
  }

  #forget({ bytes }: Ingest): void {
    this.#admitted -= 1
    this.#count(-bytes)
  }

  #count(bytes: number): void {
    this.#bytesWaiting += bytes
    this.telemetry.set('ingest_bytes_held', this.#bytesWaiting)
    this.telemetry.set('ingests_waiting', this.#admitted)
  }

  /** Runs one job, the oldest first. */
  async #round(): Promise<Rest> {
    const ingest = this.#waiting.shift()
    if (ingest === undefined) return 'idle'
    this.#admitted -= 1
    try {
      await this.#ingest(ingest)
    } finally {
      this.#count(-ingest.bytes)
    }
    return this.#waiting.length > 0 ? 0 : 'idle'
  }

  async #ingest(ingest: Ingest): Promise<void> {
    let first = 0
    for (const [index, chunk] of ingest.chunks.entries()) {
      const range = { first, last: index === ingest.chunks.length - 1 }
      let answer = await this.#store(ingest, chunk.body, range)
      // A chunk that ends its lane is counted as failed as a whole, and the job continues.
      if (answer !== undefined && (isFault(answer.code) || answer.code === 'laneLost' || answer.code === 'backendUnavailable'))
        answer = await this.#store(ingest, null, { ...range, lost: chunk.documents })
      if (answer?.code !== null) {
        // A job that was cancelled before its first chunk needs no log line.
        if (answer !== undefined && answer.code !== 'ingestEnded') log.error(`${ingest.id} ends`, { reason: answer.body })
        return
      }
      // The write lane ends a job whose submitter may not write any more, or whose collection was deleted.
      const hasFailed = !range.last && (parsed(answer) as { readonly status: string }).status === 'failed'
      if (range.last || hasFailed) this.#callBack(ingest, answer)
      if (hasFailed) return
      first += chunk.documents
    }
  }

  /** Undefined if the service was stopped first. */
  async #store(
    { id, collection, principal }: Ingest,
    body: IngestChunk['body'] | null,
    range: { readonly first: number; readonly last: boolean; readonly lost?: number },
  ): Promise<OutgoingAnswer | undefined> {
    const input = { id, collection, ...range, ...(body === null ? {} : { chunk: body }) }
    while (!this.#end.signal.aborted) {
      const answer = await ask(this.dispatcher, ingestChunk, input, principal)
      // A refusal due to load has changed nothing and is retried. A write with an unknown outcome is not.
      if (answer.code === null || !isUnavailable(answer.code) || FINAL.has(answer.code)) return answer
      await setTimeout(INGEST_RETRY_MS, undefined, { signal: this.#end.signal }).catch(() => undefined)
    }
    return undefined
  }

  #callBack({ id, callbackUrl }: Ingest, { body }: OutgoingAnswer): void {
    if (callbackUrl === '') return
    if (this.#callbacks.size >= CALLBACKS_MAX) {
      log.warn(`callback of ${id}: given up, ${CALLBACKS_MAX} are under way`)
      return
    }
    const sent = this.#send(id, callbackUrl, body).finally(() => this.#callbacks.delete(sent))
    this.#callbacks.add(sent)
  }

  /** Sent once: a client that misses it queries the record. Never rejects. */
  async #send(id: string, url: string, body: Uint8Array | string): Promise<void> {
    try {
      const { status } = await this.outbound.safeFetch({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8', 'x-mddb-event': 'bulk_ingest.completed' },
        body,
        msMax: CALLBACK_MS_MAX,
        bytesMax: CALLBACK_ANSWER_BYTES_MAX,
        cut: true,
        redirectsMax: 0,
      })
      if (status >= 300) log.warn(`callback of ${id}: answered ${status}`)
    } catch (error) {
      log.warn(`callback of ${id}`, { reason: error })
    }
  }
}

/** Bytes of memory that the job occupies while it waits. */
function bytesOf({ command, chunks }: SubmittedIngest): number {
  return chunks.reduce((sum, { body }) => sum + body.length, command.length)
}

function parsed({ body }: OutgoingAnswer): unknown {
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'))
}
