/**
 * Mixed writes and reads of a collection whose bodies are in an object store: adds, batches without
 * revisions, changes of content or metadata, deletes, and gets of written documents. Several clients, each on
 * its own keys, one request at a time. A refusal is a 503 with JSON, within the client's time limit. A
 * refusal because the backend is unavailable guarantees that nothing was written; every other leaves the keys
 * uncertain.
 */
import { Random } from '../../harness/random.js'
import { type HttpClient, NoAnswer, type Reply } from '../../harness/server/http_client.js'
import { digestOf, type DocumentState, type Ledger } from './ledger.js'
import { type Version, Versions } from './versions.js'
import { COLLECTION } from './write_load.js'

const CLIENTS = 6
const KEYS_PER_CLIENT = 16
const BATCH_MAX = 6
const LANG = 'en'
const UNAVAILABLE = 'storage backend unavailable'

type Kind = 'add' | 'batch' | 'content' | 'meta' | 'delete' | 'get'
/** Weights by repetition. */
const KINDS: readonly Kind[] = ['add', 'add', 'batch', 'batch', 'batch', 'content', 'meta', 'meta', 'delete', 'get', 'get']

export interface ObjectOutcome {
  /** Number of documents written or deleted. */
  acknowledged: number
  /** Requests refused because the object store is unavailable. */
  refused: number
  /** Requests whose connection ended without an answer. */
  unanswered: number
  refusalMsMax: number
}

interface Client {
  readonly random: Random
  readonly versions: Versions
  readonly keys: readonly string[]
}

export class ObjectLoad {
  readonly outcome: ObjectOutcome = { acknowledged: 0, refused: 0, unanswered: 0, refusalMsMax: 0 }
  readonly #clients: readonly Client[]

  constructor(
    seed: number,
    readonly ledger: Ledger,
  ) {
    this.#clients = Array.from({ length: CLIENTS }, (_, client) => {
      const random = new Random(seed + client * 7919)
      const keys = Array.from({ length: KEYS_PER_CLIENT }, (_, i) => `client-${client}/doc-${i}`)
      return { random, versions: new Versions(random, String.fromCharCode(97 + client)), keys }
    })
  }

  /**
   * Runs until the given number of further documents have been written or refused, or the server stops
   * answering. Rejects on an answer that violates the contract.
   */
  async run(http: HttpClient, writes: number): Promise<void> {
    const { outcome } = this
    const end = outcome.acknowledged + outcome.refused + writes
    await Promise.all(
      this.#clients.map(async (client) => {
        try {
          while (outcome.acknowledged + outcome.refused < end && (await this.#step(client, http)));
        } catch (cause) {
          if (!(cause instanceof NoAnswer)) throw cause
          if (cause.hung) throw new Error('a request was neither answered nor ended', { cause })
          outcome.unanswered++
        }
      }),
    )
  }

  /** @returns false if the client has no key left whose state it knows */
  async #step({ random, versions, keys }: Client, http: HttpClient): Promise<boolean> {
    const usable = keys.filter((key) => !this.ledger.isUncertain(key))
    if (usable.length === 0) return false
    const kind = random.pick(KINDS)
    const key = random.pick(usable)
    const state = this.ledger.get(key)
    const version = state === null ? undefined : versions.find(state.digest)
    const base = { collection: COLLECTION, key, lang: LANG }
    if (kind === 'get') await this.#get(http, key)
    else if (kind === 'batch') await this.#batch(http, usable.slice(0, 1 + random.below(BATCH_MAX)), versions)
    else if (kind === 'add' || state === null || version === undefined) {
      const next = versions.fresh()
      const body = { ...base, contentMd: next.contentMd, meta: next.meta }
      await this.#write(key, stateOf(next), () => http.post('/v1/add', body))
    } else if (kind === 'delete') await this.#write(key, null, () => http.post('/v1/delete', base))
    else {
      const next = kind === 'content' ? versions.withOtherContent(version) : versions.withOtherMeta(version)
      const change = kind === 'content' ? { contentMd: next.contentMd } : { meta: next.meta }
      await this.#write(key, stateOf(next), () => http.send('PATCH', '/v1/update', JSON.stringify({ ...base, ...change })))
    }
    return true
  }

  async #batch(http: HttpClient, keys: readonly string[], versions: Versions): Promise<void> {
    const documents = keys.map((key) => ({ key, version: versions.fresh() }))
    const body = {
      collection: COLLECTION,
      documents: documents.map(({ key, version: { contentMd, meta } }) => ({ key, lang: LANG, contentMd, meta, saveRevision: false })),
    }
    for (const { key, version } of documents) this.ledger.apply({ kind: 'sent', key, outcomes: [stateOf(version)] })
    const reply = await this.#ask(() => http.post('/v1/add-batch', body))
    if (reply.status === 200) {
      const counts = reply.body as { readonly added: number; readonly updated: number }
      if (counts.added + counts.updated !== keys.length) throw new Error(`add-batch of ${keys.length}: ${JSON.stringify(counts)}`)
    }
    for (const { key, version } of documents) this.#settle(reply, key, stateOf(version))
  }

  async #write(key: string, state: DocumentState, send: () => Promise<Reply>): Promise<void> {
    this.ledger.apply({ kind: 'sent', key, outcomes: [state] })
    this.#settle(await this.#ask(send), key, state)
  }

  #settle(reply: Reply, key: string, state: DocumentState): void {
    if (reply.status === 200) {
      this.outcome.acknowledged++
      this.ledger.apply({ kind: 'acknowledged', key, state })
    } else if (textOf(reply) === UNAVAILABLE) this.ledger.apply({ kind: 'refused', key })
  }

  async #get(http: HttpClient, key: string): Promise<void> {
    const state = this.ledger.get(key)
    const reply = await this.#ask(() => http.post('/v1/get', { collection: COLLECTION, key, lang: LANG }), state === null)
    if (reply.status !== 200) return
    const { contentMd, meta } = reply.body as { readonly contentMd: string; readonly meta?: Version['meta'] }
    if (state?.digest !== digestOf(contentMd, meta ?? {})) throw new Error(`${key} is read otherwise than it was written`)
  }

  /** Counts refusals. Permits only 200, and 404 where it is expected. */
  async #ask(send: () => Promise<Reply>, mayMiss = false): Promise<Reply> {
    const begun = performance.now()
    const reply = await send()
    if (reply.status === 200 || (mayMiss && reply.status === 404)) return reply
    if (reply.status !== 503 || textOf(reply) === '') throw new Error(`unexpected ${reply.status}: ${JSON.stringify(reply.body)}`)
    this.outcome.refused++
    this.outcome.refusalMsMax = Math.max(this.outcome.refusalMsMax, performance.now() - begun)
    return reply
  }
}

function stateOf({ digest, term }: Version): DocumentState {
  return { digest, term, expires: false }
}

function textOf({ body }: Reply): string {
  const { error } = body as { readonly error?: unknown }
  return typeof error === 'string' ? error : ''
}
