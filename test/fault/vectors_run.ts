/**
 * Documents with vectors under a server that is killed again and again while it writes the files of its
 * vector index. After each start every acknowledged document must be the nearest to each of its own vectors,
 * no vector of a document that was deleted or replaced may be found, and the counts must be those of the
 * documents. Vectors of queries are computed here, as the provider computes them, so that a search needs no
 * provider.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, watch } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createChunker } from '../../src/engine/chunker.js'
import { currentGeneration } from '../../src/store/layout.js'
import { embeddingEnv, whenEmbedded } from '../contract/embedding_client.js'
import { EmbeddingServer, embedText } from '../harness/embedding_server.js'
import { startServer, type Server } from '../harness/server.js'
import { Random } from './random.js'

export const DIMENSIONS = 64
const CHUNK_SIZE = 200
const COLLECTION = 'c'
const BATCH_DOCUMENTS = 50
const KEYS = 900
const PARTS_MAX = 6
const WORDS = 12
/**
 * A document is as near to its own vector as the rounding of f32 lets it be; any other shares a word or two
 * with it.
 */
const OWN_SCORE_MIN = 0.9999
const SEARCHES_AT_ONCE = 4
/**
 * Searches of each kind that a verification asks, spread over all: the last start is asked for everything
 * that is alive.
 */
const ASKED_MAX = 600
/** Files are written at rest: a kill that waits for one lets the writes end after so many batches. */
const BATCHES_BEFORE_REST = 12
/** Where no file is written the server is killed anyway. */
const KILL_MS_MAX = 20_000

/** What a kill waits for: a moment, or the n-th time that such a file is written to. */
export type KillMoment = { readonly afterMs: number } | { readonly file: '.rows' | '.graph.tmp'; readonly times: number }

interface Chunk {
  readonly key: string
  readonly vector: Float32Array
}

interface Hit {
  readonly document: { readonly key: string }
  readonly score: number
}

export interface VectorReport {
  documents: number
  chunks: number
  kills: number
  searches: number
  killedAtFile: number
  lines: string[]
}

export class VectorRun {
  readonly report: VectorReport = { documents: 0, chunks: 0, kills: 0, searches: 0, killedAtFile: 0, lines: [] }
  readonly #random: Random
  readonly #chunker = createChunker()
  /** Content of every document as it was acknowledged; undefined: deleted. */
  readonly #acknowledged = new Map<string, string | undefined>()
  /** Keys of writes without an answer. */
  readonly #uncertain = new Set<string>()
  /** Contents that nothing may find any more. */
  readonly #gone: { readonly key: string; readonly content: string }[] = []
  #versions = 0

  private constructor(
    seed: number,
    readonly provider: EmbeddingServer,
    readonly directory: string,
  ) {
    this.#random = new Random(seed)
  }

  static async begin(seed: number): Promise<VectorRun> {
    return new VectorRun(seed, await EmbeddingServer.start(), await mkdtemp(join(tmpdir(), 'mds-vectors-')))
  }

  async end(): Promise<void> {
    await this.provider.stop()
    await rm(this.directory, { recursive: true, force: true })
  }

