/**
 * Kills the server repeatedly while it embeds documents that are being written. Finally checks what is stored
 * and what the provider was asked for: every document has the vectors of exactly its content, once. A text
 * was paid for again only if its call was in flight when the server was killed.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createChunker } from '../../../src/engine/text/chunker.js'
import { EMBEDDING_SLICES_MAX } from '../../../src/limits/embedding.js'
import { EMBEDDING_NUMBERS_ENCODED_MAX } from '../../../src/outbound/embedding/remote_provider.js'
import { unescapeContent } from '../../../src/store/body.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'
import { Random } from '../../harness/random.js'
import { type Server, startServer } from '../../harness/server/server.js'

/** Large enough that a call takes few texts, and many calls are in flight. */
const DIMENSIONS = 4096
const TEXTS_PER_CALL = EMBEDDING_NUMBERS_ENCODED_MAX / DIMENSIONS
const BATCH_DOCUMENTS = 50
const CHUNK_SIZE = 200
const CALLS_UNTIL_KILL_MAX = 10
const WAIT_MS_MAX = 300_000

export interface EmbeddingReport {
  readonly documents: number
  readonly kills: number
  readonly texts: number
  /** Number of repeated requests for the same text, over all texts. */
  readonly paidAgain: number
  readonly calls: number
}

interface NewDocument {
  readonly key: string
  readonly lang: string
  readonly contentMd: string
}

/** Documents of one to three chunks. */
function documentsOf(random: Random, count: number): NewDocument[] {
  return Array.from({ length: count }, (_, at) => {
    const paragraphs = Array.from(
      { length: 1 + random.below(3) },
      (_, part) => `Document ${at}, part ${part}: ${'words '.repeat(22).trim()}.`,
    )
    return { key: `key ${at}`, lang: 'en', contentMd: paragraphs.join('\n\n') }
  })
}

/** @param tell receives progress lines */
export async function runEmbeddingKills(
  seed: number,
  count: number,
  kills: number,
  tell: (line: string) => void = () => undefined,
): Promise<EmbeddingReport> {
  const random = new Random(seed)
  const provider = await EmbeddingServer.start()
  const directory = await mkdtemp(join(tmpdir(), 'mds-embedding-'))
  const documents = documentsOf(random, count)
  const start = (): Promise<Server> =>
    startServer({
      directory,
      env: embeddingEnv(provider, {
        SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS),
        SVC_EMBEDDING_CHUNK_SIZE: String(CHUNK_SIZE),
        SVC_EMBEDDING_QUEUE_SIZE: String(count),
      }),
    })
  try {
    let written = 0
    for (let kill = 1; kill <= kills; kill++) {
      const server = await start()
      const dead = killAtCall(provider, server, 1 + random.below(CALLS_UNTIL_KILL_MAX))
      written = await write(server, documents, written)
      await dead
      tell(`kill ${kill}: ${written} documents written, ${provider.requests.length} calls`)
    }
    const server = await start()
    assert.equal(await write(server, documents, written), count)
    const stats = await whenEmbedded(server, { c: count }, WAIT_MS_MAX)
    assert.equal(stats.queue.dropped, 0)
    await server.stop()
    const texts = checkStore(directory, documents)
    return { documents: count, kills, texts: texts.size, calls: provider.requests.length, paidAgain: checkPaid(provider, texts, kills) }
  } finally {
    await provider.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** Resolves when the server is dead. The call itself may or may not be answered. */
function killAtCall(provider: EmbeddingServer, server: Server, calls: number): Promise<void> {
  return new Promise((resolve) => {
    let left = calls
    provider.refuses = () => {
      if (--left === 0) void server.kill().then(resolve)
      return false
    }
  })
}

/**
 * Writes until all documents are written or the server is dead.
 * @returns the number of acknowledged documents in total
 */
async function write(server: Server, documents: readonly NewDocument[], from: number): Promise<number> {
  for (let at = from; at < documents.length; at += BATCH_DOCUMENTS) {
    const batch = documents.slice(at, at + BATCH_DOCUMENTS)
    const answer = await server.post('/v1/add-batch', { collection: 'c', documents: batch }).catch(() => undefined)
    if (answer?.status !== 200) return at
  }
  return documents.length
}

/**
 * Checks that every document has the vectors of its content.
 * @returns all texts that had to be embedded
 */
function checkStore(directory: string, documents: readonly NewDocument[]): Set<string> {
  const texts = new Set<string>()
  const chunker = createChunker()
  const store = new TruthStore(openDataDirectory(directory).generationPath)
  store.read((view) => {
    const { id = 0 } = view.collection('c') ?? {}
    assert.equal([...view.vectors.stamps()].length, documents.length)
    for (const { key, lang, contentMd } of documents) {
      const head = view.find(id, key, lang)
      assert.ok(head)
      assert.equal(unescapeContent(view.escapedContent(head)), contentMd)
      const record = view.vectors.record(id, head.docid)
      assert.ok(record)
      assert.equal(record.bodyLsn, head.bodyLsn, 'they are those of the present content')
      const content = Buffer.from(contentMd)
      assert.deepEqual(record.ranges, chunker.chunk(content, 'prose', CHUNK_SIZE, 0))
      for (let chunk = 0; chunk < record.hashes.length; chunk++) {
        const text = content.toString('utf8', record.ranges[chunk * 2], record.ranges[chunk * 2 + 1])
        texts.add(text)
        assert.deepEqual(record.vectors.slice(chunk * DIMENSIONS, (chunk + 1) * DIMENSIONS), embedText(text, DIMENSIONS))
      }
    }
  })
  void store.close()
  return texts
}

/**
 * Checks that per kill at most the calls in flight are paid for again.
 * @returns the number of texts paid for again
 */
function checkPaid(provider: EmbeddingServer, texts: ReadonlySet<string>, kills: number): number {
  const paid = new Map<string, number>()
  for (const { texts: asked } of provider.requests) for (const text of asked) paid.set(text, (paid.get(text) ?? 0) + 1)
  for (const text of paid.keys()) assert.ok(texts.has(text), `nobody wanted: ${text}`)
  assert.equal(paid.size, texts.size)
  const again = [...paid.values()].reduce((sum, times) => sum + times - 1, 0)
  assert.ok(again <= kills * EMBEDDING_SLICES_MAX * TEXTS_PER_CALL, `${again} texts were paid for again after ${kills} kills`)
  return again
}
