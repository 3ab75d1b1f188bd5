/**
 * Handlers of the full-text operations; the rules are in src/domain/fulltext. Run on read lanes.
 */
import { listLanguages } from '../../domain/fulltext/languages.js'
import { type PreparedSearch, searchMany } from '../../domain/fulltext/multi_search.js'
import { readRequest } from '../../domain/fulltext/fulltext_request.js'
import { searchFulltext } from '../../domain/fulltext/fulltext_search.js'
import { CACHE_HEADERS } from '../../operations/cache_headers.js'
import type { fts, FtsQueryInput, multiSearch } from '../../operations/fulltext.js'
import type { InputOf } from '../../operations/operation.js'
import type { Answer, Handler, LaneContext, RequestContext } from '../request/handler.js'

export const fulltextHandlers: readonly (readonly [string, Handler])[] = [
  ['fts', { kind: 'read', run: answerSearch }],
  ['ftsQuery', { kind: 'read', run: answerSearch }],
  ['multiSearch', { kind: 'read', run: answerSearches }],
  ['ftsLanguages', { kind: 'read', run: answerLanguages }],
]

function answerSearch(lane: LaneContext, input: InputOf<typeof fts> | FtsQueryInput, request: RequestContext): Answer {
  const { request: asked, collection } = prepare(lane, input)
  const body = searchFulltext(lane, asked, collection, request)
  return asked.cacheSeconds === 0 ? { status: 200, body } : { status: 200, body, headers: cacheHeaders(asked.cacheSeconds) }
}

function prepare(lane: LaneContext, input: InputOf<typeof fts> | FtsQueryInput): PreparedSearch {
  const collection = lane.store.read((view) => {
    const found = view.collection(input.collection)
    return found === undefined ? undefined : { id: found.id, settings: lane.settings.of(view, found.id) }
  })
  return { request: readRequest(input, lane.config, collection?.settings.config.retrieval), collection }
}

function answerSearches(lane: LaneContext, input: InputOf<typeof multiSearch>, request: RequestContext): Answer {
  return { status: 200, body: searchMany(lane, input, (search) => prepare(lane, search), request) }
}

/** Whether the answer is kept is for the front end to decide, which says `hit` when it gives it again. */
function cacheHeaders(seconds: number): (readonly [string, string])[] {
  return [...CACHE_HEADERS.states.map((name) => [name, 'miss'] as const), [CACHE_HEADERS.seconds, String(seconds)]]
}

function answerLanguages(lane: LaneContext): Answer {
  return { status: 200, body: listLanguages(lane.config.ftsDefaultLang) }
}
