/**
 * Mixed writes by several clients in parallel, each on its own keys, one request at a time. Every step is
 * reported to a recorder (the ledger, or the ledger and the log of a recorded run). A request with an unknown
 * outcome excludes its keys from the load until their state has been observed (`Ledger.observe`). Runs until
 * the server ends, or until it is stopped.
 */
import { Random } from '../../harness/random.js'
import { type HttpClient, NoAnswer, type Reply } from '../../harness/server/http_client.js'
import { digestOf, type DocumentState, type Ledger, type LedgerEvent } from './ledger.js'
import { type Version, Versions } from './versions.js'

export const COLLECTION = 'faults'
const LANG = 'en'
const CLIENTS = 8
/** 8 x 24 = 192 documents: few enough to check every one after each restart. */
const KEYS_PER_CLIENT = 24
const BATCH_MAX = 12
/** Far beyond the length of any run: nothing expires during the checks. */
const TTL_SECONDS = 86_400

export interface LoadOutcome {
  acknowledged: number
  /** Requests whose connection ended without an answer. */
  unanswered: number
  /** Unanswered requests that neither got an answer nor an end in time. */
  hung: number
  /** Answers without a guarantee: 5xx, by status. */
  readonly refused: Map<number, number>
}

type Kind = 'add' | 'batch' | 'content' | 'meta' | 'delete' | 'ttl' | 'restore'
/** Weights by repetition. */
const KINDS: readonly Kind[] = ['add', 'add', 'add', 'batch', 'batch', 'content', 'content', 'meta', 'delete', 'delete', 'ttl', 'restore']

interface WireDocument {
  readonly contentMd: string
  readonly meta?: Readonly<Record<string, readonly string[]>>
  readonly expiresAt?: number
}

export class WriteLoad {
  readonly #ledger: Ledger
  readonly #record: (event: LedgerEvent) => void
  readonly #clients: readonly { readonly random: Random; readonly versions: Versions; readonly keys: readonly string[] }[]
  #stopped = false
  #acknowledged: (() => void) | null = null

