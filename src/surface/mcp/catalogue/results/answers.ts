/** Answers of the core as the catalogue reads them. Any thread. */
import { CATALOGUE, type ErrorCode } from '../../../../errors.js'
import { type OutgoingAnswer, textOf } from '../../../../wire/answer.js'
import { CatalogueError, INVALID_PARAMS, REFUSED } from '../catalogue_error.js'

export function jsonOf(answer: OutgoingAnswer): unknown {
  return JSON.parse(textOf(answer)) as unknown
}

type Refused = OutgoingAnswer & { readonly code: ErrorCode }

/**
 * The text of a refusal, which is a failure of the tool: the model reads it, and mends its call.
 * @throws CatalogueError for a refusal that is an error of the protocol: the catalogue of errors decides
 */
export function failureOf(answer: Refused): string {
  const { mcp } = CATALOGUE[answer.code]
  if (mcp !== 'tool') throw new CatalogueError(mcp, refusalText(answer))
  return refusalText(answer)
}

/** A refusal where no tool is called (resources, prompts): there are no failed results. */
export function refusalError(answer: Refused): CatalogueError {
  const { mcp, kind } = CATALOGUE[answer.code]
  return new CatalogueError(mcp !== 'tool' ? mcp : kind === 'input' ? INVALID_PARAMS : REFUSED, refusalText(answer))
}

function refusalText(answer: Refused): string {
  const { error = CATALOGUE[answer.code].text, hint } = bodyOf(answer)
  return hint === undefined ? error : `${error} (${hint})`
}

function bodyOf(answer: OutgoingAnswer): { readonly error?: string; readonly hint?: string } {
  try {
    return jsonOf(answer) as { readonly error?: string; readonly hint?: string }
  } catch {
    // A refusal of health or metrics may have another body; the catalogue's text says enough.
    return {}
  }
}

export function isRefusal(answer: OutgoingAnswer): answer is Refused {
  return answer.code !== null
}
