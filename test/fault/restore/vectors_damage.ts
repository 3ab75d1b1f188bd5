/**
 * Every kind of file of the vector index, flipped, truncated, removed and swapped between two starts. Each
 * start begins from the same intact files with one damage, and must give the same answers.
 */
import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { DIMENSIONS, vectorLines, vectorsFolder, whenLoaded } from './vectors_run.js'

/** Enough documents for a graph in one collection, and few in the other. */
const COUNTS = { large: 2500, small: 300 }
const BATCH_DOCUMENTS = 500
const QUERIES = 25
const FILES_MS_MAX = 60_000

const ROWS = 'large.rows'
const GRAPH = 'large.graph'
const OTHER = 'small.rows'
const MARK = 'EPOCH'

export interface Damage {
  readonly name: string
  readonly apply: (folder: string) => void
}

const flipAt = (file: string, part: number): Damage => ({
  name: `a changed byte at ${part} of ${file}`,
  apply: (folder) => {
    const path = join(folder, nameOf(folder, file))
    const bytes = readFileSync(path)
    const at = Math.floor((bytes.length - 1) * part)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at)
    writeFileSync(path, bytes)
  },
})
const cutTo = (file: string, part: number): Damage => ({
  name: `${file} cut to ${part}`,
  apply: (folder) => {
    const path = join(folder, nameOf(folder, file))
    truncateSync(path, Math.floor((statSync(path).size - 1) * part))
  },
})
const without = (file: string): Damage => ({ name: `without ${file}`, apply: (folder) => rmSync(join(folder, nameOf(folder, file))) })
const swapped = (one: string, other: string): Damage => ({
  name: `${one} and ${other} swapped`,
  apply: (folder) => {
    const [a, b] = [join(folder, nameOf(folder, one)), join(folder, nameOf(folder, other))]
    const bytes = readFileSync(a)
    copyFileSync(b, a)
    writeFileSync(b, bytes)
  },
})

export const DAMAGES: readonly Damage[] = [
  ...[ROWS, GRAPH].flatMap((file) => [0, 0.2, 0.5, 0.8].map((part) => flipAt(file, part))),
  ...[0, 0.5, 1].map((part) => flipAt(MARK, part)),
  ...[ROWS, GRAPH, MARK].flatMap((file) => [0, 0.5, 1].map((part) => cutTo(file, part))),
  ...[ROWS, GRAPH, MARK, OTHER].map(without),
  ...([[ROWS, OTHER], [ROWS, GRAPH], [GRAPH, MARK], [OTHER, MARK]] as const).map(([one, other]) => swapped(one, other)),
  { name: 'an empty folder', apply: (folder) => rmSync(folder, { recursive: true }) },
] // prettier-ignore

/** File names contain collection ids: the first is `large`. */
function nameOf(folder: string, file: string): string {
  const [, set, ending = ''] = /^(large|small)(\.\w+)$/.exec(file) ?? []
  if (set === undefined) return file
  const names = readdirSync(folder).filter((name) => name.endsWith(ending))
  const sorted = names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
  const name = set === 'large' ? sorted[0] : sorted.at(-1)
  assert.ok(name !== undefined, `${file} is there`)
  return name
}

export class DamageRun {
  readonly #provider: EmbeddingServer
  readonly #directory = mkdtempSync(join(tmpdir(), 'mds-vector-damage-'))
  readonly #sound = mkdtempSync(join(tmpdir(), 'mds-vector-sound-'))
  #answers: readonly unknown[] = []

  private constructor(provider: EmbeddingServer) {
    this.#provider = provider
  }

  static async begin(): Promise<DamageRun> {
    const run = new DamageRun(await EmbeddingServer.start())
    await run.#fill()
    return run
  }

