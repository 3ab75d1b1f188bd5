/** Arguments that several tools have. Pure data. */
import {
  MCP_ANSWER_TOKENS_DEFAULT,
  MCP_ANSWER_TOKENS_MAX,
  MCP_ANSWER_TOKENS_MIN,
  MCP_DOCUMENT_TOKENS_DEFAULT,
} from '../../../../limits/surfaces.js'
import { type Argument, argument } from '../arguments/argument.js'

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
