/**
 * Exact and near duplicates. Exact: equal contents, with or without vectors; only contents of equal length
 * are read. Near: pairs that the vector engine finds above a threshold, joined into groups. Rules:
 * algorithms.md section 9 and docs/decisions/search/vector-search.md. Bulk lane.
 */
import { createHash } from 'node:crypto'
import type { SimilarGroup, VectorMetric } from '../../engine/vectors/vector_types.js'
import { badRequest, serviceError } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits/documents.js'
import { OVERSAMPLE_DEFAULT } from '../../limits/search.js'
import { unescapeContent } from '../../store/body.js'
import { type Head, textOfHead } from '../../store/head.js'
import type { View } from '../../store/view.js'
import { readingAll } from '../documents/wanted_bodies.js'
import type { SearchedCollection, Stop } from '../search/context.js'
import { readMetric, readNumber } from './vector_request.js'
import { nearest, type VectorTools } from './vector_search.js'

/** The contract's default of `maxDocs`, and the maximum that the vector engine compares. */
const DUPLICATES_DOCUMENTS_DEFAULT = 5000
const DUPLICATES_DOCUMENTS_MAX = 100_000
/** Nearest documents compared with each document. The members of larger groups are connected transitively. */
const DUPLICATES_NEIGHBOURS = 64

type Absent = null | undefined

interface DuplicatesInput {
  readonly collection: string
  readonly mode?: string | Absent
  readonly threshold?: number | Absent
  readonly maxDocs?: number | Absent
  readonly distanceMetric?: string | Absent
  readonly includeContent?: boolean | Absent
}

interface DuplicatesRequest {
  readonly collection: string
  readonly mode: 'exact' | 'similar' | 'both'
  readonly threshold: number
  readonly documentsMax: number
  readonly metric: VectorMetric
  readonly withContent: boolean
}

/** @throws ServiceError 400 */
export function readDuplicates(input: DuplicatesInput): DuplicatesRequest {
  const mode = input.mode || 'both'
  if (mode !== 'exact' && mode !== 'similar' && mode !== 'both') throw badRequest(`unknown mode: ${mode}`)
  const documents = input.maxDocs ?? 0
  if (!Number.isInteger(documents) || documents < 0) throw badRequest('invalid maxDocs')
  return {
    collection: input.collection,
    mode,
    threshold: readNumber('threshold', input.threshold, 0.9),
    documentsMax: documents === 0 ? DUPLICATES_DOCUMENTS_DEFAULT : Math.min(documents, DUPLICATES_DOCUMENTS_MAX),
    metric: readMetric(input.distanceMetric),
    withContent: input.includeContent === true,
  }
}

/** A request, and the bytes of content in its answer so far. A document in two groups is counted twice. */
interface Showing extends DuplicatesRequest {
  contentBytes: number
}

interface GroupedDocument {
  readonly docId: string
  readonly key: string
  readonly contentHash: string
  readonly contentMd?: string
  readonly score?: number
}

interface Group {
  readonly groupId: string
  readonly type: 'exact' | 'similar'
  readonly documents: readonly GroupedDocument[]
  readonly score?: number
}

/**
 * @param collection undefined if it does not exist
 * @returns the answer
 * @throws ServiceError, BodiesWanted
 */
export function findDuplicates(
  tools: VectorTools,
  request: DuplicatesRequest,
  collection: SearchedCollection | undefined,
  stop: Stop,
): object {
  const { mode, threshold, metric, documentsMax } = request
  const docids =
    collection === undefined ? [] : tools.store.read((view) => [...headsOf(view, collection.id, documentsMax)].map(({ docid }) => docid))
  const alike = mode !== 'exact' && collection !== undefined ? similarDocuments(tools, request, collection, docids, stop) : []
  const show = <T>(run: (view: View, id: number) => T, nothing: T): T =>
    collection === undefined ? nothing : tools.store.read((view) => run(view, collection.id))
  const showing: Showing = { ...request, contentBytes: 0 }
  const exactGroups = mode === 'similar' ? [] : show((view, id) => exactGroupsOf(view, id, docids, showing, stop), [])
  const similarGroups = show((view, id) => similarGroupsOf(view, id, alike, showing, stop), [])
  return {
    ...{ collection: request.collection, mode, threshold, distanceMetric: metric, totalDocuments: docids.length },
    totalEmbedded: show((view, id) => docids.filter((docid) => (view.vectors.stamp(id, docid)?.chunks ?? 0) > 0).length, 0),
    exactGroups,
    similarGroups,
    exactDuplicates: exactGroups.reduce((sum, { documents }) => sum + documents.length, 0),
    similarPairs: similarGroups.reduce((sum, { documents }) => sum + (documents.length * (documents.length - 1)) / 2, 0),
  }
}

