/** Tools that find documents. Pure data. */
import { argument, required } from '../argument.js'
import type { Arguments } from '../argument_values.js'
import { AGGREGATION, FULL_TEXT_RESULTS, HYBRID_RESULTS, LISTED_DOCUMENTS, VECTOR_RESULTS } from '../output_schemas.js'
import { wantedParts } from '../shown_documents.js'
import type { Tool } from '../tool.js'
import {
  boost,
  collection,
  distanceMetric,
  facetBy,
  facetMaxValues,
  fields,
  metaFilters,
  fuzzy,
  includeContent,
  key,
  lang,
  maxTokens,
  threshold,
  vectorAlgorithms,
} from './common.js'

const query = required(argument('query', 'string', 'What to search for, at most 4 KB.', { examples: ['how do I restore a backup'] }))
const topK = (fallback: number) => argument('top_k', 'integer', 'Maximum number of results.', { fallback })
const optional = <Of extends { readonly isRequired: boolean }>(given: Of): Of => ({ ...given, isRequired: false })
const vectorAlgorithm = (name: string) =>
  argument(name, 'string', 'How vectors are compared: `flat` is exact, the others are faster on large collections.', {
    known: vectorAlgorithms,
  })

const withFacets = (given: Arguments) => ({
  ...(given.facets === undefined ? {} : { facets: fieldsOf(given.facets as readonly unknown[], { order_by: 'orderBy' }) }),
  ...(given.histograms === undefined ? {} : { histograms: fieldsOf(given.histograms as readonly unknown[], {}) }),
})

/** Items are names of fields, or objects. */
function fieldsOf(list: readonly unknown[], renamed: Readonly<Record<string, string>>): readonly unknown[] {
  return list.map((item) => {
    if (typeof item === 'string') return { field: item }
    if (typeof item !== 'object' || item === null) return item
    return Object.fromEntries(Object.entries(item).map(([name, value]) => [renamed[name] ?? name, value]))
  })
}

const semanticSearch: Tool = {
  name: 'semantic_search',
  title: 'Search by meaning',
  description:
    'Finds the documents whose meaning is nearest to a text, best first, also where they use other words. Use it for questions and topics; use full_text_search for exact words, names and codes, and hybrid_search if unsure. Needs embedded documents: vector_stats tells how many there are.',
  class: 'ROW',
  answers: 'documents',
  arguments: [
    collection,
    query,
    topK(5),
    threshold,
    ...metaFilters,
    vectorAlgorithm('algorithm'),
    distanceMetric,
    argument(
      'retrieval_mode',
      'string',
      'What a result contains: the whole document, the matching passage, or the passage with its neighbours. Default: short documents whole, and the matching passage of longer ones.',
      {
        known: ['parent', 'chunk', 'window'],
      },
    ),
    argument('window_size', 'integer', 'With retrieval_mode "window": number of passages on either side.', { fallback: 1 }),
    argument('mmr', 'boolean', 'Selects results that differ from each other.', { fallback: false }),
    argument('mmr_lambda', 'number', 'With mmr: 1 selects by score only, 0 by difference only.', { fallback: 0.5 }),
    includeContent,
    fields,
    maxTokens,
  ],
  input: wantedParts,
  outputSchema: VECTOR_RESULTS,
}

