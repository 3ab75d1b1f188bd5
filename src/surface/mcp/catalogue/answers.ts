/** Answers of the core as the catalogue reads them. Any thread. */
import { CATALOGUE, type ErrorCode } from '../../../errors.js'
import { CatalogueError } from './catalogue_error.js'
import type { CoreAnswer } from '../../thread/core_port.js'

export function textOf({ body }: CoreAnswer): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

export function jsonOf(answer: CoreAnswer): unknown {
  return JSON.parse(textOf(answer)) as unknown
}

/**
 * The text of a refusal, which is a failure of the tool.
 * @param answer with a code
 * @throws CatalogueError for a refusal that is an error of the protocol: the catalogue of errors decides
 */
export function failureOf(answer: CoreAnswer & { readonly code: ErrorCode }): string {
  const { error, hint } = bodyOf(answer)
  const { mcp, text } = CATALOGUE[answer.code]
  const message = hint === undefined ? (error ?? text) : `${error ?? text} (${hint})`
  if (mcp !== 'tool') throw new CatalogueError(mcp, message)
  return message
}

function bodyOf(answer: CoreAnswer): { readonly error?: string; readonly hint?: string } {
  try {
    return jsonOf(answer) as { readonly error?: string; readonly hint?: string }
  } catch {
    // A refusal of health or metrics may have another body; the catalogue's text says enough.
    return {}
  }
}

export function isRefusal(answer: CoreAnswer): answer is CoreAnswer & { readonly code: ErrorCode } {
  return answer.code !== null
}