/** Oldest first. */
function* headsOf(view: View, collection: number, most: number): Generator<Head> {
  let count = 0
  for (const head of view.allHeads(collection)) {
    if (count++ >= most) return
    yield head
  }
}

/** The groups, restricted to the examined documents. Each has at least two. */
function similarDocuments(
  tools: VectorTools,
  request: DuplicatesRequest,
  collection: SearchedCollection,
  docids: readonly number[],
  stop: Stop,
): readonly SimilarGroup[] {
  const looked = new Set(docids)
  const find = request.metric === 'cosine' ? comparedGroups : soughtGroups
  return find(tools, request, collection, docids, stop)
    .map(({ score, members }) => ({ score, members: members.filter(({ docid }) => looked.has(docid)) }))
    .filter(({ members }) => members.length > 1)
}

/** The engine compares first chunks, by cosine. */
function comparedGroups(
  { store, vectorEngine }: VectorTools,
  { threshold }: DuplicatesRequest,
  { id }: SearchedCollection,
  docids: readonly number[],
  stop: Stop,
): readonly SimilarGroup[] {
  const docidMax = docids.at(-1)
  if (docidMax === undefined || threshold > 1) return []
  const dimensions = new Set(store.read((view) => view.vectors.variants(id).map((variant) => variant.dimensions)))
  return [...dimensions].flatMap((each) => {
    const request = { collection: id, dimensions: each, threshold: Math.max(-1, threshold), docidMax }
    const { groups } = vectorEngine.similar(request, stop.stopWord)
    if (stop.shouldStop()) throw serviceError('deadline')
    return groups
  })
}

/**
 * Searches for the first chunk of each document among the chunks of all others. For a document with very many
 * copies only the nearest are found. The copies are joined transitively.
 */
function soughtGroups(
  tools: VectorTools,
  { threshold, metric }: DuplicatesRequest,
  collection: SearchedCollection,
  docids: readonly number[],
  stop: Stop,
): readonly SimilarGroup[] {
  const looked = new Set(docids)
  const choice = { algorithm: 'flat', metric, oversample: OVERSAMPLE_DEFAULT, threshold } as const
  const found = new Map<string, Pair>()
  for (const docid of docids) {
    const query = tools.store.read((view) => beginningOf(view, collection.id, docid))
    if (query === undefined) continue
    for (const { docid: other, score } of nearest(tools, { choice, query, filters: [], k: DUPLICATES_NEIGHBOURS }, collection, stop)) {
      if (other === docid || !looked.has(other)) continue
      const [first, second] = [Math.min(docid, other), Math.max(docid, other)]
      const name = `${first} ${second}`
      if (score > (found.get(name)?.score ?? -Infinity)) found.set(name, { first, second, score })
    }
  }
  return joined([...found.values()])
}

/** A copy: data read from the store is valid only as long as its view. */
function beginningOf(view: View, collection: number, docid: number): Float32Array | undefined {
  const record = view.vectors.record(collection, docid)
  return record === undefined || record.vectors.length === 0 ? undefined : record.vectors.slice(0, record.dimensions)
}

/** Contents of different lengths differ. Contents whose length is unique are therefore not read. */
function exactGroupsOf(view: View, collection: number, docids: readonly number[], showing: Showing, stop: Stop): readonly Group[] {
  const byLength = grouped(docids, (docid) => view.head(collection, docid)?.bodyRawBytes)
  const alike = [...byLength.values()].filter(({ length }) => length > 1).flat()
  const byHash = readingAll(
    view,
    collection,
    () => alike,
    () => grouped(alike, (docid) => hashOf(view, collection, docid, stop)),
  )
  const groups = [...byHash].filter(([, members]) => members.length > 1)
  return groups.map(([hash, members], at) => ({
    groupId: `exact-${at + 1}`,
    type: 'exact',
    documents: members.flatMap((docid) => shown(view, collection, docid, showing, {}, hash) ?? []),
  }))
}

