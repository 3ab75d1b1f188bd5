/**
 * The chores of a server besides single writes: bulk ingests, whose documents make the index flush and merge,
 * exports, backups and their restoration, trimming of revisions, rotation of keys. Every chore leaves the
 * documents in the write load's ledger unchanged: a backup is restored before anything else is written. A
 * chore may be refused or break off while a fault is armed, but what it reports as done must be done.
 */
import { rmSync } from 'node:fs'
import path from 'node:path'
import type { Random } from '../../harness/random.js'
import { type HttpClient, NoAnswer, type Reply } from '../../harness/server/http_client.js'
import { COLLECTION } from './write_load.js'

const BULK_COLLECTION = 'bulk'
/**
 * 250 x 6 KB are a quarter of the index's flush threshold. Every fourth round therefore has a flush, and
 * later ones have merges.
 */
const BULK_DOCUMENTS = 250
const BULK_WORDS = 700
const KEPT_REVISIONS = 6
/** A job is polled until it ends; each poll is a separate request. */
const POLL_MS = 20
const JOB_MS_MAX = 60_000

export interface ChoreOutcome {
  done: number
  /** Answers of 500 and above, and 409 after a torn call that succeeded although it reported failure. */
  refused: number
  unanswered: number
  hung: number
  readonly complaints: string[]
}

export class Chores {
  readonly #directory: string
  readonly #random: Random
  readonly #isSealed: boolean
  #round = 0
  /** Highest round whose bulk ingest was reported as completed. */
  #completedRound = 0

  constructor(directory: string, random: Random, isSealed: boolean) {
    this.#directory = directory
    this.#random = random
    this.#isSealed = isSealed
  }

  /**
   * Chores that may run beside other clients' writes.
   * @param backups number of backups and of exports: each creates, renames and removes some six files and
   *   folders
   */
  async beside(http: HttpClient, outcome: ChoreOutcome, backups: number): Promise<void> {
    this.#round++
    await this.#try(outcome, () => this.#ingest(http, outcome))
    await this.copies(http, outcome, backups)
  }

  /** Makes backups, removes them again, and makes as many exports. */
  async copies(http: HttpClient, outcome: ChoreOutcome, backups: number): Promise<void> {
    for (let number = 0; number < backups; number++) {
      await this.#try(outcome, () => this.#export(http, outcome, number % 2 === 0 ? 'zip' : 'ndjson'))
      await this.#try(outcome, async () => void (await this.#backup(http, outcome, `beside-${number}`)))
      this.#remove(`beside-${number}`)
    }
  }