  async end(): Promise<void> {
    await this.#provider.stop()
    for (const path of [this.#directory, this.#sound]) rmSync(path, { recursive: true, force: true })
  }

  async check(damage: Damage): Promise<void> {
    const folder = vectorsFolder(this.#directory)
    rmSync(folder, { recursive: true, force: true })
    cpSync(this.#sound, folder, { recursive: true })
    damage.apply(folder)
    const server = await this.#start()
    try {
      await whenLoaded(server)
      assert.notDeepEqual(vectorLines(server), [], 'the log says what is done')
      assert.deepEqual(await answersOf(server), this.#answers)
      await findsItself(server)
      assert.equal(await server.stop(), 0, server.output())
    } finally {
      // The next case reuses the directory.
      await server.kill()
    }
  }

  #start(): Promise<Server> {
    return startServer({
      directory: this.#directory,
      env: embeddingEnv(this.#provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS), SVC_EMBEDDING_QUEUE_SIZE: '100000' }),
    })
  }

  async #fill(): Promise<void> {
    const server = await this.#start()
    for (const [collection, count] of Object.entries(COUNTS)) {
      const documents = Array.from({ length: count }, (_, at) => ({ key: `key-${at}`, lang: 'en', contentMd: contentOf(collection, at) }))
      for (let at = 0; at < count; at += BATCH_DOCUMENTS) {
        const answer = await server.post('/v1/add-batch', { collection, documents: documents.slice(at, at + BATCH_DOCUMENTS) })
        assert.equal(answer.status, 200, answer.text)
      }
    }
    await whenEmbedded(server, COUNTS, FILES_MS_MAX)
    const folder = vectorsFolder(this.#directory)
    const end = performance.now() + FILES_MS_MAX
    const endings = (): string[] => readdirSync(folder).map((name) => name.replace(/^.*\./, '')).sort() // prettier-ignore
    while (endings().join() !== [MARK, 'graph', 'rows', 'rows'].join()) {
      assert.ok(performance.now() < end, `files: ${readdirSync(folder).join()}`)
      await server.get('/health')
    }
    this.#answers = await answersOf(server)
    assert.equal(await server.stop(), 0)
    rmSync(this.#sound, { recursive: true })
    cpSync(folder, this.#sound, { recursive: true })
    assert.ok(existsSync(join(this.#sound, MARK)))
    const again = await this.#start()
    assert.deepEqual(vectorLines(again), [], 'of sound files nothing is said')
    assert.deepEqual(await answersOf(again), this.#answers)
    assert.equal(await again.stop(), 0)
  }
}

function contentOf(collection: string, at: number): string {
  return `${collection}${at} word${at % 50} word${at % 7} other${(at * 31) % 997}`
}

/** Answers of exact searches in both collections. */
async function answersOf(server: Server): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  for (const collection of Object.keys(COUNTS)) {
    for (let query = 0; query < QUERIES; query++) {
      const queryVector = [...embedText(`word${query} word${query % 7} other${query}`, DIMENSIONS)]
      const answer = await server.post('/v1/vector-search', { collection, queryVector, topK: 20, threshold: -1, algorithm: 'flat' })
      assert.equal(answer.status, 200, answer.text)
      const { results } = answer.json<{ results: readonly { document: { key: string }; score: number }[] }>()
      assert.equal(results.length, 20)
      answers.push(results.map(({ document, score }) => [document.key, score]))
    }
  }
  return answers
}

/** Searches by the graph, or by its substitute while it is built. */
async function findsItself(server: Server): Promise<void> {
  for (let at = 0; at < COUNTS.large; at += 100) {
    const queryVector = [...embedText(contentOf('large', at), DIMENSIONS)]
    const answer = await server.post('/v1/vector-search', { collection: 'large', queryVector, topK: 5, threshold: -1, algorithm: 'hnsw' })
    assert.equal(answer.status, 200, answer.text)
    const keys = answer.json<{ results: readonly { document: { key: string } }[] }>().results.map(({ document }) => document.key)
    assert.ok(keys.includes(`key-${at}`), `key-${at} is not among ${keys.join()}`)
  }
}
