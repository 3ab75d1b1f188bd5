/**
 * Compares a running server with a ledger, over HTTP alone: every document is in a state that the ledger
 * permits, every live version is found by its own word, no word of a replaced or deleted version is found,
 * the collection's count equals the number of documents, and its checksums are those of the documents.
 */
import { isDeepStrictEqual } from 'node:util'
import type { HttpClient } from '../../harness/server/http_client.js'
import { type Checksums, checksumsOf, type HashedDocument } from '../../harness/store/checksums.js'
import { digestOf, type DocumentState, type Ledger } from './ledger.js'
import { COLLECTION } from './write_load.js'

export interface Findings {
  /** One sentence each; empty if all guarantees hold. */
  readonly complaints: readonly string[]
  readonly found: ReadonlyMap<string, DocumentState>
}

/** Further complaints add no information. */
const COMPLAINTS_MAX = 20
/** Keys checked in parallel: more than the server has lanes. */
const LOOKERS = 4
const BUSY_TRIES = 5

export async function verifyStore(http: HttpClient, ledger: Ledger): Promise<Findings> {
  const complaints: string[] = []
  const found = new Map<string, DocumentState>()
  const documents: HashedDocument[] = []
  const keys = ledger.keys()[Symbol.iterator]()
  const lookOn = async (): Promise<void> => {
    for (const key of keys) {
      if (complaints.length >= COMPLAINTS_MAX) break
      const document = await get(http, key, complaints)
      if (document !== undefined) documents.push(document)
      const state = stateOf(document, ledger, key, complaints)
      found.set(key, state)
      await searchFor(http, ledger, key, state, complaints)
    }
  }
  await Promise.all(Array.from({ length: LOOKERS }, lookOn))
  if (complaints.length === 0) {
    await checkCount(http, documents.length, complaints)
    await checkChecksums(http, documents, complaints)
  }
  return { complaints, found }
}

async function get(http: HttpClient, key: string, complaints: string[]): Promise<HashedDocument | undefined> {
  const { status, body } = await http.post('/v1/get', { collection: COLLECTION, key, lang: 'en' })
  if (status === 200) return body as HashedDocument
  if (status !== 404) complaints.push(`${key}: get answers ${status} ${JSON.stringify(body)}`)
  return undefined
}

function stateOf(document: HashedDocument | undefined, ledger: Ledger, key: string, complaints: string[]): DocumentState {
  const permitted = ledger.permitted(key)
  if (document === undefined) {
    if (!permitted.includes(null)) complaints.push(`${key}: acknowledged and gone`)
    return null
  }
  const digest = digestOf(document.contentMd, document.meta)
  const state = permitted.find((one) => one !== null && one.digest === digest && one.expires === (document.expiresAt !== undefined))
  if (state === undefined || state === null) {
    const deleted = permitted.every((one) => one === null)
    complaints.push(`${key}: ${deleted ? 'deleted and there again' : 'not as the last acknowledged write left it'}`)
    return null
  }
  return state
}

async function searchFor(http: HttpClient, ledger: Ledger, key: string, state: DocumentState, complaints: string[]): Promise<void> {
  if (state !== null) {
    const hits = await hitsOf(http, state.term)
    if (hits.length !== 1 || hits[0] !== key) complaints.push(`${key}: its word ${state.term} finds ${JSON.stringify(hits)}`)
  }
  const retired = ledger.retiredTerms(key).filter((term) => term !== state?.term)
  // All retired words in one search, because normally none is found.
  if (retired.length === 0 || (await hitsOf(http, retired.join(' OR '), 'boolean')).length === 0) return
  for (const term of retired) {
    const hits = await hitsOf(http, term)
    if (hits.length > 0) complaints.push(`${key}: the word ${term} of a version that is gone finds ${JSON.stringify(hits)}`)
  }
}

async function hitsOf(http: HttpClient, query: string, mode = 'simple'): Promise<readonly string[]> {
  const search = { collection: COLLECTION, query, mode, limit: 5 }
  let reply = await http.post('/v1/fts', search)
  // A lane of a busy machine may miss its deadline: 503 asks the client to retry.
  for (let tries = 1; reply.status === 503 && tries < BUSY_TRIES; tries++) reply = await http.post('/v1/fts', search)
  if (reply.status === 404) return []
  if (reply.status !== 200) throw new Error(`fts answers ${reply.status} ${JSON.stringify(reply.body)}`)
  const { results } = reply.body as { readonly results: readonly { readonly document: { readonly key: string } }[] }
  return results.map((result) => result.document.key)
}

async function checkCount(http: HttpClient, live: number, complaints: string[]): Promise<void> {
  const reply = await http.send('GET', '/v1/stats')
  const { collections } = reply.body as { readonly collections: readonly { readonly name: string; readonly documentCount: number }[] }
  const counted = collections.find((collection) => collection.name === COLLECTION)?.documentCount ?? 0
  if (counted !== live) complaints.push(`stats count ${counted} documents, there are ${live}`)
}

async function checkChecksums(http: HttpClient, documents: readonly HashedDocument[], complaints: string[]): Promise<void> {
  // There is no collection before the first write.
  if (documents.length === 0) return
  const { status, body } = await http.send('GET', `/v1/checksum?collection=${COLLECTION}`)
  const { checksum, checksum64 } = body as Checksums
  const [shown, computed] = [{ checksum, checksum64 }, checksumsOf(documents)]
  if (status !== 200 || !isDeepStrictEqual(shown, computed))
    complaints.push(`checksum answers ${status} ${JSON.stringify(body)}, the documents have ${JSON.stringify(computed)}`)
}
