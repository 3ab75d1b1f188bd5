/**
 * A client for tests of documents: requests by operation, with the answers as values. Each test file has one
 * server, or shares that of the run; tests are separated by collection.
 */
import assert from 'node:assert/strict'
import { untilHolds } from '../process/until.js'
import { type Server, type ServerOptions, startServer, type TestResponse } from '../server/server.js'
import { collectionOf, sharedServer } from '../server/shared_server.js'

export interface DocumentJson {
  readonly id: string
  readonly key: string
  readonly lang: string
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly contentMd: string
  readonly addedAt: number
  readonly updatedAt: number
  readonly expiresAt?: number
}

export interface RevisionJson {
  readonly timestamp: number
  readonly updatedAt: number
  readonly revision: number
  readonly meta: DocumentJson['meta']
  readonly contentMd: string
}

export interface BatchJson {
  readonly added: number
  readonly updated: number
  readonly failed: number
  readonly errors: readonly string[]
}

export interface IngestJson extends BatchJson {
  readonly skipped: number
  readonly collection: string
  readonly durationMs: number
  readonly profile: string
  readonly keyCollisions?: readonly string[]
  readonly sanitized?: number
  readonly warnings?: readonly string[]
}

export interface CollectionStats {
  readonly name: string
  readonly documentCount: number
  readonly revisionCount: number
  readonly metaIndexCount: number
  readonly checksum: string
  readonly checksum64: string
}

export type Fields = Readonly<Record<string, unknown>>

export const NOT_FOUND = '404 {"error":"not found"}'
export const MISSING_FIELDS = '400 {"error":"missing fields"}'

/** Long enough for a sweep, which runs once per second, on a loaded machine. */
const PATIENCE_MS = 20_000

/** Status and body in one text, so that one comparison checks both. */
export function summary({ status, text }: TestResponse): string {
  return `${status} ${withoutHint(text)}`
}

/** The text of a refusal is the contract's; hints.test.ts tests the hints. */
export function withoutHint(text: string): string {
  return text.replace(/^(\{"error":"(?:[^"\\]|\\.)*"),"hint":"(?:[^"\\]|\\.)*"\}$/, '$1}')
}

/** Of all clients of this file: they may have one server. */
let collections = 0

export class DocumentsClient {
  readonly server: Server

  constructor(server: Server) {
    this.server = server
  }

  static async start(options: ServerOptions = {}): Promise<DocumentsClient> {
    return new DocumentsClient(await startServer(options))
  }

  /** Of the server that all files of a run share. */
  static async shared(): Promise<DocumentsClient> {
    return new DocumentsClient(await sharedServer())
  }

  async stop(): Promise<void> {
    await this.server.stop()
  }

  /** A name that no other test of the run uses. */
  collection(): string {
    return collectionOf(`collection-${++collections}`)
  }

  async post(path: string, body: unknown): Promise<TestResponse> {
    return this.server.post(path, body)
  }

  /** `lang` is en and the content empty unless `fields` say otherwise. */
  async add(collection: string, key: string, fields: Fields = {}): Promise<DocumentJson> {
    return this.#value('POST', '/v1/add', { collection, key, lang: 'en', contentMd: '', ...fields })
  }

  async addBatch(collection: string, documents: readonly unknown[]): Promise<BatchJson> {
    return this.#value('POST', '/v1/add-batch', { collection, documents })
  }

  async ingest(collection: string, documents: readonly unknown[], options?: Fields): Promise<IngestJson> {
    return this.#value('POST', '/v1/ingest', { collection, documents, ...(options === undefined ? {} : { options }) })
  }

  /** Undefined if the answer is 404 `not found`. */
  async get(collection: string, key: string, fields: Fields = {}): Promise<DocumentJson | undefined> {
    const answer = await this.post('/v1/get', { collection, key, lang: 'en', ...fields })
    if (answer.status === 404) {
      assert.equal(summary(answer), NOT_FOUND)
      return undefined
    }
    assert.equal(answer.status, 200, answer.text)
    return answer.json<DocumentJson>()
  }

  async update(collection: string, key: string, change: Fields): Promise<DocumentJson> {
    return this.#value('PATCH', '/v1/update', { collection, key, lang: 'en', ...change })
  }

  async setTtl(collection: string, key: string, ttl: number): Promise<DocumentJson> {
    return this.#value('POST', '/v1/set-ttl', { collection, key, lang: 'en', ttl })
  }

  async delete(collection: string, key: string): Promise<Fields> {
    return this.#value('POST', '/v1/delete', { collection, key, lang: 'en' })
  }

  async revisions(collection: string, key: string, fields: Fields = {}): Promise<readonly RevisionJson[]> {
    const body = { collection, key, lang: 'en', ...fields }
    const answer = await this.#value<{ revisions: RevisionJson[]; total: number }>('POST', '/v1/revisions', body)
    assert.equal(answer.total, answer.revisions.length)
    return answer.revisions
  }

  async search(collection: string, fields: Fields = {}): Promise<{ readonly documents: readonly DocumentJson[]; readonly total: number }> {
    const answer = await this.post('/v1/search', { collection, ...fields })
    assert.equal(answer.status, 200, answer.text)
    return { documents: answer.json<DocumentJson[]>(), total: Number(answer.headers['x-total-count']) }
  }

  /** Keys of a listing, in its order. */
  async keys(collection: string, fields: Fields = {}): Promise<string[]> {
    return (await this.search(collection, fields)).documents.map(({ key }) => key)
  }

  /** Keys of the full-text results, sorted. */
  async found(collection: string, query: string): Promise<string[]> {
    const body = { collection, query, limit: 10_000 }
    const { results } = await this.#value<{ results: { document: DocumentJson }[] }>('POST', '/v1/fts', body)
    return results.map(({ document }) => document.key).sort()
  }

  async metaKeys(collection: string): Promise<Fields> {
    const path = `/v1/meta-keys?collection=${encodeURIComponent(collection)}`
    return (await this.#value<{ meta: Fields }>('GET', path)).meta
  }

  async checksum(collection: string): Promise<string> {
    return (await this.#value<{ checksum: string }>('GET', `/v1/checksum?collection=${encodeURIComponent(collection)}`)).checksum
  }

  /** Undefined if the collection is not listed. */
  async stats(collection: string): Promise<CollectionStats | undefined> {
    const { collections } = await this.#value<{ collections: CollectionStats[] }>('GET', '/v1/stats')
    return collections.find(({ name }) => name === collection)
  }

  /** Polls until the condition holds; fails after `PATIENCE_MS`. */
  async until(holds: () => Promise<boolean>, what: string): Promise<void> {
    await untilHolds(holds, () => what, PATIENCE_MS)
  }

  async #value<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.server.request(method, path, body)
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 500)}`)
    return answer.json<T>()
  }
}
