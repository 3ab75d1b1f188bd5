/**
 * Documents with vectors in a server that is repeatedly killed while it writes the files of its vector index.
 * After each start every acknowledged document must be the nearest to each of its own vectors, no vector of a
 * deleted or replaced document may be found, and the counts must match the documents. Query vectors are
 * computed here by the provider's function, so that a search needs no provider.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, watch } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createChunker } from '../../../src/engine/text/chunker.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'
import { Random } from '../../harness/random.js'
import { type Server, startServer } from '../../harness/server/server.js'

export const DIMENSIONS = 64
const CHUNK_SIZE = 200
const COLLECTION = 'c'
const BATCH_DOCUMENTS = 50
const KEYS = 900
const PARTS_MAX = 6
const WORDS = 12
/**
 * A document matches its own vector within the rounding of f32; any other document shares only a word or two
 * with it.
 */
const OWN_SCORE_MIN = 0.9999
const SEARCHES_AT_ONCE = 4
/**
 * Number of searches of each kind in a verification, spread over all documents. The last verification covers
 * everything that is alive.
 */
const ASKED_MAX = 600
/** Files are written at rest: a kill that waits for a file stops the writes after this many batches. */
const BATCHES_BEFORE_REST = 12
/** If no file is written, the server is killed after this time. */
const KILL_MS_MAX = 20_000

/** The moment of a kill: after a time, or at the n-th write to such a file. */
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
  /** Acknowledged content of every document; undefined: deleted. */
  readonly #acknowledged = new Map<string, string | undefined>()
  /** Keys of unanswered writes. */
  readonly #uncertain = new Set<string>()
  /** Contents that no search may find. */
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

  /**
   * Checks that exactly the acknowledged documents are found.
   * @param isLast checks all of them instead of a sample
   */
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

  /** The graph may miss a vector that it contains, but rarely. */
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
   * During writes a document may be between two versions, so only this is checked: searches are answered and
   * find something.
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

  /** An unanswered write was executed or not; the document is read to find out. */
  async #settleUncertain(server: Server): Promise<void> {
    for (const key of [...this.#uncertain]) {
      const answer = await server.post('/v1/get', { collection: COLLECTION, key, lang: 'en' })
      assert.ok(answer.status === 200 || answer.status === 404, answer.text)
      this.#became(key, answer.status === 200 ? answer.json<{ contentMd: string }>().contentMd : undefined)
    }
  }

  /** Content of one to six chunks, each of unique words. */
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

/** The lines of a start about the files. */
export function vectorLines(server: Server): string[] {
  return server
    .output()
    .split('\n')
    .filter((line) => /^\S+ \w+ vectors: /.test(line))
}

/** Waits until the vector index is complete. */
export async function whenLoaded(server: Server, msMax = 60_000): Promise<void> {
  const end = performance.now() + msMax
  for (;;) {
    const stats = (await server.get('/v1/vector-stats')).json<{ index_ready: boolean }>()
    if (stats.index_ready) return
    assert.ok(performance.now() < end, `still loading after ${msMax} ms\n${server.output()}`)
  }
}
