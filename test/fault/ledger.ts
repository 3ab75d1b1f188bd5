/**
 * What the clients know: for each key the state that the last acknowledged write left, and the states that
 * writes without an answer may have left instead. It is made of events alone (sent, acknowledged, refused),
 * so that the ledger as of any moment of a recorded run can be had by replaying the events up to it. Each key
 * is written by one client, one write at a time.
 */
import { createHash } from 'node:crypto'

/** Null: there is no such document. */
export type DocumentState = {
  /**
   * Of content and metadata together: a document with the one of this write and the other of that would match
   * nothing.
   */
  readonly digest: string
  /** A word that only this version of this document contains. */
  readonly term: string
  /** Whether it has an expiry. */
  readonly expires: boolean
} | null

export type LedgerEvent =
  | { readonly kind: 'sent'; readonly key: string; readonly outcomes: readonly DocumentState[] }
  | { readonly kind: 'acknowledged'; readonly key: string; readonly state: DocumentState }
  | { readonly kind: 'refused'; readonly key: string }

interface Entry {
  settled: DocumentState
  pending: readonly DocumentState[]
  /** Terms of versions that were replaced or deleted for certain. */
  readonly retired: Set<string>
}

/** Versions of one document whose retired words are still looked for; beyond it the oldest are forgotten. */
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

  /** Says what was found for a key after a restart, so that the next load starts from certainty. */
  observe(key: string, state: DocumentState): void {
    settle(this.#entry(key), state)
  }

  isUncertain(key: string): boolean {
    return (this.#entries.get(key)?.pending.length ?? 0) > 0
  }

  /** The states in which a document may be found: the acknowledged one and those of unanswered writes. */
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
 * Content and metadata as one hash. The order of metadata keys does not count; the order of a key's values
 * does.
 */
export function digestOf(contentMd: string, meta: Readonly<Record<string, readonly string[]>>): string {
  const sorted = Object.keys(meta)
    .sort()
    .map((key) => [key, meta[key]])
  return createHash('sha256').update(contentMd).update('\0').update(JSON.stringify(sorted)).digest('hex')
}