export const searchTools: readonly Tool[] = [
  {
    name: 'search_documents',
    title: 'List documents by metadata',
    description:
      'Lists the documents of a collection that have the given metadata, sorted and paginated, with their total number. Use it to browse or filter; it does not look into texts (full_text_search, semantic_search and hybrid_search do).',
    class: 'RO',
    answers: 'documents',
    arguments: [
      collection,
      ...metaFilters,
      argument('sort', 'string', 'Order of the documents, newest or last first. Default: order of storage.', {
        known: ['addedAt', 'updatedAt', 'key'],
      }),
      argument('limit', 'integer', 'Maximum number of documents.', { fallback: 50 }),
      argument('offset', 'integer', 'Number of documents to skip.', { fallback: 0 }),
      includeContent,
      fields,
      maxTokens,
    ],
    input: wantedParts,
    outputSchema: LISTED_DOCUMENTS,
  },
  {
    name: 'full_text_search',
    title: 'Search by words',
    description:
      'Finds documents that contain the words of a query, best first. Knows "phrases in quotes", AND, OR, NOT, +required, -excluded and wild*cards. With highlight it shows where the words are, which with `fields` costs far fewer tokens than whole documents.',
    class: 'RO',
    answers: 'documents',
    arguments: [
      collection,
      query,
      argument('limit', 'integer', 'Maximum number of results.', { fallback: 50 }),
      argument('algorithm', 'string', 'How documents are scored.', { fallback: 'tfidf', known: ['tfidf', 'bm25', 'bm25f', 'pmisparse'] }),
      fuzzy,
      argument('lang', 'string', 'Language of the query. Default: that of the server.', { examples: ['en'] }),
      boost,
      facetBy,
      facetMaxValues,
      includeContent,
      fields,
      argument('highlight', 'boolean', 'Adds the fragments of the text that match, with their positions.', { fallback: false }),
      argument('highlight_tag', 'string', 'Tag before a matched word; the closing tag follows from it.', { fallback: '<mark>' }),
      argument('max_highlights', 'integer', 'Maximum number of fragments per result.', { fallback: 3 }),
      argument('fragment_size', 'integer', 'Approximate length of a fragment in bytes.', { fallback: 150 }),
      maxTokens,
    ],
    input: wantedParts,
    outputSchema: FULL_TEXT_RESULTS,
  },
  semanticSearch,
  {
    ...semanticSearch,
    name: 'vector_search',
    description: 'The same as semantic_search: finds the documents whose meaning is nearest to a text.',
    operation: 'vectorSearch',
  },
  {
    name: 'hybrid_search',
    title: 'Search by words and meaning',
    description:
      'Searches by words and by meaning at once and merges both lists. The best choice if you do not know whether the documents use the words of the query. Works by words alone where no documents are embedded.',
    class: 'ROW',
    answers: 'documents',
    arguments: [
      collection,
      query,
      topK(10),
      argument('algorithm', 'string', 'How words are scored.', { fallback: 'bm25', known: ['bm25', 'bm25f'] }),
      vectorAlgorithm('vector_algorithm'),
      argument('strategy', 'string', 'How the lists are merged: by weighted scores or by ranks.', { known: ['alpha', 'rrf'] }),
      argument('alpha', 'number', 'With strategy "alpha": 0 counts words only, 1 meaning only. Default: 0.5.'),
      argument('rrf_k', 'integer', 'With strategy "rrf": constant of the rank fusion.', { fallback: 60 }),
      fuzzy,
      argument('threshold', 'number', 'Minimum similarity of what is found by meaning.', { fallback: 0 }),
      distanceMetric,
      ...metaFilters,
      boost,
      argument('sort', 'string', 'Order of the results.', { known: ['combined'] }),
      facetBy,
      facetMaxValues,
      includeContent,
      fields,
      maxTokens,
    ],
    input: wantedParts,
    outputSchema: HYBRID_RESULTS,
  },
  {
    name: 'cross_search',
    title: 'Search several collections',
    description:
      'Searches several collections by meaning, for a text (query) or for documents similar to one that you name (source_collection and source_doc_id). Results of all collections are in one list, nearest first.',
    class: 'ROW',
    answers: 'documents',
    arguments: [
      required(argument('target_collections', 'strings', 'Collections to search; an empty list: all that you may read.')),
      argument('source_collection', 'string', 'Collection of the document to compare with.'),
      argument('source_doc_id', 'string', 'Its `id`, e.g. "blog|hello-world|en".', { field: 'sourceDocID' }),
      optional(query),
      topK(10),
      threshold,
      vectorAlgorithm('algorithm'),
      distanceMetric,
      includeContent,
      maxTokens,
    ],
    input: wantedParts,
  },
  {
    name: 'aggregate',
    title: 'Count documents',
    description:
      'Counts the documents of a collection by the values of metadata keys (facets) and by day, week, month or year (histograms). Use it for "how many" questions instead of listing documents.',
    class: 'RO',
    answers: 'text',
    arguments: [
      collection,
      ...metaFilters,
      argument('facets', 'array', 'Metadata keys to count, as names or as {field, order_by}; order_by is "count" or "value".', {
        field: null,
        items: { anyOf: [{ type: 'string' }, { type: 'object' }] },
        examples: [['category', { field: 'tags', order_by: 'value' }]],
      }),
      argument(
        'histograms',
        'array',
        'Times to count, as names or as {field, interval}: field is "addedAt" or "updatedAt", interval "day", "week", "month" or "year".',
        {
          field: null,
          items: { anyOf: [{ type: 'string' }, { type: 'object' }] },
          examples: [[{ field: 'addedAt', interval: 'month' }]],
        },
      ),
      argument('max_facet_size', 'integer', 'Maximum number of values per key.', { fallback: 50 }),
      maxTokens,
    ],
    input: withFacets,
    outputSchema: AGGREGATION,
  },
  {
    name: 'autocomplete',
    title: 'Complete a word',
    description:
      'Completes a prefix with words that occur in a collection, most frequent first. Use it to find how a term is written before searching for it.',
    class: 'RO',
    answers: 'text',
    arguments: [
      collection,
      required(argument('q', 'string', 'Beginning of a word.', { examples: ['mark'] })),
      argument('field', 'string', 'Where to look: "title", "content" or "meta.KEY". Default: everywhere.'),
      argument('top_n', 'integer', 'Maximum number of words.', { fallback: 10 }),
    ],
  },
  {
    name: 'classify_document',
    title: 'Classify a text',
    description:
      'Scores how near a text, or a stored document (collection and key), is in meaning to each of the given labels. Labels need no training.',
    class: 'ROW',
    answers: 'plain',
    arguments: [
      required(argument('labels', 'strings', 'Labels, at most 100.', { examples: [['sports', 'politics']] })),
      argument('collection', 'string', 'With key: collection of the document to classify.'),
      optional(key),
      optional(lang),
      argument('text', 'string', 'Text to classify, instead of a document.'),
      argument('top_k', 'integer', 'Maximum number of labels; 0: all.', { fallback: 0 }),
      argument('multi', 'boolean', 'Returns all labels above the threshold, not only the nearest.', { fallback: false }),
      argument('threshold', 'number', 'Minimum score of a label.', { fallback: 0 }),
    ],
  },
  {
    name: 'find_duplicates',
    title: 'Find duplicates',
    description: 'Finds groups of documents of a collection with the same text (exact) or nearly the same meaning (similar).',
    class: 'RO',
    answers: 'text',
    arguments: [
      collection,
      argument('mode', 'string', 'What to look for; "exact" needs no vectors.', { fallback: 'both', known: ['exact', 'similar', 'both'] }),
      argument('threshold', 'number', 'Minimum similarity of similar documents.', { fallback: 0.9 }),
      argument('max_docs', 'integer', 'Maximum number of documents to examine.', { fallback: 5000 }),
      distanceMetric,
      argument('include_content', 'boolean', 'Whether the groups contain the texts.', { fallback: false }),
      maxTokens,
    ],
  },
  {
    name: 'search_advisor',
    title: 'How to improve searches',
    description:
      'Suggests what would help the searches of a collection, such as synonyms for queries without results, from the queries counted since the start of the server.',
    class: 'RO',
    answers: 'text',
    arguments: [collection],
  },
  {
    name: 'fts_languages',
    title: 'Languages of full-text search',
    description: 'Lists the languages with stemming and stop words, and the default language of the server.',
    class: 'RO',
    answers: 'plain',
    arguments: [],
  },
  {
    name: 'vector_stats',
    title: 'State of the embeddings',
    description:
      'Returns the embedding provider, and for each collection the number of its documents and of those that semantic_search can find.',
    class: 'RO',
    answers: 'plain',
    arguments: [],
  },
]
