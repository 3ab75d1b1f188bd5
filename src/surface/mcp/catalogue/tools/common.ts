/** Arguments that several tools have. Pure data. */
import {
  MCP_ANSWER_TOKENS_DEFAULT,
  MCP_ANSWER_TOKENS_MAX,
  MCP_ANSWER_TOKENS_MIN,
  MCP_DOCUMENT_TOKENS_DEFAULT,
} from '../../../../limits/mcp_tools.js'
import { argument, required, type Argument } from '../argument.js'

export const collection = required(argument('collection', 'string', 'Name of the collection, e.g. "blog".'))
export const anyCollection = argument('collection', 'string', 'Name of a collection. Default: all collections that you may read.')
export const key = required(argument('key', 'string', 'Key of the document in its collection, e.g. "hello-world".'))
export const lang = required(argument('lang', 'string', 'Language code of the document, e.g. "en" or "en_GB".'))
export const identity = [collection, key, lang] as const

/** Both filters by metadata. */
export const metaFilters = [
  argument(
    'filter_meta',
    'filter',
    'Only documents with this metadata: every key must match, with at least one of its values. get_meta_keys lists keys and values.',
    { examples: [{ category: ['tutorial', 'guide'] }] },
  ),
  argument('has_meta', 'strings', 'Only documents that have these metadata keys, with any value.', { examples: [['category']] }),
] as const
export const includeContent = argument(
  'include_content',
  'boolean',
  'Whether results contain the whole text of documents. Default: short texts whole, and the matching passage of longer ones; none if `fields` is given.',
  {
    field: null,
  },
)
export const fields = argument(
  'fields',
  'strings',
  'Metadata keys to return. Each document is reduced to id, key, lang and these keys, without its text. Saves many tokens: ask for ["title"] to get an overview first.',
  { field: null, examples: [['title', 'category']] },
)
const tokensOfAnswer = (fallback: number): Argument =>
  argument(
    'max_tokens',
    'integer',
    `Approximate tokens of the answer, ${MCP_ANSWER_TOKENS_MIN} to ${MCP_ANSWER_TOKENS_MAX}. What does not fit is left out from the end, and the answer says so.`,
    { field: null, fallback },
  )
export const maxTokens = tokensOfAnswer(MCP_ANSWER_TOKENS_DEFAULT)
export const maxTokensOfDocument = tokensOfAnswer(MCP_DOCUMENT_TOKENS_DEFAULT)
export const threshold = argument('threshold', 'number', 'Minimum similarity score of a result, 0 to 1.', { fallback: 0 })
export const vectorAlgorithms = ['flat', 'hnsw', 'ivf', 'pq', 'opq', 'sq', 'sq4', 'bq', 'quantized']
export const distanceMetric = argument('distance_metric', 'string', 'Measure of similarity.', {
  fallback: 'cosine',
  known: ['cosine', 'dot_product', 'euclidean'],
})
export const boost = argument(
  'boost',
  'object',
  'Factors by "metaKey:metaValue": n multiplies the score of documents with that value, -n divides it.',
  { examples: [{ 'category:guide': 2 }] },
)
export const facetBy = argument('facet_by', 'strings', 'Metadata keys whose values are counted over the results.', {
  examples: [['category']],
})
export const facetMaxValues = argument('facet_max_values', 'integer', 'Maximum number of counted values per key; 0: all.', { fallback: 0 })
export const fuzzy = argument('fuzzy', 'integer', 'Typos tolerated per word: 0, 1 or 2.', { fallback: 0 })

export const meta = (text: string) =>
  argument('meta', 'values', text, { examples: [{ category: ['tutorial'], tags: ['markdown', 'search'] }] })
