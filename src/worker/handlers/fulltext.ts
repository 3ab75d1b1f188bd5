/**
 * Handlers of the full-text operations; the rules are in src/domain/fulltext. Run on read lanes.
 */
import { listLanguages } from '../../domain/fulltext/languages.js'
import { readRequest } from '../../domain/fulltext/request.js'
import { searchFulltext } from '../../domain/fulltext/search.js'
import type { fts, FtsQueryInput } from '../../operations/fulltext.js'
import type { InputOf } from '../../operations/operation.js'
import type { Answer, Handler, LaneContext, RequestContext } from '../handler.js'

export const fulltextHandlers: readonly (readonly [string, Handler])[] = [
  ['fts', { kind: 'read', run: answerSearch }],
  ['ftsQuery', { kind: 'read', run: answerSearch }],
  ['ftsLanguages', { kind: 'read', run: answerLanguages }],
]

function answerSearch(lane: LaneContext, input: InputOf<typeof fts> | FtsQueryInput, request: RequestContext): Answer {
  return { status: 200, body: searchFulltext(lane, readRequest(input, lane.config), request) }
}

function answerLanguages(lane: LaneContext): Answer {
  return { status: 200, body: listLanguages(lane.config.ftsDefaultLang) }
}
