/**
 * The handler of the search advisor; the rules are in src/domain/advice. It runs on a read lane. The front
 * end makes the changes that the request asks for (src/background/search_advisor.ts).
 */
import { adviseOn } from '../../domain/advice/advisor.js'
import type { InputOf } from '../../operations/row/operation.js'
import { searchAdvisor } from '../../operations/search/search_advice.js'
import type { AdviceGiven } from '../../wire/messages/messages.js'
import { type BoundHandler, io, type LaneContext } from '../request/handler.js'

export const adviceHandlers: readonly BoundHandler[] = [io(searchAdvisor, advise)]

function advise(lane: LaneContext, { collection: name, apply }: InputOf<typeof searchAdvisor>): AdviceGiven {
  return lane.store.read((view) => {
    const found = view.collection(name)
    if (found === undefined) return { collection: name, suggestions: [], apply: null }
    const collection = { id: found.id, settings: lane.settings.of(view, found.id) }
    const { suggestions, settings } = adviseOn(lane, view, collection, lane.searches?.read(found.id) ?? [])
    return { collection: name, suggestions, apply: apply === true && settings !== undefined ? { ...settings } : null }
  })
}
