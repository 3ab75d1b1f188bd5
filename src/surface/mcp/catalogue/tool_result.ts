/**
 * The answer of an operation as the result of a tool: no longer than the model can read, and said once. A
 * tool with an output schema answers structured content, and beside it the same JSON as text only while that
 * is short; else an outline of it. Clients of revisions without structured content get the JSON as text.
 * Rules: docs/decisions/mcp.md. Thread of MCP.
 */
import { MCP_ANSWER_TOKENS_DEFAULT, MCP_ANSWER_TOKENS_MAX, MCP_ANSWER_TOKENS_MIN, MCP_TEXT_SHARE } from '../../../limits/mcp_tools.js'
import type { Arguments } from './argument_values.js'
import type { CallContext, TextContent, ToolResult } from './call.js'
import { OUTLINE_NOTE, shortenedHint, UNTRUSTED_NOTICE } from './texts.js'
import { cutToTokens, isObject } from './token_budget.js'
import { isWithin } from './token_estimate.js'
import type { Tool } from './tool.js'

/** Longer texts are left out of an outline: identities and scores stay. */
const OUTLINE_CHARS_MAX = 100
/** Tokens of the hint, twice, and of the notice. */
export const NOTES_TOKENS = 300

/** Tokens of the answer of a call. @param byDefault where the call names no number */
export function answerTokens({ max_tokens: asked }: Arguments, byDefault = MCP_ANSWER_TOKENS_DEFAULT): number {
  return Math.min(Math.max(MCP_ANSWER_TOKENS_MIN, Number(asked ?? byDefault)), MCP_ANSWER_TOKENS_MAX)
}

/** @param value of the operation, or its JSON: it is parsed only if it must be */
export function resultOf(value: unknown, tool: Tool, given: Arguments, context: CallContext): ToolResult {
  const tokens = answerTokens(given)
  const isStructured = tool.outputSchema !== undefined && context.isStructured
  const share = isStructured ? Math.floor(tokens / MCP_TEXT_SHARE) : 0
  const shown = boundedText(value, tool, tokens - share)
  const notes = tool.answers === 'plain' ? [] : [UNTRUSTED_NOTICE]
  const hint = shown.isShortened ? [shortenedHint(tool.answers)] : []
  if (!isStructured) return { content: texts([shown.text, ...hint, ...notes]) }
  const structuredContent = JSON.parse(shown.text) as unknown
  const text = isWithin(shown.text, share) ? shown.text : outlineOf(structuredContent, share)
  return { content: texts([text, ...hint, ...notes]), structuredContent }
}

interface BoundedText {
  /** JSON. */
  readonly text: string
  readonly isShortened: boolean
}

/** @param value as `resultOf` takes it */
export function boundedText(value: unknown, { answers }: Pick<Tool, 'answers'>, tokens: number): BoundedText {
  const whole = typeof value === 'string' ? value : JSON.stringify(value)
  // The budget of the collection may have left out something already.
  const isLeftOut = isObject(value) && 'contextTruncated' in value
  if (!isLeftOut && isWithin(whole, tokens - NOTES_TOKENS)) return { text: whole, isShortened: false }
  const cut: unknown = cutToTokens(typeof value === 'string' ? JSON.parse(value) : value, tokens - NOTES_TOKENS)
  const marked = Array.isArray(cut) ? cut : { ...(cut as object), contextTruncated: true, contextHint: shortenedHint(answers) }
  return { text: JSON.stringify(marked), isShortened: true }
}

/** What is in the structured content, for clients and logs that show texts only. */
function outlineOf(value: unknown, tokens: number): string {
  const outline = { note: OUTLINE_NOTE, ...(withoutTexts(value) as object) }
  return JSON.stringify(cutToTokens(outline, tokens))
}

function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts)
  if (!isObject(value)) return value
  const short = Object.entries(value).filter(([, member]) => typeof member !== 'string' || member.length <= OUTLINE_CHARS_MAX)
  return Object.fromEntries(short.map(([name, member]) => [name, withoutTexts(member)]))
}

export function texts(all: readonly string[]): readonly TextContent[] {
  return all.map((text) => ({ type: 'text', text }))
}
