/**
 * The disk-full campaign: a supervised server on a small file system, eight writers with a ledger, and four
 * readers. The disk is filled alternately from outside and by documents. In each round the disk fills up,
 * writes are refused, space is freed (a file is removed, or a collection is deleted), and writes must resume
 * automatically. Every read must be answered throughout, and every acknowledged write must be present at the
 * end. Used by scripts/campaigns/disk-full.mjs.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { SmallDisk } from '../../harness/process/small_disk.js'
import { Random } from '../../harness/random.js'
import { HttpClient, NoAnswer } from '../../harness/server/http_client.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { Ledger } from '../load/ledger.js'
import { verifyStore } from '../load/verification.js'
import { COLLECTION, WriteLoad } from '../load/write_load.js'

const DISK_MB = 64
const READERS = 4
const REQUESTS_PER_CLIENT = 8
/** Documents that fill the disk, made of incompressible words. */
const FILLER_WORDS = 4000
const FILLER_DOCUMENTS = 10
/**
 * From the return of space to the first acknowledged write: the lane checks twice per second, and the machine
 * may be busy.
 */
const RECOVERY_MS_MAX = 10_000
const PROBE = { collection: 'probes', key: 'probe', lang: 'en', contentMd: 'probe' }
const BINLOG_BYTES = String(4 << 20)

export interface RoundReport {
  readonly filledBy: 'another' | 'documents'
  readonly acknowledged: number
  readonly refused: number
  /** Whether health reported the full disk. */
  readonly isSaid: boolean
  readonly reads: number
  /** Reads without a correct answer. */
  readonly readsFailed: number
  /** From the return of space to the first accepted write. */
  readonly recoveryMs: number
  /** One sentence each; empty if all guarantees hold. */
  readonly complaints: readonly string[]
}

export class DiskFullRun {
  readonly #disk: SmallDisk
  readonly #random: Random
  readonly #ledger = new Ledger()
  readonly #load: WriteLoad
  #server!: Server
  #http!: HttpClient
  #fillers = 0

  /** @throws Error if this user may not mount */
  constructor(seed: number) {
    const disk = SmallDisk.mount(DISK_MB)
    if (disk === undefined) throw new Error('a file system of its own takes the right to mount')
    this.#disk = disk
    this.#random = new Random(seed)
    this.#load = new WriteLoad(seed, this.#ledger)
  }

