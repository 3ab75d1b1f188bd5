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
  const collection = lane.store.read((view) => {
    const found = view.collection(input.collection)
    return found === undefined ? undefined : { id: found.id, settings: lane.settings.of(view, found.id) }
  })
  const asked = readRequest(input, lane.config, collection?.settings.config.retrieval)
  return { status: 200, body: searchFulltext(lane, asked, collection, request) }
}

function answerLanguages(lane: LaneContext): Answer {
  return { status: 200, body: listLanguages(lane.config.ftsDefaultLang) }
}
