/**
 * One document as the result of a tool: whole where it is short, else a part of its text with the offset of
 * the next one. All parts together are the text. Rules: docs/decisions/interfaces/mcp.md. Thread of MCP.
 */
import { MCP_DOCUMENT_TOKENS_DEFAULT } from '../../../../limits/surfaces.js'
import type { Arguments } from '../arguments/argument_values.js'
import { failed, type ToolResult } from '../call.js'
import { META_LEFT_OUT_HINT, partHint, UNTRUSTED_NOTICE } from '../texts.js'
import { cutToTokens } from './token_budget.js'
import { characterStart, endOfPart, isWithin, tokensOf } from './token_estimate.js'
import { answerTokens, NOTES_TOKENS, texts } from './tool_result.js'

type Json = Readonly<Record<string, unknown>>

/** Of the tokens, for what is not the text. */
const HEAD_SHARE = 0.5
/** Beside a key of 1 KB in a rare script: each part brings the reader further. */
const PART_TOKENS_MIN = 200

/** @param document JSON of the operation */
export function documentPart(document: string, given: Arguments): ToolResult {
  const tokens = answerTokens(given, MCP_DOCUMENT_TOKENS_DEFAULT) - NOTES_TOKENS
  const offset = Number(given.offset ?? 0)
  if (offset === 0 && isWithin(document, tokens)) return { content: texts([document, UNTRUSTED_NOTICE]) }
  const { contentMd, meta, ...rest } = JSON.parse(document) as Json & { readonly contentMd: string }
  if (offset < 0 || offset > contentMd.length) return failed(`invalid offset: the text has ${contentMd.length} characters`)
  // Metadata are in the first part only.
  const whole = offset === 0 ? { ...rest, meta } : rest
  const head = cutToTokens(whole, tokens * HEAD_SHARE)
  const start = characterStart(contentMd, offset)
  const end = endOfPart(contentMd, start, Math.max(PART_TOKENS_MIN, tokens - tokensOf(JSON.stringify(head))))
  const hints = [...(end < contentMd.length ? [partHint(end, contentMd.length)] : []), ...(head === whole ? [] : [META_LEFT_OUT_HINT])]
  const part = {
    ...head,
    contentMd: contentMd.slice(start, end),
    offset: start,
    contentLength: contentMd.length,
    ...(end < contentMd.length ? { nextOffset: end } : {}),
    ...(hints.length === 0 ? {} : { contextTruncated: true, contextHint: hints.join(' ') }),
  }
  return { content: texts([JSON.stringify(part), ...hints, UNTRUSTED_NOTICE]) }
}
