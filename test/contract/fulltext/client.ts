/** A small collection `blog` on a server, and the requests of the contract tests of full-text search. */
import assert from 'node:assert/strict'
import { type Server, startServer } from '../../harness/server/server.js'
import { collectionOf, sharedServer } from '../../harness/server/shared_server.js'

export interface FulltextAnswer {
  readonly status: number
  readonly body: Record<string, unknown>
}

export interface FulltextResult {
  readonly document: {
    readonly key: string
    readonly contentMd: string
    readonly meta: Record<string, string[]>
    readonly [field: string]: unknown
  }
  readonly score: number
  readonly matchedTerms: readonly string[]
}

export const DOCUMENTS = [
  {
    key: 'wal',
    lang: 'en',
    meta: { title: ['Write-ahead logging'], tags: ['storage', 'log'] },
    contentMd: '# Logs\n\nThe write-ahead log keeps running databases safe.',
  },
  {
    key: 'lsm',
    lang: 'en',
    meta: { title: ['Merge trees'], tags: ['storage'] },
    contentMd: 'A log structured merge tree writes **segments** and merges them.',
  },
  {
    key: 'raft',
    lang: 'en',
    meta: { title: ['Consensus'], tags: ['network', 'log'] },
    contentMd: 'Replicas agree on a log. A log of commands; the log is replicated.',
  },
  { key: 'vec', lang: 'en', meta: { title: ['Vector log'], tags: ['search'] }, contentMd: 'Nearest neighbours of vectors.' },
  { key: 'hafen', lang: 'de', meta: { tags: ['travel'] }, contentMd: 'Die Schiffe liegen in den Häfen der Stadt.' },
]

export class FulltextClient {
  /** The collection of `DOCUMENTS`. */
  readonly blog = collectionOf('blog')
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** On a separate server. */
  static async start(env: Record<string, string> = {}): Promise<FulltextClient> {
    return FulltextClient.#on(await startServer({ env }))
  }

  /** On the server that all files of a run share. */
  static async shared(): Promise<FulltextClient> {
    return FulltextClient.#on(await sharedServer())
  }

  static async #on(server: Server): Promise<FulltextClient> {
    const client = new FulltextClient(server)
    await client.add(client.blog, DOCUMENTS)
    return client
  }

  async stop(): Promise<void> {
    await this.#server.stop()
  }

  async request(method: string, path: string, body?: unknown): Promise<FulltextAnswer> {
    const response = await this.#server.request(method, path, body === undefined ? undefined : JSON.stringify(body))
    return { status: response.status, body: JSON.parse(response.text) as Record<string, unknown> }
  }

  async add(collection: string, documents: readonly unknown[]): Promise<void> {
    const { status, body } = await this.request('POST', '/v1/add-batch', { collection, documents })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.failed, 0, JSON.stringify(body))
  }

  /** A search of `blog`, unless `more` names another collection. */
  async fts(query: string, more: Record<string, unknown> = {}): Promise<FulltextAnswer> {
    return this.request('POST', '/v1/fts', { collection: this.blog, query, ...more })
  }

  /** Keys of the results, best first. */
  async keys(query: string, more: Record<string, unknown> = {}): Promise<string[]> {
    return results(await this.fts(query, more)).map((result) => result.document.key)
  }

  async sortedKeys(query: string, more: Record<string, unknown> = {}): Promise<string[]> {
    return (await this.keys(query, more)).sort()
  }

  /** The text of the 400 that the request must get. */
  async refusal(body: Record<string, unknown>): Promise<string> {
    const answer = await this.request('POST', '/v1/fts', body)
    assert.equal(answer.status, 400, JSON.stringify(answer.body))
    // hints.test.ts tests the hints.
    assert.deepEqual(
      Object.keys(answer.body).filter((name) => name !== 'hint'),
      ['error'],
    )
    return String(answer.body.error)
  }
}

export function results(answer: FulltextAnswer): readonly FulltextResult[] {
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal(answer.body.total, (answer.body.results as unknown[]).length, 'total is the number of results returned')
  return answer.body.results as FulltextResult[]
}
