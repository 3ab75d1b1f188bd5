/**
 * Schemas of structured results. Results have at least these fields; `fields` and `include_content` leave out
 * parts of documents, so few of them are required. Pure data; any thread.
 */
import type { JsonSchema } from '../arguments/argument.js'

const STRING = { type: 'string' }
const INTEGER = { type: 'integer' }
const NUMBER = { type: 'number' }
const META = { type: 'object', additionalProperties: { type: 'array', items: STRING } }
const COUNTS = {
  type: 'object',
  additionalProperties: {
    type: 'array',
    items: { type: 'object', properties: { value: STRING, count: INTEGER }, required: ['value', 'count'] },
  },
}
const responsePrompt = { type: 'string', description: 'How the owner of the collection wants answers to be written.' }
const contextHint = { type: 'string', description: 'With contextTruncated: how to get at what was left out.' }
const contextTruncated = { type: 'boolean', description: 'True if results were left out to keep the answer short.' }

function object(properties: JsonSchema, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required }
}

function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items }
}

const documentFields = {
  id: STRING,
  key: STRING,
  lang: STRING,
  meta: META,
  contentMd: { type: 'string', description: 'Markdown text.' },
  addedAt: { type: 'integer', description: 'Unix seconds.' },
  updatedAt: { type: 'integer', description: 'Unix seconds.' },
  expiresAt: { type: 'integer', description: 'Unix seconds.' },
}

export const DOCUMENT = object(documentFields, ['id', 'key', 'lang', 'meta', 'contentMd', 'addedAt', 'updatedAt'])

const { id: _id, contentMd: _contentMd, ...headFields } = documentFields
export const DOCUMENT_META = object(headFields, ['key', 'lang', 'meta', 'addedAt', 'updatedAt'])

const shownDocument = object(documentFields, ['id', 'key', 'lang'])
const resultsOf = (fields: JsonSchema, needed: readonly string[]): JsonSchema =>
  object(
    {
      results: listOf(
        object({ document: shownDocument, chunkText: { type: 'string', description: 'The matching passage.' }, ...fields }, [
          'document',
          ...needed,
        ]),
      ),
      total: { type: 'integer', description: 'Number of results.' },
      contextTruncated,
      contextHint,
      responsePrompt,
    },
    ['results', 'total'],
  )

export const LISTED_DOCUMENTS = object(
  {
    documents: listOf(shownDocument),
    total: { type: 'integer', description: 'Number of matching documents, before pagination.' },
    contextTruncated,
    contextHint,
    responsePrompt,
  },
  ['documents', 'total'],
)

export const FULL_TEXT_RESULTS = resultsOf(
  {
    score: NUMBER,
    matchedTerms: listOf(STRING),
    highlights: listOf(
      object({ fragment: STRING, startOffset: INTEGER, endOffset: INTEGER, startLine: INTEGER, endLine: INTEGER }, ['fragment']),
    ),
  },
  ['score'],
)

export const VECTOR_RESULTS = resultsOf({ score: NUMBER, rank: INTEGER }, ['score', 'rank'])

export const HYBRID_RESULTS = resultsOf({ combinedScore: NUMBER, ftsScore: NUMBER, vectorScore: NUMBER, rank: INTEGER }, [
  'combinedScore',
  'rank',
])

export const AGGREGATION = object(
  {
    collection: STRING,
    totalDocs: INTEGER,
    facets: COUNTS,
    histograms: {
      type: 'object',
      additionalProperties: listOf(object({ key: STRING, from: INTEGER, to: INTEGER, count: INTEGER }, ['key', 'count'])),
    },
  },
  ['collection', 'totalDocs'],
)

export const META_KEYS = object({ meta: META }, ['meta'])

export const STATISTICS = object(
  {
    databasePath: STRING,
    databaseSize: INTEGER,
    mode: STRING,
    collections: listOf(object({ name: STRING, documentCount: INTEGER, revisionCount: INTEGER }, ['name', 'documentCount'])),
    totalDocuments: INTEGER,
    totalRevisions: INTEGER,
    uptime: STRING,
  },
  ['collections', 'totalDocuments'],
)
