/**
 * The answer of an operation as the result of a tool: no longer than the model can read, and said once. A
 * tool with an output schema answers structured content, and beside it the same JSON as text only while that
 * is short; else an outline of it. Clients of revisions without structured content get the JSON as text.
 * Rules: docs/decisions/interfaces/mcp.md. Thread of MCP.
 */
import { MCP_ANSWER_TOKENS_DEFAULT, MCP_ANSWER_TOKENS_MAX, MCP_ANSWER_TOKENS_MIN } from '../../../../limits/surfaces.js'
import type { Arguments } from '../arguments/argument_values.js'
import type { CallContext, TextContent, ToolResult } from '../call.js'
import { OUTLINE_NOTE, shortenedHint, UNTRUSTED_NOTICE } from '../texts.js'
import type { Tool } from '../tool.js'
import { cutToTokens, isObject } from './token_budget.js'
import { isWithin } from './token_estimate.js'

/** A text beside structured content takes at most one in so many tokens: by default 1 000. */
const MCP_TEXT_SHARE = 8

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
  const structuredContent = shown.value ?? (JSON.parse(shown.text) as object)
  const text = isWithin(shown.text, share) ? shown.text : outlineOf(structuredContent, share)
  return { content: texts([text, ...hint, ...notes]), structuredContent }
}

interface BoundedText {
  /** JSON. */
  readonly text: string
  /** What it says; undefined if it was not parsed. */
  readonly value: object | undefined
  readonly isShortened: boolean
}

/** @param value as `resultOf` takes it */
export function boundedText(value: unknown, { answers }: Pick<Tool, 'answers'>, tokens: number): BoundedText {
  const whole = typeof value === 'string' ? value : JSON.stringify(value)
  // The budget of the collection may have left out something already.
  const isLeftOut = isObject(value) && 'contextTruncated' in value
  if (!isLeftOut && isWithin(whole, tokens - NOTES_TOKENS))
    return { text: whole, value: isObject(value) ? value : undefined, isShortened: false }
  const cut = cutToTokens((typeof value === 'string' ? JSON.parse(value) : value) as object, tokens - NOTES_TOKENS)
  const marked: object = Array.isArray(cut) ? cut : { ...cut, contextTruncated: true, contextHint: shortenedHint(answers) }
  return { text: JSON.stringify(marked), value: marked, isShortened: true }
}

/** What is in the structured content, for clients and logs that show texts only. */
function outlineOf(value: object, tokens: number): string {
  const outline = { note: OUTLINE_NOTE, ...withoutTexts(value) }
  return JSON.stringify(cutToTokens(outline, tokens))
}

/** A copy. One call for each list and object, because a page of results has hundreds of values. */
function withoutTexts(value: object): object {
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value as unknown[]) items.push(typeof item === 'object' && item !== null ? withoutTexts(item) : item)
    return items
  }
  // Without a prototype, `__proto__` is a name like any other.
  const members = Object.create(null) as Record<string, unknown>
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    if (typeof member === 'object' && member !== null) members[name] = withoutTexts(member)
    else if (typeof member !== 'string' || member.length <= OUTLINE_CHARS_MAX) members[name] = member
  }
  return members
}

export function texts(all: readonly string[]): readonly TextContent[] {
  return all.map((text) => ({ type: 'text', text }))
}
