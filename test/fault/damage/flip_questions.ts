/**
 * The requests of a flip campaign, and the comparison of their answers with those of the undamaged store.
 * Answers are compared item by item (documents, revisions, rows of statistics); each item must be correct or
 * missing. Every text in the store names its owner (`of-COLLECTION-KEY-`), so that another's text is
 * recognized wherever it appears.
 */
import type { Server, TestResponse } from '../../harness/server/server.js'

export interface Question {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  /** The owner whose data may appear; undefined: any. */
  readonly collection?: string
  readonly key?: string
  /** Whether each document is an item, or the whole answer is one. */
  readonly isOfDocuments: boolean
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly items: ReadonlyMap<string, string>
}

/** Collection names are lower case, as in ids of documents. */
export const COLLECTIONS = ['alpha', 'beta', 'sealed', 'gone', 'crowd'] as const
export const DOCUMENTS = 8
export const CROWD = 150
/** Components of a vector's direction that every document shares with the query. */
const QUERY_VECTOR = [1, 1, 1, 1, 1, 1, 1, 1]
const RESULTS_MAX = 1000
/** Requests in flight in parallel. */
const ASKERS = 4

export function keysOf(collection: string): readonly string[] {
  return Array.from({ length: collection === 'crowd' ? CROWD : DOCUMENTS }, (_, at) => `doc-${at}`)
}

/** @param jobs ids */
export function questions(jobs: readonly string[]): readonly Question[] {
  const found: Question[] = []
  const post = (path: string, body: Record<string, unknown>, isOfDocuments = true, key?: string): void => {
    const collection = body['collection'] as string
    const name = `${path} ${collection} ${key ?? ''}`
    found.push({ name, method: 'POST', path, body, collection, ...(key === undefined ? {} : { key }), isOfDocuments })
  }
  const get = (path: string, collection?: string): void => {
    const at = collection === undefined ? path : `${path}?collection=${collection}`
    found.push({
      name: at,
      method: 'GET',
      path: at,
      ...(collection === undefined ? {} : { collection }),
      isOfDocuments: path === '/v1/stats',
    })
  }
  for (const collection of COLLECTIONS) {
    for (const key of keysOf(collection)) {
      post('/v1/get', { collection, key, lang: 'en' }, true, key)
      if (collection === 'crowd') continue
      post('/v1/doc-meta', { collection, key, lang: 'en' }, true, key)
      post('/v1/revisions', { collection, key, lang: 'en' }, true, key)
      post('/v1/temporal/query', { collection, key, lang: 'en', eventType: 'create' }, false, key)
    }
    post('/v1/search', { collection, limit: RESULTS_MAX })
    post('/v1/search', { collection, filterMeta: { whose: [`of-${collection}-`] }, limit: RESULTS_MAX })
    post('/v1/fts', { collection, query: 'walrus', limit: RESULTS_MAX })
    post('/v1/export', { collection, format: 'ndjson' })
    post('/v1/vector-search', { collection, queryVector: QUERY_VECTOR, topK: RESULTS_MAX, threshold: -1, includeContent: true })
    post('/v1/schema/get', { collection }, false)
    for (const path of ['meta-keys', 'checksum', 'synonyms', 'stopwords', 'curation', 'collection-config']) get(`/v1/${path}`, collection)
  }
  for (const path of ['stats', 'collection-configs', 'encryption/status', 'embedding-configs', 'bulk-ingest-jobs']) get(`/v1/${path}`)
  for (const job of jobs) get(`/v1/bulk-ingest-job/${job}`)
  return found
}

/**
 * @returns answers by name
 * @throws when the connection is lost
 */
export async function askAll(server: Server, all: readonly Question[]): Promise<ReadonlyMap<string, Answer>> {
  const answers = new Map<string, Answer>()
  const rest = all[Symbol.iterator]()
  const askOn = async (): Promise<void> => {
    for (const question of rest) {
      const reply = await server.request(question.method, question.path, question.body)
      answers.set(question.name, { status: reply.status, text: reply.text, items: itemsOf(question, reply) })
    }
  }
  await Promise.all(Array.from({ length: ASKERS }, askOn))
  return answers
}

interface Item {
  readonly id?: string
  readonly name?: string
  readonly revision?: number
  readonly document?: Item
}

function itemsOf(question: Question, { status, text }: TestResponse): ReadonlyMap<string, string> {
  if (status !== 200) return new Map()
  if (!question.isOfDocuments) return new Map([['answer', text]])
  const lines = question.path === '/v1/export' ? text.split('\n').filter((line) => line !== '') : undefined
  const answer = lines?.map((line) => JSON.parse(line) as Item) ?? (JSON.parse(text) as Item | readonly Item[])
  return new Map(listOf(answer).map((item) => nameOf(item)))
}

function listOf(answer: Item | readonly Item[]): readonly Item[] {
  if (Array.isArray(answer)) return answer as readonly Item[]
  const { results, revisions, collections } = answer as Readonly<Record<string, readonly Item[] | undefined>>
  return results ?? revisions ?? collections ?? [answer as Item]
}

function nameOf(item: Item): [string, string] {
  const shown = { ...(item.document ?? item) }
  // Fields of a result that change when other documents are missing.
  for (const field of ['score', 'distance', 'similarity', 'rank']) delete (shown as Record<string, unknown>)[field]
  return [shown.id ?? (shown.revision === undefined ? (shown.name ?? 'answer') : `revision ${shown.revision}`), JSON.stringify(shown)]
}

/** Whether an answer contains data of an owner outside the request. */
export function showsAnother(question: Question, text: string): boolean {
  for (const [, collection, key] of text.matchAll(/\bof-([a-z]+)-(doc-\d+)?/gu)) {
    if (question.collection !== undefined && question.collection !== collection) return true
    if (question.key !== undefined && key !== undefined && question.key !== key) return true
  }
  return false
}

/** Times of writes differ between runs. */
export function withoutTimes(text: string): string {
  return text.replace(/"(?:updatedAt|addedAt|timestamp|expiresAt)":\d+/gu, '')
}
