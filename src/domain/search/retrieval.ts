/**
 * The part of a document that a result of a search or listing shows: the whole document, the matching
 * passage, the passage with its neighbours, or whichever of document and passage is short. Precedence: the
 * request, the collection's retrieval profile, the whole document; `auto` yields to the profile. Pure; any
 * lane. Rules: docs/decisions/search/vector-search.md.
 */
import { badRequest } from '../../errors.js'
import type { RetrievalProfile } from '../settings/collection_config.js'

/** Passages on either side of the matching one. With 1 500 characters each, a third of a megabyte. */
const WINDOW_SIZE_MAX = 100

type Absent = null | undefined

/** `windowSize`: number of neighbours shown on either side of the passage; 0 except for `window`. */
export interface Retrieval {
  readonly mode: 'parent' | 'chunk' | 'window' | 'auto'
  readonly windowSize: number
}

export interface RetrievalInput {
  readonly retrievalMode?: string | Absent
  readonly windowSize?: number | Absent
}

/** @throws ServiceError 400 */
export function readRetrieval(input: RetrievalInput, profile: RetrievalProfile = {}): Retrieval {
  const asked = input.retrievalMode || undefined
  const mode = asked === undefined || asked === 'auto' ? profile.retrievalMode || asked || 'parent' : asked
  if (mode === 'graph') throw badRequest('retrievalMode graph is not available: there is no code graph')
  if (mode !== 'parent' && mode !== 'chunk' && mode !== 'window' && mode !== 'auto') throw badRequest(`unknown retrievalMode: ${mode}`)
  const windowSize = input.windowSize ?? 1
  if (!Number.isInteger(windowSize) || windowSize < 0) throw badRequest('invalid windowSize')
  return { mode, windowSize: mode === 'window' ? Math.min(windowSize, WINDOW_SIZE_MAX) : 0 }
}
