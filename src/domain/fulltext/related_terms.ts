/**
 * Terms that co-occur with a term more often than by chance, and the plan with them, for `pmisparse`. They
 * are learned per term from a sample of the collection's documents, when the term is first requested. One per
 * lane. Formula and reasons: docs/decisions/search/ranking.md.
 */
import { performance } from 'node:perf_hooks'
import { neighbours } from '../../engine/text/term_positions.js'
import type { PlanNode, PlanTerm, SearchEngine, SearchPlan } from '../../engine/types.js'
import { serviceError } from '../../errors.js'
import { PLAN_LEAVES_MAX } from '../../limits/search.js'
import { unescapeContent } from '../../store/body.js'
import { textOfHead } from '../../store/head.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { View } from '../../store/view.js'
import type { AnalysisTools } from '../documents/analysis.js'
import { contentAnalysis } from '../documents/analysis.js'
import { codeMarksOf, isCodeDocument } from '../documents/code_document.js'
import { readingAll } from '../documents/wanted_bodies.js'
import type { Stop } from '../search/context.js'
import type { QueryPlan } from './query_plan.js'

/** Documents of a term that are read to find its related terms: 64 x 5 KB, some 6 ms. */
const RELATED_DOCUMENTS_MAX = 64
/** Candidate terms whose frequency is then looked up, 10 us each. */
const RELATED_CANDIDATES_MAX = 64
/** Terms whose related terms a lane caches: 5 x 50 B each. */
const RELATED_CACHED_TERMS_MAX = 10_000
/** Words of one query whose related terms are looked up. Unknown ones take 0.3 s together. */
const RELATED_QUERY_TERMS_MAX = 32

interface RelatedTermsTools extends AnalysisTools {
  readonly store: TruthStore
  readonly engine: SearchEngine
}

interface RelatedTerm {
  readonly term: string
  /** Its weight. The term that it is related to has weight 1. */
  readonly weight: number
}

interface Learnt {
  readonly lsn: bigint
  readonly atMs: number
  readonly tookMs: number
  /** Number of documents read. */
  readonly documents: number
  readonly terms: readonly RelatedTerm[]
}

/**
 * Constants of the contract: words on either side that count as near, documents in which a pair must occur,
 * the largest weight of a related term, the PPMI that yields this weight, and related terms per term.
 */
const WINDOW = 5
const DOCUMENTS_MIN = 2
const WEIGHT_MAX = 0.35
const PPMI_MAX = 5
const RELATED_MAX = 5
/**
 * Number of ranges of the collection that the sample is taken from, so that it is not only the oldest
 * documents.
 */
const SAMPLE_STRETCHES = 4
/**
 * After a write, a term is learned again once this multiple of its learning time has passed. Learning
 * therefore takes at most a twentieth of the lane's time under a stream of writes.
 */
const AGE_FACTOR = 20
/** A term with at most this many documents is learned again after every write, in less than a millisecond. */
const ALWAYS_FRESH_DOCUMENTS = 16

export class RelatedTerms {
  readonly #learnt = new Map<string, Learnt>()

  /** Most related first. @throws ServiceError `deadline` when stopped */
  of(tools: RelatedTermsTools, collection: number, term: string, stop: Stop): readonly RelatedTerm[] {
    const name = `${collection} ${term}`
    const known = this.#learnt.get(name)
    const lsn = tools.store.read((view) => view.lastLsn())
    const startedMs = performance.now()
    if (known !== undefined && (known.lsn === lsn || isYoung(known, startedMs))) return known.terms
    const { terms, documents } = learn(tools, collection, term, stop)
    const atMs = performance.now()
    this.#learnt.delete(name)
    if (this.#learnt.size >= RELATED_CACHED_TERMS_MAX) for (const oldest of this.#learnt.keys()) if (this.#learnt.delete(oldest)) break
    this.#learnt.set(name, { lsn, atMs, tookMs: atMs - startedMs, documents, terms })
    return terms
  }
}

function isYoung({ atMs, tookMs, documents }: Learnt, nowMs: number): boolean {
  return documents > ALWAYS_FRESH_DOCUMENTS && nowMs - atMs < tookMs * AGE_FACTOR
}

function learn(tools: RelatedTermsTools, collection: number, term: string, stop: Stop): Pick<Learnt, 'terms' | 'documents'> {
  const { docids, documents } = sample(tools, collection, term)
  const counts = new Map<string, number>()
  tools.store.read((view) => {
    const countAll = (): void => {
      for (const docid of docids) {
        if (stop.shouldStop()) throw serviceError('deadline')
        for (const other of termsBeside(tools, view, collection, docid, term)) counts.set(other, (counts.get(other) ?? 0) + 1)
      }
    }
    readingAll(view, collection, () => docids, countAll)
  })
  const candidates = [...counts]
    .filter(([, count]) => count >= DOCUMENTS_MIN)
    .sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1))
    .slice(0, RELATED_CANDIDATES_MAX)
  // Estimated number of documents in which the two terms co-occur, scaled from the sample to all documents:
  // count * df / docids. So PMI = ln(that * N / (df * df of the other)).
  const terms = candidates
    .map(([other, count]) => ({ term: other, ppmi: Math.log((count * documents) / (docids.length * dfOf(tools, collection, other))) }))
    .filter(({ ppmi }) => ppmi > 0)
    .sort((one, other) => other.ppmi - one.ppmi || (one.term < other.term ? -1 : 1))
    .slice(0, RELATED_MAX)
    .map(({ term: other, ppmi }) => ({ term: other, weight: (WEIGHT_MAX * Math.min(ppmi, PPMI_MAX)) / PPMI_MAX }))
  return { terms, documents: docids.length }
}

