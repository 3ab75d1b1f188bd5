/**
 * Handlers of the full-text operations; the rules are in src/domain/fulltext. Run on read lanes.
 */
import { readRequest } from '../../domain/fulltext/fulltext_request.js'
import { searchFulltext } from '../../domain/fulltext/fulltext_search.js'
import type { PreparedSearch } from '../../domain/fulltext/multi_search.js'
import { searchMany } from '../../domain/fulltext/multi_search.js'
import { LANGUAGES } from '../../engine/text/languages.js'
import type { InputOf } from '../../operations/row/operation.js'
import type { FtsQueryInput } from '../../operations/search/fulltext.js'
import { fts, ftsLanguages as ftsLanguagesRow, ftsQuery as ftsQueryRow, multiSearch } from '../../operations/search/fulltext.js'
import type { Answer } from '../../wire/answer.js'
import type { BoundHandler, LaneContext, RequestContext } from '../request/handler.js'
import { read } from '../request/handler.js'
import { promptFacts } from './response_prompt.js'

export const fulltextHandlers: readonly BoundHandler[] = [
  read(fts, answerSearch),
  read(ftsQueryRow, answerSearch),
  read(multiSearch, answerSearches),
  read(ftsLanguagesRow, answerLanguages),
]

function answerSearch(lane: LaneContext, input: InputOf<typeof fts> | FtsQueryInput, request: RequestContext): Answer {
  const { request: asked, collection } = prepare(lane, input)
  const body = searchFulltext(lane, asked, collection, request)
  const facts = promptFacts(collection?.settings.config)
  return { body, facts: asked.cacheSeconds === 0 ? facts : [...cacheFacts(asked.cacheSeconds), ...facts] }
}

function prepare(lane: LaneContext, input: InputOf<typeof fts> | FtsQueryInput): PreparedSearch {
  const collection = lane.collections.find(input.collection)
  return { request: readRequest(input, lane.config, collection?.settings.config.retrieval), collection }
}

function answerSearches(lane: LaneContext, input: InputOf<typeof multiSearch>, request: RequestContext): Answer {
  return { body: searchMany(lane, input, (search) => prepare(lane, search), request) }
}

/** The front end decides whether the answer is cached, and reports `hit` when it returns it again. */
function cacheFacts(seconds: number): NonNullable<Answer['facts']> {
  return [
    ['cache', 'miss'],
    ['cacheSeconds', String(seconds)],
  ]
}

function answerLanguages(lane: LaneContext): Answer {
  const languages = LANGUAGES.map(({ code, name }) => ({ code, name }))
  return { body: JSON.stringify({ languages, defaultLang: lane.config.ftsDefaultLang }) }
}
