/**
 * Fluent builders of searches: `client.search.in('blog').fulltext('hello').where('tags', 'news').run()`. A
 * builder never changes; each step returns a new one. `input` is what `run` sends.
 */
import type { FtsRequest, HybridSearchInput, SearchMethods, VectorSearchInput } from './generated.js'
import type { CallOptions } from './options.js'

interface Filtered {
  readonly filterMeta?: Readonly<Record<string, readonly string[]>> | undefined
}

export class SearchBuilder<Of extends Filtered, Answer> {
  readonly input: Of
  readonly #search: (input: Of, options?: CallOptions) => Promise<Answer>

  constructor(search: (input: Of, options?: CallOptions) => Promise<Answer>, input: Of) {
    this.#search = search
    this.input = input
  }

  /** Sets fields that have no step of their own. */
  set(fields: Partial<Of>): this {
    const Self = this.constructor as new (search: (input: Of, options?: CallOptions) => Promise<Answer>, input: Of) => this
    return new Self(this.#search, { ...this.input, ...fields })
  }

  /** Only documents that have the key with at least one of the values. Several keys must all be met. */
  where(key: string, ...values: readonly string[]): this {
    const filterMeta = { ...this.input.filterMeta, [key]: [...(this.input.filterMeta?.[key] ?? []), ...values] }
    return this.set({ filterMeta } as Partial<Of>)
  }

  run(options?: CallOptions): Promise<Answer> {
    return this.#search(this.input, options)
  }
}

export interface Bounds {
  readonly gte?: string | number
  readonly gt?: string | number
  readonly lte?: string | number
  readonly lt?: string | number
}

export class FulltextSearch extends SearchBuilder<FtsRequest, Awaited<ReturnType<SearchMethods['fulltext']>>> {
  limit(limit: number): this {
    return this.set({ limit })
  }

  offset(offset: number): this {
    return this.set({ offset })
  }

  algorithm(algorithm: NonNullable<FtsRequest['algorithm']>): this {
    return this.set({ algorithm })
  }

  mode(mode: NonNullable<FtsRequest['mode']>): this {
    return this.set({ mode })
  }

  /** @param edits by which a word may differ, 1 or 2 */
  fuzzy(edits = 1): this {
    return this.set({ fuzzy: edits })
  }

  /** Only documents whose `field` lies within the bounds: `addedAt`, `updatedAt` or a metadata key. */
  range(field: string, bounds: Bounds): this {
    const known = Array.isArray(this.input.rangeMeta) ? (this.input.rangeMeta as readonly ({ field: string } & Bounds)[]) : []
    return this.set({ rangeMeta: [...known, { field, ...bounds }] })
  }

  /** Multiplies the scores of documents with a value of metadata, named `key:value`. */
  boost(keyAndValue: string, factor: number): this {
    return this.set({ boost: { ...this.input.boost, [keyAndValue]: factor } })
  }

  /** Weight of a field, for `bm25f`. */
  weight(field: string, weight: number): this {
    return this.set({ fieldWeights: { ...this.input.fieldWeights, [field]: weight } })
  }

  facet(...keys: readonly string[]): this {
    return this.set({ facetBy: [...(this.input.facetBy ?? []), ...keys] })
  }

  highlight(options: Pick<FtsRequest, 'highlightTag' | 'maxHighlights' | 'fragmentSize'> = {}): this {
    return this.set({ ...options, highlight: true })
  }

  explain(): this {
    return this.set({ explain: true })
  }

  /** The answer may be up to this many seconds old. */
  cacheFor(seconds: number): this {
    return this.set({ cacheTtl: seconds })
  }
}

export class VectorSearch extends SearchBuilder<VectorSearchInput, Awaited<ReturnType<SearchMethods['vector']>>> {
  limit(topK: number): this {
    return this.set({ topK })
  }

  threshold(threshold: number): this {
    return this.set({ threshold })
  }

  algorithm(algorithm: NonNullable<VectorSearchInput['algorithm']>): this {
    return this.set({ algorithm })
  }

  metric(distanceMetric: NonNullable<VectorSearchInput['distanceMetric']>): this {
    return this.set({ distanceMetric })
  }

  withContent(includeContent = true): this {
    return this.set({ includeContent })
  }

  /** Results that differ from each other (MMR). @param lambda 1: relevance alone, 0: difference alone */
  diverse(lambda?: number): this {
    return this.set({ mmr: true, mmrLambda: lambda })
  }
}

export class HybridSearch extends SearchBuilder<HybridSearchInput, Awaited<ReturnType<SearchMethods['hybrid']>>> {
  limit(topK: number): this {
    return this.set({ topK })
  }

  /** Weighs both scores. @param weight 0: words alone, 1: meaning alone */
  alpha(weight: number): this {
    return this.set({ strategy: 'alpha', alpha: weight })
  }

  /** Fuses by rank. */
  rrf(rrfK?: number): this {
    return this.set({ strategy: 'rrf', rrfK })
  }

  boost(keyAndValue: string, factor: number): this {
    return this.set({ boost: { ...this.input.boost, [keyAndValue]: factor } })
  }

  facet(...keys: readonly string[]): this {
    return this.set({ facetBy: [...(this.input.facetBy ?? []), ...keys] })
  }

  withContent(includeContent = true): this {
    return this.set({ includeContent })
  }
}

/** Searches of one collection. */
export interface CollectionSearch {
  fulltext(query: string): FulltextSearch
  /** By a text, which the server embeds, or by a vector. */
  vector(query: string | readonly number[]): VectorSearch
  hybrid(query: string): HybridSearch
}

export interface Search extends SearchMethods {
  /** Begins a search of the collection step by step. */
  in(collection: string): CollectionSearch
}

export function searchOf(methods: SearchMethods): Search {
  return {
    ...methods,
    in: (collection) => ({
      fulltext: (query) => new FulltextSearch(methods.fulltext, { collection, query }),
      vector: (query) =>
        new VectorSearch(methods.vector, typeof query === 'string' ? { collection, query } : { collection, queryVector: query }),
      hybrid: (query) => new HybridSearch(methods.hybrid, { collection, query }),
    }),
  }
}