  /**
   * Chores that run without other writers.
   * @param restores whether to include a restore, which takes longest
   */
  async alone(http: HttpClient, outcome: ChoreOutcome, restores: boolean): Promise<void> {
    await this.#try(outcome, async () => {
      this.#count(await http.post('/v1/truncate', { collection: COLLECTION, keepRevs: KEPT_REVISIONS }), outcome)
    })
    if (this.#isSealed) await this.#try(outcome, () => this.#rotate(http, outcome))
    if (!restores) return
    await this.#try(outcome, async () => {
      const name = `alone-${this.#round}`
      if (await this.#backup(http, outcome, name)) this.#count(await http.post('/v1/restore', { from: name }), outcome)
    })
    for (const name of [`alone-${this.#round}`, `beside-${this.#round}`])
      rmSync(path.join(this.#directory, 'backups', name), { force: true })
  }

  /** After a start: the documents of a completed job are stored. */
  async verify(http: HttpClient): Promise<readonly string[]> {
    if (this.#completedRound === 0) return []
    const complaints: string[] = []
    for (let number = 0; number < BULK_DOCUMENTS; number += 25) {
      const reply = await http.post('/v1/get', { collection: BULK_COLLECTION, key: `bulk-${number}`, lang: 'en' })
      const round =
        reply.status === 200 ? Number((reply.body as { readonly meta: { readonly round: readonly string[] } }).meta.round[0]) : 0
      if (round < this.#completedRound)
        complaints.push(`bulk-${number} is of round ${round}; that of ${this.#completedRound} was completed`)
    }
    return complaints
  }

  async #ingest(http: HttpClient, outcome: ChoreOutcome): Promise<void> {
    const round = this.#round
    const documents = Array.from({ length: BULK_DOCUMENTS }, (_, number) => ({
      key: `bulk-${number}`,
      lang: 'en',
      contentMd: Array.from({ length: BULK_WORDS }, () => this.#random.below(36 ** 4).toString(36)).join(' '),
      meta: { round: [String(round)] },
    }))
    const submitted = await http.post('/v1/bulk-ingest-job', { collection: BULK_COLLECTION, documents })
    if (!this.#count(submitted, outcome)) return
    const job = await this.#ended(http, `/v1/bulk-ingest-job/${(submitted.body as { readonly id: string }).id}`, outcome)
    if (job === null || job.status !== 'completed') return
    this.#completedRound = round
    if (job.failed !== 0) outcome.complaints.push(`a completed job has ${job.failed} failed documents`)
  }

  async #rotate(http: HttpClient, outcome: ChoreOutcome): Promise<void> {
    const started = await http.post('/v1/encryption/rotate', {})
    if (this.#count(started, outcome))
      await this.#ended(http, `/v1/encryption/jobs/${(started.body as { readonly id: string }).id}`, outcome)
  }

  /**
   * @returns the job once it has ended; null if its state is unknown, or if it waits for space on a disk that
   *   refuses writes
   */
  async #ended(http: HttpClient, at: string, outcome: ChoreOutcome): Promise<{ readonly status: string; readonly failed: number } | null> {
    const deadline = Date.now() + JOB_MS_MAX
    while (Date.now() < deadline) {
      const reply = await http.send('GET', at)
      if (!this.#count(reply, outcome)) return null
      const job = reply.body as { readonly status: string; readonly failed: number }
      if (!['pending', 'processing', 'queued', 'running'].includes(job.status)) return job
      const health = (await http.send('GET', '/health')).body as { readonly status: string }
      if (health.status === 'degraded') return null
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    outcome.complaints.push(`${at} has not ended after ${JOB_MS_MAX} ms`)
    return null
  }

  async #export(http: HttpClient, outcome: ChoreOutcome, format: 'ndjson' | 'zip'): Promise<void> {
    const { status, bytes } = await http.fetch('POST', '/v1/export', JSON.stringify({ collection: COLLECTION, format }))
    if (!this.#count({ status, body: null }, outcome)) return
    // A complete answer contains a complete export: a ZIP file ends with its central directory's end record,
    // NDJSON with a newline.
    const isWhole = format === 'zip' ? bytes.subarray(-22).readUInt32LE(0) === 0x06054b50 : bytes.length === 0 || bytes.at(-1) === 10
    if (!isWhole) outcome.complaints.push(`an export as ${format} of ${bytes.length} bytes ends in the middle`)
  }

  async #backup(http: HttpClient, outcome: ChoreOutcome, name: string): Promise<boolean> {
    return this.#count(await http.send('GET', `/v1/backup?to=${name}`), outcome)
  }

  #remove(backup: string): void {
    rmSync(path.join(this.#directory, 'backups', backup), { force: true })
  }

  #count({ status, body }: Reply, outcome: ChoreOutcome): boolean {
    if (status === 200 || status === 202) {
      outcome.done++
      return true
    }
    if (status < 500 && status !== 409) throw new Error(`unexpected ${status}: ${JSON.stringify(body)}`)
    outcome.refused++
    return false
  }

  async #try(outcome: ChoreOutcome, chore: () => Promise<void>): Promise<void> {
    try {
      await chore()
    } catch (cause) {
      if (!(cause instanceof NoAnswer)) throw cause
      outcome.unanswered++
      if (cause.hung) outcome.hung++
    }
  }
}
