/**
 * Restores of a served store under load, in every successful and failing scenario. Two backups contain fifty
 * pages each, marked `one` and `two`, with vectors, and letters that are encrypted. Readers continuously
 * request pages, listings, and searches by words and by vectors; a writer writes meanwhile. In every case
 * each answer must come from one generation as a whole: every page is present with the same mark, and no
 * search is empty. A restore that fails leaves the mark unchanged. A process that is killed in the middle
 * starts again with one or the other generation, and with nothing left over.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'
import { directoryBytes, type SmallDisk } from '../../harness/process/small_disk.js'
import { Random } from '../../harness/random.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { bothChecksums, type Checksums } from '../../harness/store/checksums.js'
import { whenLoaded } from './vectors_run.js'

const PAGES = 50
const LETTERS = 20
const COUNTS = { pages: PAGES, letters: LETTERS }
const DIMENSIONS = 64
const MARKS = ['one', 'two'] as const
type Mark = (typeof MARKS)[number]

/** Steps of a restore at which a failure is injected; afterwards the old generation is served. */
export const FAILING_STEPS = ['restore.copied', 'restore.checked', 'restore.opened', 'restore.held', 'current.written'] as const
/** Steps at which the process is killed, and the generation that the next start serves. */
export const KILLED_STEPS = [
  ...FAILING_STEPS.map((step) => [step, 'old'] as const),
  ['current.renamed', 'new'],
  ['restore.served', 'new'],
  ['restore.adopted', 'new'],
] as const

export type Scenario =
  | { readonly kind: 'good' }
  | { readonly kind: 'damaged'; readonly how: 'bits' | 'cut' | 'seal' | 'foreign' }
  | { readonly kind: 'fails' | 'killed'; readonly step: string; readonly serves: 'old' | 'new' }
  /** The disk has space for this part of the bytes that a restore writes. */
  | { readonly kind: 'full'; readonly part: number }

export const SCENARIOS: readonly Scenario[] = [
  { kind: 'good' },
  ...(['bits', 'cut', 'seal', 'foreign'] as const).map((how) => ({ kind: 'damaged', how }) as const),
  ...FAILING_STEPS.map((step) => ({ kind: 'fails', step, serves: 'old' }) as const),
  ...[0, 0.1, 0.3, 0.5, 0.7, 0.9].map((part) => ({ kind: 'full', part }) as const),
  ...KILLED_STEPS.map(([step, serves]) => ({ kind: 'killed', step, serves }) as const),
]

export function nameOf(scenario: Scenario): string {
  switch (scenario.kind) {
    case 'good':
      return 'well'
    case 'damaged':
      return `a backup with ${scenario.how}`
    case 'full':
      return `a disk with space for ${scenario.part} of it`
    case 'fails':
    case 'killed':
      return `${scenario.kind} at ${scenario.step}`
  }
}

export interface RestoreReport {
  readonly restores: number
  readonly failures: number
  readonly kills: number
  /** Restores for which the disk was too small. */
  readonly full: number
  reads: number
  writes: number
  refusedWrites: number
  /** Longest time between two answers to one reader while a restore ran, in milliseconds. */
  silenceMsMax: number
}

interface Load {
  /** Settles when every request in flight has been answered. */
  stop(): Promise<void>
}

/** From the return of space to the first write. */
const WRITES_AGAIN_MS_MAX = 10_000

export class RestoreRun {
  readonly #disk: SmallDisk | undefined
  readonly #directory: string
  readonly #random: Random
  readonly report = { restores: 0, failures: 0, kills: 0, full: 0, reads: 0, writes: 0, refusedWrites: 0, silenceMsMax: 0 }
  readonly #key = randomBytes(32).toString('base64')
  #provider!: EmbeddingServer
  #server!: Server
  #mark: Mark = 'two'
  /** The checksums of each backup's collections. */
  readonly #checksums = new Map<Mark, readonly Checksums[]>()
  /** Bytes written by restores of each backup. */
  readonly #restoredBytes = new Map<Mark, number>()

