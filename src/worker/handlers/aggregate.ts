/**
 * `/v1/aggregate`: one pass over the heads of a collection, in one snapshot. On the bulk lane, because it takes as long as the collection is large.
 */
import { performance } from 'node:perf_hooks'
import { Aggregation } from '../../domain/aggregation.js'
import { serviceError } from '../../errors.js'
import { FTS_POLL_RESULTS } from '../../limits.js'
import type { aggregate as aggregateRow } from '../../operations/collections.js'
import type { InputOf } from '../../operations/operation.js'
import type { Answer, Handler, LaneContext, RequestContext } from '../handler.js'

function aggregate(lane: LaneContext, input: InputOf<typeof aggregateRow>, request: RequestContext): Answer {
  const startedMs = performance.now()
  const aggregation = new Aggregation(input)
  lane.store.read((view) => {
    const collection = view.collection(input.collection)
    if (collection === undefined) return
    let looked = 0
    for (const head of view.heads(collection.id)) {
      if (++looked % FTS_POLL_RESULTS === 0 && request.shouldStop()) throw serviceError('deadline')
      aggregation.add(head)
    }
  })
  const durationMs = Math.round((performance.now() - startedMs) * 1000) / 1000
  return { status: 200, body: JSON.stringify({ collection: input.collection, ...aggregation.result(), durationMs }) }
}

export const aggregateHandlers: readonly (readonly [string, Handler])[] = [['aggregate', { kind: 'read', run: aggregate }]]
