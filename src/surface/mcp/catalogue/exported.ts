/**
 * An export as the result of a tool: its parts are collected up to a bound. NDJSON is cut after a whole line
 * there; a ZIP file that is longer is refused, because a part of one is of no use. Thread of MCP.
 */
import { MCP_EXPORT_BYTES_MAX } from '../../../limits/mcp_tools.js'
import type { CoreAnswer } from '../../thread/core_port.js'
import { failureOf, isRefusal } from './answers.js'
import type { Arguments } from './argument_values.js'
import { failed, type CallContext, type ToolResult } from './call.js'
import { UNTRUSTED_NOTICE } from './texts.js'

const NEWLINE = 10
const TOO_LONG = `export too large: a tool returns at most ${MCP_EXPORT_BYTES_MAX} bytes; narrow filter_meta, or use POST /v1/export`

/** @param first part of the answer, a success */
export async function exported(first: CoreAnswer, { collection, format = 'ndjson' }: Arguments, context: CallContext): Promise<ToolResult> {
  const parts: Uint8Array[] = [first.body]
  let bytes = first.body.length
  let last = first
  while (last.hasMore && bytes <= MCP_EXPORT_BYTES_MAX) {
    context.progress(bytes, undefined, `${bytes} bytes exported`)
    last = await context.more(last)
    if (isRefusal(last)) return failed(failureOf(last))
    parts.push(last.body)
    bytes += last.body.length
  }
  if (last.hasMore) context.cancel(last)
  const isCut = last.hasMore || bytes > MCP_EXPORT_BYTES_MAX
  if (isCut && format !== 'ndjson') return failed(TOO_LONG)
  const whole = Buffer.concat(parts, Math.min(bytes, MCP_EXPORT_BYTES_MAX))
  const shown = format === 'ndjson' ? linesOf(whole, isCut) : { encoding: 'base64', content: whole.toString('base64') }
  const text = JSON.stringify({ collection, format, truncated: isCut, ...shown })
  return {
    content: [
      { type: 'text', text },
      { type: 'text', text: UNTRUSTED_NOTICE },
    ],
  }
}

function linesOf(bytes: Buffer, isCut: boolean): object {
  const kept = isCut ? bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1) : bytes
  let count = 0
  for (let at = kept.indexOf(NEWLINE); at >= 0; at = kept.indexOf(NEWLINE, at + 1)) count++
  return { count, content: kept.toString('utf8') }
}
