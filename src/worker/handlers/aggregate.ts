/**
 * `/v1/aggregate`: the engine counts its documents, excluding those that have expired and are not swept yet.
 * Runs on read lanes.
 */
import { performance } from 'node:perf_hooks'
import { Aggregation } from '../../domain/listing/aggregation.js'
import { serviceError } from '../../errors.js'
import { aggregate as aggregateRow } from '../../operations/documents/collections.js'
import type { InputOf } from '../../operations/row/operation.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, type LaneContext, read, type RequestContext } from '../request/handler.js'

/**
 * Expired but not yet swept documents that one aggregation examines: 0.3 s of reading. Further ones count
 * until they are swept.
 */
const AGGREGATE_DUE_MAX = 65_536

function aggregate(lane: LaneContext, input: InputOf<typeof aggregateRow>, request: RequestContext): Answer {
  const startedMs = performance.now()
  const aggregation = new Aggregation(input)
  const counted = lane.store.read((view) => {
    const collection = view.collection(input.collection)
    if (collection === undefined) return undefined
    const due = view
      .due(AGGREGATE_DUE_MAX)
      .filter((row) => row.collection === collection.id && view.head(row.collection, row.docid) === undefined)
    return lane.engine.aggregate(
      aggregation.request(
        collection.id,
        due.map(({ docid }) => docid),
      ),
      request.stopWord,
    )
  })
  if (counted?.isStopped === true) throw serviceError('deadline')
  const durationMs = Math.round((performance.now() - startedMs) * 1000) / 1000
  return { body: JSON.stringify({ collection: input.collection, ...aggregation.result(counted), durationMs }) }
}

export const aggregateHandlers: readonly BoundHandler[] = [read(aggregateRow, aggregate)]