/** Documents that have the term, by docid, from several ranges of the collection. */
function sample(tools: RelatedTermsTools, collection: number, term: string): { docids: number[]; documents: number } {
  const plan = planFor(collection, term)
  const { total: df, docCount: documents } = tools.engine.search(plan)
  const stretches = df > RELATED_DOCUMENTS_MAX ? SAMPLE_STRETCHES : 1
  const k = Math.ceil(RELATED_DOCUMENTS_MAX / stretches)
  const docids = Array.from({ length: stretches }, (_, stretch) =>
    tools.engine.search({ ...plan, k, skip: Math.floor((stretch * df) / stretches) }).hits.map(({ docid }) => docid),
  )
  return { docids: docids.flat(), documents }
}

function dfOf(tools: RelatedTermsTools, collection: number, term: string): number {
  return Math.max(1, tools.engine.search(planFor(collection, term)).total)
}

function planFor(collection: number, term: string): SearchPlan {
  return {
    collection,
    algorithm: 'bm25',
    k1: 1,
    b: 0,
    k: 0,
    skip: 0,
    sort: 'docid',
    descending: false,
    exactTotal: true,
    fields: [['content', 1]],
    filters: [],
    terms: [[term, 1]],
    root: { kind: 'term', term: 0 },
  }
}

/** Returns each term once. */
function termsBeside(tools: RelatedTermsTools, view: View, collection: number, docid: number, term: string): Iterable<string> {
  const head = view.head(collection, docid)
  if (head === undefined) return []
  const { key, lang, metaValues } = textOfHead(head)
  const isCode = isCodeDocument(codeMarksOf(key, Object.entries(metaValues)))
  const content = Buffer.from(unescapeContent(view.escapedContent(head)), 'utf8')
  return neighbours(tools.analyzer.analyze(content, contentAnalysis(tools.config, lang, isCode)), term, WINDOW)
}

/**
 * Adds the related terms of a collection to a plan of plain words. They are optional and weigh less than the
 * words of the query. A term suggested by several words has the sum of their weights. Only the first words of
 * a long query are looked up. Pure.
 */
export function withSuggestions(plan: QueryPlan, relatedOf: (term: string) => readonly RelatedTerm[]): QueryPlan {
  const own = new Set(plan.terms.map(([term]) => term))
  const weights = new Map<string, number>()
  for (const [term] of plan.terms.slice(0, RELATED_QUERY_TERMS_MAX)) {
    for (const { term: other, weight } of relatedOf(term)) if (!own.has(other)) weights.set(other, (weights.get(other) ?? 0) + weight)
  }
  const added: PlanTerm[] = [...weights].slice(0, PLAN_LEAVES_MAX - plan.leaves)
  if (added.length === 0) return plan
  const indexes = added.map((_, index) => plan.terms.length + index)
  const leaves: readonly PlanNode[] = plan.root.kind === 'or' ? plan.root.children : [plan.root]
  return {
    ...plan,
    terms: [...plan.terms, ...added],
    root: { kind: 'or', children: [...leaves, ...indexes.map((term): PlanNode => ({ kind: 'term', term }))] },
    wanted: [...plan.wanted, ...added.map(() => true)],
    suggested: new Set(indexes),
    leaves: plan.leaves + added.length,
  }
}
