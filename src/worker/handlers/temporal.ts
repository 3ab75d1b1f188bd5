/**
 * Histories of documents, leaderboards and histograms of events. Read lanes. The stored data:
 * src/store/histories/history_tables.ts.
 */
import { documentId } from '../../domain/documents/identity.js'
import { readLimit } from '../../domain/search/paging.js'
import {
  bucketsOf,
  eventsOf,
  minutesIn,
  readEventType,
  readInterval,
  readTimeRange,
  readTopN,
} from '../../domain/temporal/temporal_requests.js'
import { findDocument } from '../../domain/writes/changes.js'
import { badRequest, serviceError } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits/documents.js'
import { FTS_POLL_RESULTS } from '../../limits/search.js'
import { temporalHistogram as histogramRow, temporalHot as hotRow, temporalQuery as queryRow } from '../../operations/documents/temporal.js'
import type { InputOf } from '../../operations/row/operation.js'
import type { Head } from '../../store/head.js'
import { textOfHead } from '../../store/head.js'
import type { View } from '../../store/view.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, type LaneContext, read, type RequestContext } from '../request/handler.js'

/** Default number of events. */
const EVENTS_LIMIT_DEFAULT = 100
/** Documents that one leaderboard checks for a recent enough read: 0.3 s. */
const HOT_DOCUMENTS_SEEN_MAX = 100_000

function query(lane: LaneContext, input: InputOf<typeof queryRow>): Answer {
  const { collection, key, lang } = input
  const type = readEventType(input.eventType)
  const limit = readLimit(input.limit, EVENTS_LIMIT_DEFAULT)
  return lane.store.read((view) => {
    const range = readTimeRange(input.from, input.to, view.now)
    const head = findDocument(view, collection, key, lang)
    const history = view.histories.of(head.collection, head.docid)
    const groups = history === undefined ? [] : eventsOf(history, type, range)
    const docId = documentId(collection, key, lang)
    const events: object[] = []
    for (const { type: eventType, second, count, actor } of groups) {
      const event = { docId, eventType, timestamp: second, ...(actor === undefined ? {} : { actor }) }
      for (let one = 0; one < count && events.length < limit; one++) events.push(event)
    }
    const total = groups.reduce((sum, { count }) => sum + count, 0)
    return { body: JSON.stringify({ collection, docId, events, total }) }
  })
}

interface HotDocument {
  readonly head: Head
  readonly count: number
  readonly second: number
}

function hot(lane: LaneContext, input: InputOf<typeof hotRow>, request: RequestContext): Answer {
  const topN = readTopN(input.topN)
  return lane.store.read((view) => {
    const collection = view.collection(input.collection)
    const found = collection === undefined ? [] : hottest(view, collection.id, topN, input.since ?? 0, request)
    const bytes = found.reduce((sum, { head }) => sum + head.bodyRawBytes + head.json.length + 128, 0)
    if (bytes > ANSWER_BYTES_MAX) throw badRequest(`answer too large: ${found.length} documents of together ${bytes} bytes`)
    const out = lane.out.begin().reserve(bytes)
    out.utf8(`{"collection":${JSON.stringify(input.collection)},"entries":[`)
    found.forEach(({ head, count, second }, index) => {
      const { key, lang } = textOfHead(head)
      const docId = JSON.stringify(documentId(input.collection, key, lang))
      out.utf8(`${index === 0 ? '' : ','}{"docId":${docId},"accessCount":${count},"lastAccessAt":${second},"document":`)
      view.writeDocument(head, out, true)
      out.ascii('}')
    })
    out.ascii(']}')
    return { body: out.view() }
  })
}

function hottest(view: View, collection: number, topN: number, since: number, request: RequestContext): HotDocument[] {
  const found: HotDocument[] = []
  let seen = 0
  for (const docid of view.histories.hottest(collection, HOT_DOCUMENTS_SEEN_MAX)) {
    if (++seen % FTS_POLL_RESULTS === 0 && request.shouldStop()) throw serviceError('deadline')
    const history = view.histories.of(collection, docid)
    if (history === undefined || history.lastHotSecond < since) continue
    const head = view.head(collection, docid)
    if (head !== undefined) found.push({ head, count: history.hotCount, second: history.lastHotSecond })
    if (found.length === topN) break
  }
  return found
}

function histogram(lane: LaneContext, input: InputOf<typeof histogramRow>): Answer {
  const { collection: name } = input
  const eventType = readEventType(input.eventType) ?? 'access'
  const interval = readInterval(input.interval)
  return lane.store.read((view) => {
    const { begin, end } = minutesIn(readTimeRange(input.from, input.to, view.now), view.now)
    const collection = view.collection(name)
    const buckets = collection === undefined ? [] : bucketsOf(view.histories.minutes(collection.id, eventType, begin, end), interval)
    return { body: JSON.stringify({ collection: name, eventType, interval, buckets }) }
  })
}

export const temporalHandlers: readonly BoundHandler[] = [read(queryRow, query), read(hotRow, hot), read(histogramRow, histogram)]
