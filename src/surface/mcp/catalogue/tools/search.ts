/** Tools that find documents. Pure data. */
import { argument } from '../arguments/argument.js'
import type { Arguments } from '../arguments/argument_values.js'
import { wantedParts } from '../results/shown_documents.js'
import type { ToolDefinition } from '../tool.js'
import { fields, includeContent, maxTokens } from './common.js'

const shown = [includeContent, fields, maxTokens]

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

const semanticSearch: ToolDefinition = {
  name: 'semantic_search',
  title: 'Search by meaning',
  description:
    'Finds the documents whose meaning is nearest to a text, best first, also where they use other words. Use it for questions and topics; use full_text_search for exact words, names and codes, and hybrid_search if unsure. Needs embedded documents: vector_stats tells how many there are.',
  class: 'ROW',
  answers: 'documents',
  without: ['queryVector', 'oversample'],
  needs: ['query'],
  noDefault: ['algorithm'],
  own: [
    argument(
      'retrieval_mode',
      'string',
      'What a result contains: the whole document, the matching passage, or the passage with its neighbours. Default: short documents whole, and the matching passage of longer ones.',
      { known: ['parent', 'chunk', 'window'] },
    ),
    ...shown,
  ],
  input: wantedParts,
  isStructured: true,
}

export const searchTools: readonly ToolDefinition[] = [
  {
    name: 'search_documents',
    title: 'List documents by metadata',
    description:
      'Lists the documents of a collection that have the given metadata, sorted and paginated, with their total number. Use it to browse or filter; it does not look into texts (full_text_search, semantic_search and hybrid_search do).',
    class: 'RO',
    answers: 'documents',
    without: ['asc', 'retrievalMode', 'windowSize'],
    own: shown,
    input: wantedParts,
    isStructured: true,
  },
  {
    name: 'full_text_search',
    title: 'Search by words',
    description:
      'Finds documents that contain the words of a query, best first. Knows "phrases in quotes", AND, OR, NOT, +required, -excluded and wild*cards. With highlight it shows where the words are, which with `fields` costs far fewer tokens than whole documents.',
    class: 'RO',
    answers: 'documents',
    without: [
      ...['offset', 'mode', 'distance', 'disableStem', 'disableSynonyms', 'count', 'spellCorrect', 'explain', 'cacheTtl', 'retrievalMode'],
      ...['windowSize', 'fieldWeights', 'filterMeta', 'hasMeta', 'rangeMeta'],
    ],
    own: shown,
    input: wantedParts,
    isStructured: true,
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
    without: ['fieldWeights', 'lang', 'oversample', 'retrievalMode', 'windowSize', 'disableStem', 'disableSynonyms', 'geo'],
    noDefault: ['vector_algorithm', 'strategy', 'alpha'],
    own: shown,
    input: wantedParts,
    isStructured: true,
  },
  {
    name: 'cross_search',
    title: 'Search several collections',
    description:
      'Searches several collections by meaning, for a text (query) or for documents similar to one that you name (source_collection and source_doc_id). Results of all collections are in one list, nearest first.',
    class: 'ROW',
    answers: 'documents',
    without: ['queryVector', 'filterMeta', 'hasMeta', 'retrievalMode', 'windowSize', 'oversample'],
    noDefault: ['algorithm'],
    needs: ['target_collections'],
    own: [includeContent, maxTokens],
    input: wantedParts,
  },
  {
    name: 'aggregate',
    title: 'Count documents',
    description:
      'Counts the documents of a collection by the values of metadata keys (facets) and by day, week, month or year (histograms). Use it for "how many" questions instead of listing documents.',
    class: 'RO',
    answers: 'text',
    own: [
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
      maxTokens,
    ],
    input: withFacets,
    isStructured: true,
  },
  {
    name: 'autocomplete',
    title: 'Complete a word',
    description:
      'Completes a prefix with words that occur in a collection, most frequent first. Use it to find how a term is written before searching for it.',
    class: 'RO',
    answers: 'text',
  },
  {
    name: 'classify_document',
    title: 'Classify a text',
    description:
      'Scores how near a text, or a stored document (collection and key), is in meaning to each of the given labels. Labels need no training.',
    class: 'ROW',
    answers: 'plain',
  },
  {
    name: 'find_duplicates',
    title: 'Find duplicates',
    description: 'Finds groups of documents of a collection with the same text (exact) or nearly the same meaning (similar).',
    class: 'RO',
    answers: 'text',
    own: [maxTokens],
  },
  {
    name: 'search_advisor',
    title: 'How to improve searches',
    description:
      'Suggests what would help the searches of a collection, such as synonyms for queries without results, from the queries counted since the start of the server.',
    class: 'RO',
    answers: 'text',
    without: ['apply'],
  },
  {
    name: 'fts_languages',
    title: 'Languages of full-text search',
    description: 'Lists the languages with stemming and stop words, and the default language of the server.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'vector_stats',
    title: 'State of the embeddings',
    description:
      'Returns the embedding provider, and for each collection the number of its documents and of those that semantic_search can find.',
    class: 'RO',
    answers: 'plain',
  },
]
