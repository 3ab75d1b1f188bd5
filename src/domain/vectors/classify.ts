/**
 * Classification: the similarity of a text, or of a document with vectors, to labels. Rules: service-1 and
 * algorithms.md section 10. Read lanes.
 */
import { badRequest, serviceError } from '../../errors.js'
import { QUERY_BYTES_MAX } from '../../limits/search.js'
import { unescapeContent } from '../../store/body.js'
import type { EmbeddingIdentity } from '../embedding/embedding_identity.js'
import { vectorsOfTexts } from '../embedding/text_vectors.js'
import { findDocument } from '../writes/changes.js'
import { cosine, direction } from './geometry.js'
import { readNumber } from './vector_request.js'
import type { VectorTools } from './vector_search.js'

/** Labels of one classification. Fixed by the contract. */
const CLASSIFY_LABELS_MAX = 100
/** Characters of a text that are classified. No model reads more. */
const CLASSIFIED_CHARACTERS_MAX = 32_768

type Absent = null | undefined

interface ClassifyInput {
  readonly labels?: readonly string[] | Absent
  readonly text?: string | Absent
  readonly collection?: string | Absent
  readonly key?: string | Absent
  readonly lang?: string | Absent
  readonly topK?: number | Absent
  readonly multi?: boolean | Absent
  readonly threshold?: number | Absent
}

interface Classification {
  readonly results: readonly { readonly label: string; readonly score: number }[]
  readonly model: string
  readonly dimensions: number
}

/** @throws ServiceError, EmbeddingsWanted */
export function classifyText(tools: VectorTools, input: ClassifyInput): Classification {
  if (tools.embedding.current === undefined) throw serviceError('noEmbeddingProvider')
  const labels = readLabels(input.labels)
  const threshold = readNumber('threshold', input.threshold, 0)
  const topK = input.topK ?? 0
  if (!Number.isInteger(topK) || topK < 0) throw badRequest('invalid topK')
  const { identity, vectors } = vectorsOfTexts(tools, labels, 'query')
  const { model, dimensions } = identity
  const subject = subjectOf(tools, input, identity)
  const scored = labels.map((label, at) => ({ label, score: cosine(subject, vectors[at] as Float32Array) }))
  scored.sort((one, other) => other.score - one.score)
  // 0, the default, means no threshold: labels with a negative score are included.
  const near = threshold === 0 ? scored : scored.filter(({ score }) => score >= threshold)
  return { results: topK === 0 || input.multi === true ? near : near.slice(0, topK), model, dimensions }
}

function readLabels(labels: readonly string[] | Absent): readonly string[] {
  if (!labels || labels.length === 0) throw serviceError('missingFields')
  if (labels.length > CLASSIFY_LABELS_MAX) throw badRequest(`maximum ${CLASSIFY_LABELS_MAX} labels allowed`)
  for (const label of labels) {
    if (label.trim() === '') throw badRequest('labels must not be empty')
    if (Buffer.byteLength(label) > QUERY_BYTES_MAX) throw badRequest(`a label of more than ${QUERY_BYTES_MAX} bytes`)
  }
  return labels
}

/**
 * A document without vectors of the current model is embedded as text. A document without text has similarity
 * 0 to every label.
 */
function subjectOf(tools: VectorTools, { text, collection, key, lang }: ClassifyInput, identity: EmbeddingIdentity): Float32Array {
  const subject = text ? text : storedSubject(tools, collection, key, lang || 'en', identity)
  if (typeof subject !== 'string') return subject
  const cut = subject.slice(0, CLASSIFIED_CHARACTERS_MAX)
  if (cut.trim() === '') return new Float32Array(identity.dimensions)
  // Does not split a surrogate pair.
  return vectorsOfTexts(tools, [cut.isWellFormed() ? cut : cut.slice(0, -1)], 'document').vectors[0] as Float32Array
}

function storedSubject(
  { store }: VectorTools,
  collection: string | Absent,
  key: string | Absent,
  lang: string,
  { variant, dimensions }: EmbeddingIdentity,
): Float32Array | string {
  if (!collection || !key) throw serviceError('missingFields', '`text`, or `collection` with `key`, is expected; neither came.')
  return store.read((view) => {
    const head = findDocument(view, collection, key, lang)
    const record = view.vectors.record(head.collection, head.docid)
    if (record?.variant === variant && record.dimensions === dimensions && record.vectors.length > 0)
      return direction(record.vectors, dimensions)
    return unescapeContent(view.escapedContent(head))
  })
}
