/**
 * The clients' knowledge: for each key the state left by the last acknowledged write, and the states that
 * unanswered writes may have left instead. It is built from events alone (sent, acknowledged, refused), so
 * that the ledger at any moment of a recorded run can be rebuilt by replaying the events up to it. Each key
 * is written by one client, one write at a time.
 */
import { createHash } from 'node:crypto'

/** Null: the document does not exist. */
export type DocumentState = {
  /**
   * Hash of content and metadata together: a document with the content of one write and the metadata of
   * another matches nothing.
   */
  readonly digest: string
  /** A word that only this version of this document contains. */
  readonly term: string
  /** Whether the document has an expiry. */
  readonly expires: boolean
} | null

export type LedgerEvent =
  | { readonly kind: 'sent'; readonly key: string; readonly outcomes: readonly DocumentState[] }
  | { readonly kind: 'acknowledged'; readonly key: string; readonly state: DocumentState }
  | { readonly kind: 'refused'; readonly key: string }

interface Entry {
  settled: DocumentState
  pending: readonly DocumentState[]
  /** Terms of versions that were certainly replaced or deleted. */
  readonly retired: Set<string>
}

/** Maximum number of retired words per document that are searched for; beyond it the oldest are dropped. */
const RETIRED_TERMS_MAX = 8

export class Ledger {
  readonly #entries = new Map<string, Entry>()

  apply(event: LedgerEvent): void {
    const entry = this.#entry(event.key)
    if (event.kind === 'sent') entry.pending = event.outcomes
    else if (event.kind === 'refused') entry.pending = []
    else settle(entry, event.state)
  }

  get(key: string): DocumentState {
    return this.#entries.get(key)?.settled ?? null
  }

  /** Records the state found for a key after a restart, so that the next load starts from a certain state. */
  observe(key: string, state: DocumentState): void {
    settle(this.#entry(key), state)
  }

  isUncertain(key: string): boolean {
    return (this.#entries.get(key)?.pending.length ?? 0) > 0
  }

  /** The permitted states of a document: the acknowledged one and those of unanswered writes. */
  permitted(key: string): readonly DocumentState[] {
    const entry = this.#entry(key)
    return [entry.settled, ...entry.pending]
  }

  /** Words that no search may find. */
  retiredTerms(key: string): readonly string[] {
    const possible = new Set(this.permitted(key).map((state) => state?.term))
    return [...this.#entry(key).retired].filter((term) => !possible.has(term))
  }

  keys(): readonly string[] {
    return [...this.#entries.keys()]
  }

  #entry(key: string): Entry {
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      entry = { settled: null, pending: [], retired: new Set() }
      this.#entries.set(key, entry)
    }
    return entry
  }
}

function settle(entry: Entry, state: DocumentState): void {
  for (const old of [entry.settled, ...entry.pending]) if (old !== null && old.term !== state?.term) entry.retired.add(old.term)
  if (state !== null) entry.retired.delete(state.term)
  entry.settled = state
  entry.pending = []
  for (const term of entry.retired) {
    if (entry.retired.size <= RETIRED_TERMS_MAX) break
    entry.retired.delete(term)
  }
}

/**
 * Content and metadata as one hash. The order of metadata keys is ignored; the order of a key's values
 * matters.
 */
export function digestOf(contentMd: string, meta: Readonly<Record<string, readonly string[]>>): string {
  const sorted = Object.keys(meta)
    .sort()
    .map((key) => [key, meta[key]])
  return createHash('sha256').update(contentMd).update('\0').update(JSON.stringify(sorted)).digest('hex')
}
