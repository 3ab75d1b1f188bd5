/**
 * Handlers of the full-text operations; the rules are in src/domain/fulltext. Run on read lanes.
 */
import { listLanguages } from '../../domain/fulltext/languages.js'
import { readRequest } from '../../domain/fulltext/request.js'
import { searchFulltext } from '../../domain/fulltext/search.js'
import { CACHE_HEADERS } from '../../operations/cache_headers.js'
import type { fts, FtsQueryInput } from '../../operations/fulltext.js'
import type { InputOf } from '../../operations/operation.js'
import type { Answer, Handler, LaneContext, RequestContext } from '../handler.js'

export const fulltextHandlers: readonly (readonly [string, Handler])[] = [
  ['fts', { kind: 'read', run: answerSearch }],
  ['ftsQuery', { kind: 'read', run: answerSearch }],
  ['ftsLanguages', { kind: 'read', run: answerLanguages }],
]

function answerSearch(lane: LaneContext, input: InputOf<typeof fts> | FtsQueryInput, request: RequestContext): Answer {
  const collection = lane.store.read((view) => {
    const found = view.collection(input.collection)
    return found === undefined ? undefined : { id: found.id, settings: lane.settings.of(view, found.id) }
  })
  const asked = readRequest(input, lane.config, collection?.settings.config.retrieval)
  const body = searchFulltext(lane, asked, collection, request)
  return asked.cacheSeconds === 0 ? { status: 200, body } : { status: 200, body, headers: cacheHeaders(asked.cacheSeconds) }
}

/** Whether the answer is kept is for the front end to decide, which says `hit` when it gives it again. */
function cacheHeaders(seconds: number): (readonly [string, string])[] {
  return [...CACHE_HEADERS.states.map((name) => [name, 'miss'] as const), [CACHE_HEADERS.seconds, String(seconds)]]
}

function answerLanguages(lane: LaneContext): Answer {
  return { status: 200, body: listLanguages(lane.config.ftsDefaultLang) }
}