/** In the order of first occurrence. Documents without a name are left out. */
function grouped<Name>(docids: readonly number[], nameOf: (docid: number, at: number) => Name | undefined): Map<Name, number[]> {
  const groups = new Map<Name, number[]>()
  docids.forEach((docid, at) => {
    const name = nameOf(docid, at)
    if (name === undefined) return
    const members = groups.get(name)
    if (members === undefined) groups.set(name, [docid])
    else members.push(docid)
  })
  return groups
}

function hashOf(view: View, collection: number, docid: number, stop: Stop): string | undefined {
  if (stop.shouldStop()) throw serviceError('deadline')
  const head = view.head(collection, docid)
  return head && contentHash(view, head)
}

function contentHash(view: View, head: Head): string {
  return createHash('sha256')
    .update(unescapeContent(view.escapedContent(head)), 'utf8')
    .digest('hex')
}

function similarGroupsOf(view: View, collection: number, found: readonly SimilarGroup[], showing: Showing, stop: Stop): readonly Group[] {
  return readingAll(
    view,
    collection,
    () => found.flatMap(({ members }) => members.map(({ docid }) => docid)),
    () =>
      found
        .map(({ score, members }) => ({
          score,
          documents: members.flatMap((member) => {
            if (stop.shouldStop()) throw serviceError('deadline')
            return shown(view, collection, member.docid, showing, { score: member.score }) ?? []
          }),
        }))
        .filter(({ documents }) => documents.length > 1)
        .map(({ score, documents }, at) => ({ groupId: `similar-${at + 1}`, type: 'similar', documents, score })),
  )
}

interface Pair {
  readonly first: number
  readonly second: number
  readonly score: number
}

function joined(pairs: readonly Pair[]): readonly SimilarGroup[] {
  const parents = new Map<number, number>()
  const best = new Map<number, number>()
  for (const { first, second, score } of pairs) {
    join(parents, first, second)
    for (const docid of [first, second]) best.set(docid, Math.max(best.get(docid) ?? -Infinity, score))
  }
  const docids = [...best.keys()].sort((one, other) => one - other)
  const members = grouped(docids, (docid) => rootOf(parents, docid))
  const scores = grouped(
    pairs.map(({ score }) => score),
    (_, at) => rootOf(parents, (pairs[at] as Pair).first),
  )
  return [...members].map(([root, group]) => {
    const ofGroup = scores.get(root) as number[]
    return {
      score: ofGroup.reduce((sum, score) => sum + score, 0) / ofGroup.length,
      members: group.map((docid) => ({ docid, score: best.get(docid) as number })),
    }
  })
}

function rootOf(parents: Map<number, number>, docid: number): number {
  let root = docid
  for (let parent = parents.get(root); parent !== undefined && parent !== root; parent = parents.get(root)) root = parent
  // Path compression: the next look-up takes one step.
  for (let at = docid; at !== root;) {
    const next = parents.get(at) as number
    parents.set(at, root)
    at = next
  }
  return root
}

/** The older document becomes the root. */
function join(parents: Map<number, number>, one: number, other: number): void {
  const [first, second] = [rootOf(parents, one), rootOf(parents, other)]
  parents.set(Math.max(first, second), Math.min(first, second))
}

/** @throws ServiceError 400 when the answer exceeds its bound */
function shown(view: View, collection: number, docid: number, showing: Showing, notes: object, hash?: string): GroupedDocument | undefined {
  const head = view.head(collection, docid)
  if (head === undefined) return undefined
  const { id, key } = textOfHead(head)
  if (showing.withContent) showing.contentBytes += head.bodyRawBytes
  if (showing.contentBytes > ANSWER_BYTES_MAX) throw badRequest(`answer larger than ${ANSWER_BYTES_MAX} bytes, please lower maxDocs`)
  const content = showing.withContent ? { contentMd: unescapeContent(view.escapedContent(head)) } : {}
  return { docId: id, key, contentHash: hash ?? contentHash(view, head), ...content, ...notes }
}
