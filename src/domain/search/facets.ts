/**
 * Counts metadata values over the final results of a search, after curation, limit and context budget
 * (service-1, `facetBy`). One per answer.
 */
import { headOf } from '../documents/document_json.js'

export interface FacetBucket {
  readonly value: string
  readonly count: number
}

const META_PREFIX = 'meta.'

export class FacetCounter {
  readonly #facets: readonly { readonly name: string; readonly key: string; readonly counts: Map<string, number> }[]
  readonly #valuesMax: number

  /** @param names metadata keys; a `meta.` prefix is dropped */
  constructor(names: readonly string[], valuesMax: number) {
    this.#facets = names.map((name) => ({
      name,
      key: name.startsWith(META_PREFIX) ? name.slice(META_PREFIX.length) : name,
      counts: new Map<string, number>(),
    }))
    this.#valuesMax = valuesMax
  }

  /** @param json of the document */
  add(json: Buffer): void {
    const meta = headOf(json).meta
    for (const { key, counts } of this.#facets) {
      if (!Object.hasOwn(meta, key)) continue
      for (const value of new Set(meta[key])) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
  }

  /** By facet, under the requested name. A key that no result has yields an empty list. */
  counts(): Readonly<Record<string, readonly FacetBucket[]>> {
    return Object.fromEntries(this.#facets.map(({ name, counts }) => [name, bucketsOf(counts).slice(0, this.#valuesMax)]))
  }
}

/** By count in descending order, then by value. */
export function bucketsOf(counts: ReadonlyMap<string, number>): FacetBucket[] {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
}
