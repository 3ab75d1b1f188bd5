/**
 * The loop of every search. A round uses two snapshots. The engine's is taken first and the store's after it,
 * so every hit is at least as old as what the store shows. A hit whose document is gone or no longer matches
 * is left out of the answer. If that leaves the page short, the next round asks the engine for more hits, on
 * newer snapshots. The loop ends when the page is full, the engine has no more hits, or the limit on hits is
 * reached. Read lanes.
 */
import type { TruthStore } from '../../store/truth_store.js'
import type { View } from '../../store/view.js'
import { readingOf } from '../documents/wanted_bodies.js'

/**
 * A search whose page is short, because hits have expired or changed, queries the index again. Each round
 * asks for this many times as many hits. 8 rounds lead from 14 hits to all that the engine returns.
 */
export const SEARCH_AGAIN_FACTOR = 4

interface Rounds<Found> {
  /** Number of hits that the first round requests, and the maximum that any round requests. */
  readonly first: number
  readonly most: number
  /** Asks the engine for `k` hits. @throws ServiceError `deadline` when the search was stopped */
  find(k: number): Found
  /**
   * Writes all results of the first round without a view, where that is possible. Default: it never is.
   * @returns whether they have been written; if not, nothing has
   */
  writeAtOnce?(found: Found): boolean
  /**
   * Collection and docid of the documents whose contents `write` may read. Contents that are not cached are
   * fetched together.
   */
  documents(found: Found): Iterable<readonly [collection: number, docid: number]>
  /**
   * Writes all results from scratch, as the view shows the documents.
   * @returns true if a further round would add nothing
   */
  write(view: View, found: Found, k: number): boolean
}

/**
 * @returns what the last round found
 * @throws ServiceError, BodiesWanted
 */
export function searchUntilFull<Found>(store: TruthStore, rounds: Rounds<Found>): Found {
  for (let k = rounds.first; ; k = Math.min(k * SEARCH_AGAIN_FACTOR, rounds.most)) {
    const found = rounds.find(k)
    if (k === rounds.first && rounds.writeAtOnce?.(found) === true) return found
    const isDone = store.read((view) =>
      readingOf(
        view,
        () => rounds.documents(found),
        () => rounds.write(view, found, k),
      ),
    )
    if (isDone || k >= rounds.most) return found
  }
}

/** Collection and docid of each hit. */
export function* documentsOf(collection: number, hits: readonly { readonly docid: number }[]): Generator<readonly [number, number]> {
  for (const { docid } of hits) yield [collection, docid]
}