  /** @param disk file system of the store; without it, the disk is never full */
  constructor(seed: number, disk?: SmallDisk) {
    this.#random = new Random(seed)
    this.#disk = disk
    this.#directory = mkdtempSync(join(disk?.path ?? tmpdir(), 'mds-restore-'))
  }

  async begin(): Promise<void> {
    this.#provider = await EmbeddingServer.start()
    this.#server = await this.#start()
    assert.equal((await this.#server.request('PUT', '/v1/collection-config', { collection: 'letters', encrypted: true })).status, 200)
    for (const mark of MARKS) {
      for (const [collection, count] of Object.entries(COUNTS)) {
        const documents = Array.from({ length: count }, (_, page) => ({
          key: `page-${page}`,
          lang: 'en',
          contentMd: `walrus ${mark} `.padEnd(3000, `word${page} `),
          meta: { mark: [mark] },
        }))
        assert.equal((await this.#server.post('/v1/add-batch', { collection, documents })).status, 200)
      }
      await whenEmbedded(this.#server, COUNTS)
      this.#checksums.set(mark, await this.#shownChecksums())
      assert.equal((await this.#server.get(`/v1/backup?to=${mark}.db`)).status, 200)
    }
    const backups = join(this.#directory, 'backups')
    const whole = readFileSync(join(backups, 'one.db'))
    for (const at of [whole.length >> 1, 4096 * 2 + 100, 20]) whole.writeUInt8((whole.readUInt8(at) + 1) & 0xff, at)
    writeFileSync(join(backups, 'bits.db'), whole)
    copyFileSync(join(backups, 'one.db'), join(backups, 'cut.db'))
    truncateSync(join(backups, 'cut.db'), whole.length - 5000)
    const seal = readFileSync(join(backups, 'one.db'))
    seal.writeUInt8(seal.readUInt8(seal.length - 30) ^ 1, seal.length - 30)
    writeFileSync(join(backups, 'seal.db'), seal)
    writeFileSync(join(backups, 'foreign.db'), Buffer.alloc(100_000, 'SQLite format 3'))
  }

  async end(): Promise<void> {
    assert.equal(await this.#server.stop(), 0, this.#server.output())
    await this.#provider.stop()
    rmSync(this.#directory, { recursive: true })
  }

  #start(failPoint?: string): Promise<Server> {
    const env = embeddingEnv(this.#provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS), SVC_ENCRYPTION_KEY: this.#key })
    return startServer({ directory: this.#directory, env: { ...env, SVC_HTTP_LOOPS: '2', MDS_FAIL_POINT: failPoint } })
  }

  async run(scenario: Scenario): Promise<void> {
    // The files replaced by the previous restore are removed once no process has them open; only a start
    // guarantees that.
    if (scenario.kind === 'full') await this.#restart(undefined)
    if (scenario.kind === 'fails' || scenario.kind === 'killed')
      await this.#restart(`${scenario.step}${scenario.kind === 'fails' ? ':error' : ''}`)
    const wanted = this.#random.pick(MARKS)
    if (scenario.kind === 'full') return await this.#full(scenario.part)
    const load = this.#load({ mayDie: scenario.kind === 'killed', writes: true })
    try {
      if (scenario.kind === 'killed') {
        await this.#killed(wanted, scenario.serves)
        return
      }
      const from = scenario.kind === 'damaged' ? scenario.how : wanted
      const answer = await this.#server.post('/v1/restore', { from: `${from}.db` })
      if (scenario.kind === 'good') {
        assert.deepEqual([answer.status, answer.json()], [200, { restored: `${wanted}.db` }])
        this.#mark = wanted
        this.#restoredBytes.set(wanted, directoryBytes(currentGeneration(this.#directory)))
        this.report.restores++
      } else {
        assert.equal(answer.status, 500, answer.text)
        assert.match(answer.text, /restore failed/)
        this.report.failures++
      }
      await this.#check()
    } finally {
      await load.stop()
    }
    await this.#check()
    if (scenario.kind === 'fails') await this.#restart(undefined)
  }

  async #killed(wanted: Mark, serves: 'old' | 'new'): Promise<void> {
    const asked = this.#server.post('/v1/restore', { from: `${wanted}.db` }).then(
      () => undefined,
      () => undefined,
    )
    assert.equal(await this.#server.ended, null, 'killed by itself')
    await asked
    this.report.kills++
    if (serves === 'new') this.#mark = wanted
    this.#server = await this.#start()
    await whenLoaded(this.#server)
    await this.#check()
  }

  /**
   * No writer runs meanwhile: a refused commit would end the process, which io_failure_run.ts tests. The
   * measured size is what a restore leaves, merges included. A restore may need less, but always more than
   * half of it.
   */
  async #full(part: number): Promise<void> {
    assert.ok(this.#disk !== undefined, 'a disk to fill')
    const [wanted, bytes] = this.#random.pick([...this.#restoredBytes])
    const load = this.#load({ mayDie: false, writes: false })
    try {
      this.#disk.fill(Math.floor(bytes * part))
      const answer = await this.#server.post('/v1/restore', { from: `${wanted}.db` })
      if (answer.status === 200 && part > 0.5) {
        this.#mark = wanted
        this.report.restores++
      } else {
        assert.equal(answer.status, 500, answer.text)
        assert.match(answer.text, /restore failed/)
        this.report.full++
      }
      assert.equal(await this.#shown(), this.#mark)
    } finally {
      this.#disk.empty()
      await load.stop()
    }
    await this.#writesAgain()
    await this.#check()
  }

  /** Waits until the server, which checks the space periodically, accepts writes. */
  async #writesAgain(): Promise<void> {
    const end = performance.now() + WRITES_AGAIN_MS_MAX
    const add = { collection: 'probes', key: 'again', lang: 'en', contentMd: 'walrus' }
    for (;;) {
      const { status, text } = await this.#server.post('/v1/add', add)
      if (status === 200) return
      assert.equal(status, 503, text)
      assert.ok(performance.now() < end, text)
    }
  }

  async #restart(failPoint: string | undefined): Promise<void> {
    assert.equal(await this.#server.stop(), 0, this.#server.output())
    this.#server = await this.#start(failPoint)
    await whenLoaded(this.#server)
  }

  /**
   * Checks that one generation is served as a whole and accepts writes, and that nothing else is in the
   * directory.
   */
  async #check(): Promise<void> {
    assert.equal(await this.#shown(), this.#mark)
    assert.deepEqual(await this.#shownChecksums(), this.#checksums.get(this.#mark))
    const key = `probe-${this.report.reads}`
    assert.equal((await this.#server.post('/v1/add', { collection: 'probes', key, lang: 'en', contentMd: `sealion ${key}` })).status, 200)
    const found = await this.#server.post('/v1/fts', { collection: 'probes', query: 'sealion', limit: 1000 })
    const results = found.json<{ results: { document: { key: string } }[] }>().results
    assert.ok(
      results.some(({ document }) => document.key === key),
      'a write is found by the next search',
    )
    assert.equal((await this.#server.post('/v1/delete', { collection: 'probes', key, lang: 'en' })).status, 200)
    assert.deepEqual(
      readdirSync(this.#directory)
        .filter((name) => name !== 'LOCK' && name !== 'backups' && name !== 'RESERVE')
        .map((name) => name.replace(/\d+$/, 'N')),
      ['CURRENT', 'gen-N'],
    )
  }

  /**
   * The mark of every page in one listing, and of every hit in searches by words and by vectors; all must be
   * equal.
   */
  async #shown(server = this.#server): Promise<string> {
    const listing = await server.post('/v1/search', { collection: 'pages', limit: 1000 })
    assert.equal(listing.status, 200, listing.text)
    const documents = listing.json<{ contentMd: string; meta: { mark: string[] } }[]>()
    const marks = new Set(documents.flatMap(({ contentMd, meta }) => [contentMd.split(' ')[1], ...meta.mark]))
    assert.deepEqual([documents.length, marks.size], [PAGES, 1], `one generation as a whole: ${[...marks].join()}`)
    const search = await server.post('/v1/fts', { collection: 'pages', query: 'walrus', limit: 1000, facetBy: ['mark'] })
    assert.equal(search.status, 200, search.text)
    const hits = search.json<{ results: { document: { contentMd: string } }[] }>().results
    const found = new Set(hits.map(({ document }) => document.contentMd.split(' ')[1]))
    assert.deepEqual([hits.length, found.size], [PAGES, 1], `one generation as a whole: ${[...found].join()}`)
    for (const [collection, count] of Object.entries(COUNTS)) await this.#shownByVectors(server, collection, count)
    return documents[0]?.meta.mark[0] ?? ''
  }

  /** Those of each collection, which have to be those of its documents. */
  async #shownChecksums(): Promise<readonly Checksums[]> {
    const all: Checksums[] = []
    for (const collection of Object.keys(COUNTS)) {
      const [shown, computed] = await bothChecksums(this.#server, collection)
      assert.deepEqual(shown, computed, collection)
      all.push(shown)
    }
    return all
  }

  async #shownByVectors(server: Server, collection: string, count: number): Promise<void> {
    const queryVector = [...embedText(`word${this.#random.below(PAGES)}`, DIMENSIONS)]
    const asked = {
      collection,
      queryVector,
      topK: 1000,
      threshold: -1,
      algorithm: this.#random.pick(['flat', 'hnsw']),
      includeContent: true,
    }
    const answer = await server.post('/v1/vector-search', asked)
    assert.equal(answer.status, 200, answer.text)
    const { results } = answer.json<{ results: { document: { contentMd: string } }[] }>()
    const marks = new Set(results.map(({ document }) => document.contentMd.split(' ')[1]))
    assert.deepEqual([results.length, marks.size], [count, 1], `one generation of ${collection} as a whole: ${[...marks].join()}`)
  }

  async #addNoise(server: Server): Promise<void> {
    const answer = await server.post('/v1/add', {
      collection: 'noise',
      key: `k${this.#random.below(20)}`,
      lang: 'en',
      contentMd: 'noise',
    })
    assert.ok(answer.status === 200 || answer.status === 503, answer.text)
    if (answer.status === 200) this.report.writes++
    else this.report.refusedWrites++
  }

  /**
   * Starts two readers and a writer.
   * @param mayDie the server is killed meanwhile
   */
  #load({ mayDie, writes }: { readonly mayDie: boolean; readonly writes: boolean }): Load {
    const server = this.#server
    let isOver = false
    const loop = async (step: () => Promise<void>): Promise<void> => {
      while (!isOver) {
        try {
          const began = performance.now()
          await step()
          if (!mayDie) this.report.silenceMsMax = Math.max(this.report.silenceMsMax, Math.round(performance.now() - began))
        } catch (error) {
          if (mayDie && !(error instanceof assert.AssertionError)) return
          throw error
        }
      }
    }
    const loops = [
      loop(async () => {
        await this.#shown(server)
        this.report.reads += 4
      }),
      loop(async () => {
        const key = `page-${this.#random.below(PAGES)}`
        const answer = await server.post('/v1/get', { collection: 'pages', key, lang: 'en' })
        assert.equal(answer.status, 200, answer.text)
        const { contentMd, meta } = answer.json<{ contentMd: string; meta: { mark: string[] } }>()
        assert.equal(contentMd.split(' ')[1], meta.mark[0])
        this.report.reads++
      }),
      ...(writes ? [loop(() => this.#addNoise(server))] : []),
    ]
    const settled = Promise.all(loops)
    // `stop` reports it; until then it must not count as unhandled.
    settled.catch(() => undefined)
    return {
      stop: async () => {
        isOver = true
        await settled
      },
    }
  }
}
