/**
 * The store that a flip campaign damages: made by a real server, with rows in nearly every table. Every text
 * in it names its owner.
 */
import assert from 'node:assert/strict'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { COLLECTIONS, keysOf } from './flip_questions.js'

const MASTER_KEY = Buffer.from('00112233445566778899aabbccddeeff').toString('base64')
const TTL_SECONDS = 10_000_000
/**
 * More than an LMDB page, so that bodies are stored on overflow pages; random, so that they stay that large
 * when compressed.
 */
const LONG_WORDS = 2500
const WORD_RADIX = 36

export class FlipStore {
  readonly jobs: string[] = []

  private constructor(
    readonly directory: string,
    readonly provider: EmbeddingServer,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  static async make(directory: string): Promise<FlipStore> {
    const provider = await EmbeddingServer.start()
    const env = { ...embeddingEnv(provider), SVC_ENCRYPTION_KEY: MASTER_KEY, SVC_TEMPORAL: 'true', SVC_SPELL: 'true' }
    const store = new FlipStore(directory, provider, env)
    const server = await startServer({ directory, env })
    try {
      await store.#fill(server)
    } finally {
      assert.equal(await server.stop(), 0, server.output())
    }
    return store
  }

  async close(): Promise<void> {
    this.provider.server.closeAllConnections()
    await new Promise((resolve) => this.provider.server.close(resolve))
  }

  async #fill(server: Server): Promise<void> {
    await ask(server, 'PUT', '/v1/collection-config', { collection: 'sealed', encrypted: true })
    for (const collection of COLLECTIONS) {
      await ask(server, 'POST', '/v1/add-batch', { collection, documents: keysOf(collection).map((key) => documentOf(collection, key, 1)) })
      await settingsOf(server, collection)
    }
    for (const collection of COLLECTIONS.filter((name) => name !== 'crowd')) await this.#history(server, collection)
    await whenEmbedded(server, Object.fromEntries(COLLECTIONS.map((name) => [name, keysOf(name).length])))
    // Documents written from here on wait for their vectors, in this process and after every start.
    this.provider.standing = { status: 503 }
    for (const collection of COLLECTIONS) {
      const [, , , , , , , last] = keysOf(collection)
      await ask(server, 'POST', '/v1/add', { collection, ...documentOf(collection, last as string, 5) })
    }
  }

  /** Revisions, a second spelling, expiries, a shared body, a job. */
  async #history(server: Server, collection: string): Promise<void> {
    for (const at of [0, 1, 2]) await ask(server, 'POST', '/v1/add', { collection, ...documentOf(collection, `doc-${at}`, 2) })
    await ask(server, 'POST', '/v1/add', { collection, ...documentOf(collection, 'doc-1', 3), key: 'DOC-1' })
    for (const at of [4, 6]) await ask(server, 'POST', '/v1/set-ttl', { collection, key: `doc-${at}`, lang: 'en', ttl: TTL_SECONDS })
    await ask(server, 'PATCH', '/v1/update', {
      collection,
      key: 'doc-2',
      lang: 'en',
      meta: { whose: [`of-${collection}-`], colour: ['green'] },
    })
    const zero = { collection, key: 'doc-0', lang: 'en' }
    const { revisions } = (await ask(server, 'POST', '/v1/revisions', zero)) as {
      readonly revisions: readonly { readonly timestamp: number }[]
    }
    await ask(server, 'POST', '/v1/revisions/restore', { ...zero, timestamp: revisions[1]?.timestamp, revision: 1 })
    const documents = [documentOf(collection, 'doc-3', 4)]
    const { id } = (await ask(server, 'POST', '/v1/bulk-ingest-job', { collection, documents })) as { readonly id: string }
    this.jobs.push(id)
    for (;;) {
      const { status } = (await ask(server, 'GET', `/v1/bulk-ingest-job/${id}`)) as { readonly status: string }
      if (status === 'completed') return
      assert.ok(['pending', 'running', 'processing'].includes(status), status)
    }
  }
}

async function settingsOf(server: Server, collection: string): Promise<void> {
  await ask(server, 'POST', '/v1/synonyms', { collection, term: 'walrus', synonyms: [`of-${collection}-synonym`] })
  await ask(server, 'POST', '/v1/stopwords', { collection, words: [`of-${collection}-word`] })
  await ask(server, 'POST', '/v1/schema/set', {
    collection,
    schema: { properties: { colour: { description: `of-${collection}-schema` } } },
  })
  const pins = [{ key: 'doc-4', position: 1 }]
  await ask(server, 'POST', '/v1/curation', { collection, query: `of-${collection}-rule`, enabled: true, pins })
  if (collection !== 'sealed') await ask(server, 'PUT', '/v1/collection-config', { collection, description: `of-${collection}-config` })
}

export function documentOf(collection: string, key: string, version: number): Readonly<Record<string, unknown>> {
  const number = Number(key.slice('doc-'.length))
  const own = `of-${collection}-${key}-`
  let word = number + 1
  const words = Array.from({ length: number % 5 === 1 ? LONG_WORDS : 10 }, () => (word = (word * 48271) % 2147483647).toString(WORD_RADIX))
  const contentMd = `# ${own}\n\nThe walrus ${own} in version ${version}.\n\n${words.join(' ')}\n\n${own}`
  return { key, lang: 'en', contentMd, meta: { whose: [`of-${collection}-`], who: [own], version: [String(version)] } }
}

async function ask(server: Server, method: string, path: string, body?: object): Promise<unknown> {
  const { status, text } = await server.request(method, path, body)
  assert.ok(status === 200 || status === 202, `${method} ${path} ${status} ${text.slice(0, 1000)}`)
  return JSON.parse(text)
}
