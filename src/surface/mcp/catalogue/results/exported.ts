/**
 * An export as the result of a tool: its parts are collected while they fit into the tokens of the answer.
 * NDJSON is cut after a whole line there; a ZIP file that is longer is refused, because a part of one is of
 * no use. Thread of MCP.
 */
import { nextPart } from '../../../../dispatch/awaited_answers.js'
import type { OutgoingAnswer } from '../../../../wire/answer.js'
import type { Arguments } from '../arguments/argument_values.js'
import { type CallContext, failed, type TextContent, type ToolResult } from '../call.js'
import { shortenedHint, UNTRUSTED_NOTICE } from '../texts.js'
import { failureOf, isRefusal } from './answers.js'
import { tokensOf } from './token_estimate.js'
import { answerTokens } from './tool_result.js'

/** No text has more bytes a token in the estimate: ASCII has 2.5. */
const BYTES_A_TOKEN = 2.5
const NEWLINE = '\n'

/** @param first part of the answer, a success */
export async function exported(first: OutgoingAnswer, given: Arguments, context: CallContext): Promise<ToolResult> {
  const { collection, format = 'ndjson' } = given
  const tokens = answerTokens(given)
  const bytesMax = tokens * BYTES_A_TOKEN
  const parts: Uint8Array[] = [bytesOf(first)]
  let bytes = first.body.length
  let last = first
  while (last.rest !== undefined && bytes <= bytesMax) {
    context.progress(bytes, undefined, `${bytes} bytes exported`)
    last = await nextPart(last.rest, context.signal)
    if (isRefusal(last)) return failed(failureOf(last))
    parts.push(bytesOf(last))
    bytes += last.body.length
  }
  last.rest?.end()
  const hasMore = last.rest !== undefined
  const whole = Buffer.concat(parts)
  const shown = format === 'ndjson' ? linesOf(whole, hasMore, tokens) : fileOf(whole, hasMore, tokens)
  if (shown === null) return failed(tooLong(tokens))
  const hint = shown.truncated ? { contextTruncated: true, contextHint: shortenedHint('parts') } : {}
  return { content: textsOf(JSON.stringify({ collection, format, ...shown, ...hint })) }
}

function bytesOf({ body }: OutgoingAnswer): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body
}

interface Exported {
  readonly truncated: boolean
  readonly content: string
}

/** The lines that fit: they are texts within JSON, so that their quotes are escaped. */
function linesOf(bytes: Buffer, hasMore: boolean, tokens: number): Exported & { readonly count: number } {
  const lines = bytes.toString('utf8').split(NEWLINE)
  // What follows the last newline is nothing, or the beginning of a line whose end is not there.
  lines.pop()
  let used = 0
  let count = 0
  while (count < lines.length && (used += tokensOf(JSON.stringify(lines[count]))) <= tokens) count++
  const kept = lines.slice(0, count)
  return { truncated: hasMore || count < lines.length, count, content: kept.map((line) => `${line}${NEWLINE}`).join('') }
}

/** @returns null if the file does not fit. Base64 has no words: each character counts as a token. */
function fileOf(bytes: Buffer, hasMore: boolean, tokens: number): (Exported & { readonly encoding: string }) | null {
  const content = bytes.toString('base64')
  return hasMore || content.length > tokens ? null : { truncated: false, encoding: 'base64', content }
}

function tooLong(tokens: number): string {
  return `export too large for ${tokens} tokens; narrow filter_meta, raise max_tokens, or use POST /v1/export`
}

function textsOf(text: string): readonly TextContent[] {
  return [text, UNTRUSTED_NOTICE].map((each) => ({ type: 'text', text: each }))
}