  start(env: Readonly<Record<string, string>> = {}): Promise<Server> {
    return startServer({
      directory: this.directory,
      env: embeddingEnv(this.provider, {
        SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS),
        SVC_EMBEDDING_CHUNK_SIZE: String(CHUNK_SIZE),
        SVC_EMBEDDING_QUEUE_SIZE: '100000',
        ...env,
      }),
    })
  }

  /** Writes and searches until the server is dead. */
  async killDuringLoad(server: Server, moment: KillMoment): Promise<void> {
    const batches = 'afterMs' in moment ? Infinity : BATCHES_BEFORE_REST
    await Promise.all([
      this.#untilDead(server, () => this.#writeBatch(server), batches),
      this.#untilDead(server, () => this.#searchBeside(server), Infinity),
      this.#killAt(server, moment),
    ])
    this.report.kills++
  }

  /** What was acknowledged, and nothing else. @param isLast everything, not some of it */
  async verify(server: Server, isLast = false): Promise<void> {
    await this.#settleUncertain(server)
    const live = [...this.#acknowledged].flatMap(([key, content]) => (content === undefined ? [] : [{ key, content }]))
    const chunks = live.flatMap(({ key, content }) => this.#chunksOf(key, content))
    if (live.length === 0) return
    const stats = await whenEmbedded(server, { [COLLECTION]: live.length }, 120_000)
    await whenLoaded(server)
    assert.equal(stats.collections[COLLECTION]?.total_chunks, chunks.length)
    this.report.documents = live.length
    this.report.chunks = chunks.length
    await this.#each(isLast ? chunks : this.#some(chunks), async ({ key, vector }) => {
      const [nearest] = await this.#search(server, vector, 'flat')
      assert.equal(nearest?.document.key, key)
      assert.ok(nearest.score > OWN_SCORE_MIN, `${key}: ${nearest.score}`)
    })
    const gone = this.#some(this.#gone).flatMap(({ key, content }) => this.#chunksOf(key, content))
    await this.#each(this.#some(gone), async ({ key, vector }) => {
      const [nearest] = await this.#search(server, vector, 'flat')
      assert.ok((nearest?.score ?? 0) < OWN_SCORE_MIN, `a vector of ${key} that is gone is found`)
    })
    await this.#checkGraph(server, this.#some(chunks))
    this.report.lines.push(...vectorLines(server))
  }

  /** The graph may err, but hardly ever for a vector that it holds. */
  async #checkGraph(server: Server, chunks: readonly Chunk[]): Promise<void> {
    let found = 0
    await this.#each(chunks, async ({ key, vector }) => {
      if ((await this.#search(server, vector, 'hnsw')).some(({ document }) => document.key === key)) found++
    })
    assert.ok(found >= chunks.length * 0.98, `hnsw finds ${found} of ${chunks.length}`)
  }

  async #search(server: Server, vector: Float32Array, algorithm: string): Promise<readonly Hit[]> {
    this.report.searches++
    const answer = await server.post('/v1/vector-search', {
      collection: COLLECTION,
      queryVector: [...vector],
      topK: 3,
      threshold: -1,
      algorithm,
    })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ results: readonly Hit[] }>().results
  }

  #some<T>(all: readonly T[]): readonly T[] {
    const step = Math.max(1, Math.ceil(all.length / ASKED_MAX))
    const from = this.#random.below(step)
    return all.filter((_, at) => at % step === from)
  }

  async #each(chunks: readonly Chunk[], run: (chunk: Chunk) => Promise<void>): Promise<void> {
    const left = chunks[Symbol.iterator]()
    await Promise.all(
      Array.from({ length: SEARCHES_AT_ONCE }, async () => {
        for (const chunk of left) await run(chunk)
      }),
    )
  }

  /**
   * Beside writes a document may be between two versions: only that searches answer, and find something, is
   * looked at.
   */
  async #searchBeside(server: Server): Promise<void> {
    const vector = embedText(`query ${this.#random.below(1000)}`, DIMENSIONS)
    const hits = await this.#search(server, vector, this.#random.pick(['flat', 'hnsw']))
    if (this.report.documents > 0) assert.ok(hits.length > 0, 'a search finds nothing')
  }

  async #untilDead(server: Server, step: () => Promise<void>, times: number): Promise<void> {
    let isDead = false
    void server.ended.then(() => (isDead = true))
    for (let done = 0; done < times; done++) {
      try {
        await step()
      } catch (error) {
        if (isDead || isBroken(error)) return
        throw error
      }
    }
  }

  async #writeBatch(server: Server): Promise<void> {
    const keys = Array.from({ length: BATCH_DOCUMENTS }, () => `key-${this.#random.below(KEYS)}`)
    if (this.#random.below(4) === 0) {
      const present = keys.filter((key) => this.#acknowledged.get(key) !== undefined).slice(0, 5)
      for (const key of new Set(present)) {
        this.#uncertain.add(key)
        const answer = await server.post('/v1/delete', { collection: COLLECTION, key, lang: 'en' })
        assert.equal(answer.status, 200, answer.text)
        this.#became(key, undefined)
      }
      return
    }
    const documents = [...new Set(keys)].map((key) => ({ key, lang: 'en', contentMd: this.#content(key) }))
    for (const { key } of documents) this.#uncertain.add(key)
    const answer = await server.post('/v1/add-batch', { collection: COLLECTION, documents })
    assert.equal(answer.status, 200, answer.text)
    for (const { key, contentMd } of documents) this.#became(key, contentMd)
  }

  #became(key: string, content: string | undefined): void {
    this.#uncertain.delete(key)
    const before = this.#acknowledged.get(key)
    if (before !== undefined && before !== content) this.#gone.push({ key, content: before })
    this.#acknowledged.set(key, content)
  }

  /** A write without an answer was done or not: the document says which. */
  async #settleUncertain(server: Server): Promise<void> {
    for (const key of [...this.#uncertain]) {
      const answer = await server.post('/v1/get', { collection: COLLECTION, key, lang: 'en' })
      assert.ok(answer.status === 200 || answer.status === 404, answer.text)
      this.#became(key, answer.status === 200 ? answer.json<{ contentMd: string }>().contentMd : undefined)
    }
  }

  /** Of one to six chunks, each of words that occur nowhere else. */
  #content(key: string): string {
    const version = this.#versions++
    return Array.from({ length: 1 + this.#random.below(PARTS_MAX) }, (_, part) =>
      Array.from({ length: WORDS }, (__, word) => `${key.slice(4)}v${version}p${part}w${word}`).join(' '),
    ).join('\n\n')
  }

  #chunksOf(key: string, text: string): Chunk[] {
    const content = Buffer.from(text)
    const ranges = this.#chunker.chunk(content, 'prose', CHUNK_SIZE, 0)
    return Array.from({ length: ranges.length / 2 }, (_, at) => ({
      key,
      vector: embedText(content.toString('utf8', ranges[at * 2], ranges[at * 2 + 1]), DIMENSIONS),
    }))
  }

  async #killAt(server: Server, moment: KillMoment): Promise<void> {
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, 'afterMs' in moment ? moment.afterMs : KILL_MS_MAX)
      if ('afterMs' in moment) return
      const folder = vectorsFolder(this.directory)
      if (!existsSync(folder)) mkdirSync(folder)
      let left = moment.times
      const watcher = watch(folder, (_, name) => {
        if (name?.endsWith(moment.file) !== true || --left > 0) return
        watcher.close()
        clearTimeout(late)
        this.report.killedAtFile++
        resolve()
      })
      void server.ended.then(() => watcher.close())
    })
    await server.kill()
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && !(error instanceof assert.AssertionError)
}

export function vectorsFolder(directory: string): string {
  return join(currentGeneration(directory), 'vectors')
}

/** What a start said of the files. */
export function vectorLines(server: Server): string[] {
  return server
    .output()
    .split('\n')
    .filter((line) => /^\S+ \w+ vectors: /.test(line))
}

/** Asks until the vector index is whole. */
export async function whenLoaded(server: Server, msMax = 60_000): Promise<void> {
  const end = performance.now() + msMax
  for (;;) {
    const stats = (await server.get('/v1/vector-stats')).json<{ index_ready: boolean }>()
    if (stats.index_ready) return
    assert.ok(performance.now() < end, `still loading after ${msMax} ms\n${server.output()}`)
  }
}