  /** @param record receives every event after the ledger has applied it */
  constructor(seed: number, ledger: Ledger, record: (event: LedgerEvent) => void = () => undefined) {
    this.#ledger = ledger
    this.#record = record
    this.#clients = Array.from({ length: CLIENTS }, (_, client) => {
      const random = new Random(seed + client * 7919)
      const keys = Array.from({ length: KEYS_PER_CLIENT }, (_, i) => `client-${client}/doc-${i}`)
      return { random, versions: new Versions(random, String.fromCharCode(97 + client)), keys }
    })
  }

  /**
   * Each client runs until the server stops answering, `stop` is called, or it has made `requestsMax`
   * requests. Rejects on an answer that violates the contract.
   */
  async run(http: HttpClient, requestsMax = Number.POSITIVE_INFINITY): Promise<LoadOutcome> {
    this.#stopped = false
    const outcome: LoadOutcome = { acknowledged: 0, unanswered: 0, hung: 0, refused: new Map() }
    await Promise.all(this.#clients.map((_, client) => this.#work(client, http, requestsMax, outcome)))
    return outcome
  }

  /** Resolves at the next acknowledged write. */
  firstAcknowledgement(): Promise<void> {
    return new Promise((resolve) => {
      this.#acknowledged = resolve
    })
  }

  stop(): void {
    this.#stopped = true
  }

  async #work(client: number, http: HttpClient, requestsMax: number, outcome: LoadOutcome): Promise<void> {
    for (let request = 0; request < requestsMax && !this.#stopped; request++) {
      try {
        await this.#step(client, http, outcome)
      } catch (cause) {
        if (!(cause instanceof NoAnswer)) throw cause
        outcome.unanswered++
        if (cause.hung) outcome.hung++
        return
      }
    }
  }

  async #step(client: number, http: HttpClient, outcome: LoadOutcome): Promise<void> {
    const { random, versions, keys } = this.#clients[client]!
    const usable = keys.filter((key) => !this.#ledger.isUncertain(key))
    if (usable.length === 0) {
      this.#stopped = true
      return
    }
    const kind = random.pick(KINDS)
    const key = random.pick(usable)
    const state = this.#ledger.get(key)
    const version = state === null ? undefined : versions.find(state.digest)
    if (kind === 'batch') return this.#batch(http, outcome, pickSome(usable, random), versions)
    if (kind === 'add' || state === null || version === undefined) return this.#add(http, outcome, key, versions.fresh())
    const base = { collection: COLLECTION, key, lang: LANG }
    if (kind === 'content' || kind === 'meta') {
      const next = kind === 'content' ? versions.withOtherContent(version) : versions.withOtherMeta(version)
      const change = kind === 'content' ? { contentMd: next.contentMd } : { meta: next.meta }
      return this.#write(outcome, key, [stateOf(next, state.expires)], () =>
        http.send('PATCH', '/v1/update', JSON.stringify({ ...base, ...change })),
      )
    }
    if (kind === 'delete') return this.#write(outcome, key, [null], () => http.post('/v1/delete', base))
    if (kind === 'ttl') {
      const ttl = state.expires ? 0 : TTL_SECONDS
      return this.#write(outcome, key, [stateOf(version, ttl > 0)], () => http.post('/v1/set-ttl', { ...base, ttl }))
    }
    return this.#restore(http, outcome, key, versions, random)
  }

  async #add(http: HttpClient, outcome: LoadOutcome, key: string, next: Version): Promise<void> {
    const body = { collection: COLLECTION, key, lang: LANG, contentMd: next.contentMd, meta: next.meta }
    // An add replaces the whole document: without a ttl it has no expiry. Updates and restores keep the
    // present expiry.
    await this.#write(outcome, key, [stateOf(next, false)], () => http.post('/v1/add', body))
  }

  /** A batch is atomic per document, so each document is a separate ledger entry. */
  async #batch(http: HttpClient, outcome: LoadOutcome, keys: readonly string[], versions: Versions): Promise<void> {
    const documents = keys.map((key) => {
      const version = versions.fresh()
      return { key, version, state: stateOf(version, false) }
    })
    for (const { key, state } of documents) this.#tell({ kind: 'sent', key, outcomes: [state] })
    const body = {
      collection: COLLECTION,
      documents: documents.map(({ key, version }) => ({ key, lang: LANG, contentMd: version.contentMd, meta: version.meta })),
    }
    const reply = await http.post('/v1/add-batch', body)
    if (!this.#accepted(reply, outcome)) return
    const counts = reply.body as { readonly added: number; readonly updated: number; readonly failed: number }
    if (counts.added + counts.updated !== keys.length || counts.failed !== 0)
      throw new Error(`add-batch of ${keys.length}: ${JSON.stringify(counts)}`)
    outcome.acknowledged += keys.length
    for (const { key, state } of documents) this.#tell({ kind: 'acknowledged', key, state })
  }

  async #restore(http: HttpClient, outcome: LoadOutcome, key: string, versions: Versions, random: Random): Promise<void> {
    const base = { collection: COLLECTION, key, lang: LANG }
    const listed = await http.post('/v1/revisions', base)
    // Reads are refused, too, once the storage has failed.
    if (!this.#accepted(listed, outcome)) return
    const { revisions } = listed.body as { readonly revisions: readonly (WireDocument & { readonly timestamp: number })[] }
    if (revisions.length === 0) throw new Error(`${key} was written and has no revision`)
    const expires = this.#ledger.get(key)?.expires === true
    const outcomes = revisions.map((revision) => {
      const version = versions.find(digestOf(revision.contentMd, revision.meta ?? {}))
      if (version === undefined) throw new Error(`a revision of ${key} was never written`)
      return stateOf(version, expires)
    })
    const { timestamp } = random.pick(revisions)
    await this.#write(outcome, key, outcomes, () => http.post('/v1/revisions/restore', { ...base, timestamp }))
  }

  /**
   * One request that writes one document. The resulting state is read from the answer if the answer is a
   * document.
   */
  async #write(outcome: LoadOutcome, key: string, outcomes: readonly DocumentState[], send: () => Promise<Reply>): Promise<void> {
    this.#tell({ kind: 'sent', key, outcomes })
    const reply = await send()
    if (!this.#accepted(reply, outcome)) return
    outcome.acknowledged++
    this.#tell({ kind: 'acknowledged', key, state: outcomes[0] === null ? null : matching(reply.body as WireDocument, outcomes, key) })
  }

  /**
   * A 5xx guarantees nothing, so its write stays uncertain. Any other status except 200 is an error of the
   * server or of this load.
   */
  #accepted(reply: Reply, outcome: LoadOutcome): boolean {
    if (reply.status === 200) return true
    if (reply.status < 500) throw new Error(`unexpected ${reply.status}: ${JSON.stringify(reply.body)}`)
    outcome.refused.set(reply.status, (outcome.refused.get(reply.status) ?? 0) + 1)
    return false
  }

  #tell(event: LedgerEvent): void {
    this.#ledger.apply(event)
    this.#record(event)
    if (event.kind !== 'acknowledged') return
    this.#acknowledged?.()
    this.#acknowledged = null
  }
}

function stateOf(version: Version, expires: boolean): DocumentState {
  return { digest: version.digest, term: version.term, expires }
}

/** The acknowledged state is the expected one that the answer shows. */
function matching(document: WireDocument, outcomes: readonly DocumentState[], key: string): DocumentState {
  const digest = digestOf(document.contentMd, document.meta ?? {})
  const expires = document.expiresAt !== undefined
  const state = outcomes.find((expected) => expected?.digest === digest && expected.expires === expires)
  if (state === undefined) {
    const seen = JSON.stringify({ digest, expires, expected: outcomes, contentMd: document.contentMd.slice(0, 120) })
    throw new Error(`the answer to a write of ${key} shows a document that was not written: ${seen}`)
  }
  return state
}

function pickSome(keys: readonly string[], random: Random): readonly string[] {
  const count = Math.min(keys.length, 2 + random.below(BATCH_MAX - 1))
  const begin = random.below(keys.length)
  return Array.from({ length: count }, (_, i) => keys[(begin + i) % keys.length]!)
}