  async begin(): Promise<void> {
    this.#server = await startServer({
      directory: join(this.#disk.path, 'db'),
      supervisor: true,
      env: { SVC_BINLOG_MAX_SIZE: BINLOG_BYTES },
    })
    this.#http = new HttpClient(this.#server.port)
  }

  /** Number of restarts by the supervisor. */
  get restarts(): number {
    return this.#server.output().match(/starting it again/g)?.length ?? 0
  }

  async round(filledBy: RoundReport['filledBy']): Promise<RoundReport> {
    const complaints: string[] = []
    const reading = this.#read()
    const before = await this.#load.run(this.#http, REQUESTS_PER_CLIENT)
    if (filledBy === 'another') this.#disk.fill(0)
    // In this case, too: space freed in an earlier round may correctly be used by writes.
    await this.#fillWithDocuments(complaints)
    // Trimming of the binlog may have freed space meanwhile. The forbidden case is a health answer without a
    // warning while writes are refused.
    let isSaid = false
    await this.#until(
      async () => {
        isSaid = (await this.#http.send('GET', '/v1/health')).status === 503
        return isSaid || (await this.#http.post('/v1/add', PROBE)).status === 200
      },
      complaints,
      'health does not say that the disk is full, and a write is refused',
    )
    const during = await this.#load.run(this.#http, REQUESTS_PER_CLIENT)
    const freed = performance.now()
    if (filledBy === 'another') this.#disk.empty()
    else await this.#delete(complaints)
    await this.#until(async () => (await this.#http.post('/v1/add', PROBE)).status === 200, complaints, 'writing is not resumed')
    const recoveryMs = performance.now() - freed
    const { reads, failed } = await reading.stop()
    const verified = await verifyStore(this.#http, this.#ledger)
    for (const [key, state] of verified.found) this.#ledger.observe(key, state)
    return {
      filledBy,
      acknowledged: before.acknowledged + during.acknowledged,
      refused: [...before.refused.values(), ...during.refused.values()].reduce((sum, count) => sum + count, 0),
      isSaid,
      reads,
      readsFailed: failed,
      recoveryMs: Math.round(recoveryMs),
      complaints: [...complaints, ...verified.complaints],
    }
  }

  /** The final check: a clean stop on a full disk, and a start from what is stored. */
  async end(): Promise<readonly string[]> {
    this.#disk.fill(0)
    this.#http.close()
    const code = await this.#server.stop()
    const complaints = code === 0 ? [] : [`the shutdown on a full disk ended with ${code}: ${this.#server.output().slice(-500)}`]
    await this.begin()
    const { complaints: found } = await verifyStore(this.#http, this.#ledger)
    this.#http.close()
    await this.#server.stop()
    rmSync(join(this.#disk.path, 'db'), { recursive: true, force: true })
    this.#disk.unmount()
    return [...complaints, ...found]
  }

  #read(): { stop(): Promise<{ readonly reads: number; readonly failed: number }> } {
    const keys = Array.from({ length: 8 * 24 }, (_, i) => `client-${i >> 5}/doc-${i % 24}`)
    let isStopped = false
    let reads = 0
    let failed = 0
    const readOn = async (): Promise<void> => {
      while (!isStopped) {
        const key = this.#random.pick(keys)
        const isSearch = this.#random.below(4) === 0
        const sent = isSearch
          ? this.#http.post('/v1/fts', { collection: COLLECTION, query: key, limit: 3 })
          : this.#http.post('/v1/get', { collection: COLLECTION, key, lang: 'en' })
        const status = await sent.then((reply) => reply.status).catch((cause: unknown) => this.#silence(cause))
        reads++
        if (status !== 200 && status !== 404) failed++
      }
    }
    const readers = Array.from({ length: READERS }, readOn)
    return {
      stop: async () => {
        isStopped = true
        await Promise.all(readers)
        return { reads, failed }
      },
    }
  }

  #silence(cause: unknown): number {
    if (cause instanceof NoAnswer) return 0
    throw cause
  }

  /**
   * Writes until nothing is accepted: when a batch no longer fits, a single document may, and then a smaller
   * one.
   */
  async #fillWithDocuments(complaints: string[]): Promise<void> {
    for (let words = FILLER_WORDS; words >= 1; words = Math.floor(words / 4)) {
      for (let isTaken = true; isTaken;) {
        const documents = Array.from({ length: words === FILLER_WORDS ? FILLER_DOCUMENTS : 1 }, () => ({
          key: `filler-${this.#fillers++}`,
          lang: 'en',
          contentMd: Array.from({ length: words }, () => this.#random.next().toString(36).slice(2)).join(' '),
        }))
        const { status, body } = await this.#http.post('/v1/add-batch', { collection: 'filler', documents })
        isTaken = status === 200
        if (!isTaken && status !== 503) complaints.push(`a write on a full disk answers ${status} ${JSON.stringify(body)}`)
      }
    }
  }

  async #delete(complaints: string[]): Promise<void> {
    const { status, body } = await this.#http.post('/v1/delete-collection', { collection: 'filler' })
    if (status !== 200) complaints.push(`delete-collection on a full disk answers ${status} ${JSON.stringify(body)}`)
  }

  async #until(isReached: () => Promise<boolean>, complaints: string[], complaint: string): Promise<void> {
    const end = performance.now() + RECOVERY_MS_MAX
    while (performance.now() < end) if (await isReached().catch(() => false)) return
    complaints.push(`${complaint} within ${RECOVERY_MS_MAX} ms`)
  }
}
