/**
 * Past states of a document: by number, before another state, or at a time. Only kept revisions are found. If
 * a state between two kept revisions is missing, the state that was current in between is unknown, and the
 * answer is 404. Decision: docs/decisions/documents/revisions.md. Any lane.
 */
import { badRequest, serviceError } from '../../errors.js'
import type { Head } from '../../store/head.js'
import type { View } from '../../store/view.js'

/** The current state or a kept revision. @throws ServiceError 404 */
export function stateOfRevision(view: View, head: Head, revision: number): Head {
  // Numbers above the current one may not fit into a key.
  if (revision > head.revision) throw serviceError('notFound')
  const state = revision === head.revision ? head : view.revisions.at(head.collection, head.docid, revision)
  if (state === undefined) throw serviceError('notFound')
  return state
}

/** The newest kept state before this one. @throws ServiceError 404 */
export function stateBefore(view: View, state: Head): Head {
  const before = view.revisions.newest(state.collection, state.docid, state.revision - 1)
  if (before === undefined) throw serviceError('notFound')
  return before
}

/**
 * The state that was current at the end of the given second.
 * @throws ServiceError 404 if the document did not exist then, or its state was not kept
 * @param head the current state
 */
export function stateAsOf(view: View, head: Head, second: number): Head {
  const state = head.updatedAt <= second ? head : newestUntil(view, head, second)
  if (state === undefined || (state.expiresAt > 0 && state.expiresAt <= second)) throw serviceError('notFound')
  const isLast = state.revision === head.revision || state.revision + 1 === head.revision
  if (!isLast && view.revisions.at(head.collection, head.docid, state.revision + 1) === undefined) throw serviceError('notFound')
  return state
}

/** Binary search over the revision numbers. Times ascend with the numbers as long as the clock does. */
function newestUntil(view: View, { collection, docid, revision }: Head, second: number): Head | undefined {
  let found: Head | undefined
  let [low, high] = [1, revision - 1]
  while (low <= high) {
    const half = (low + high) >> 1
    const state = view.revisions.newest(collection, docid, half)
    if (state === undefined || state.revision < low) low = half + 1
    else if (state.updatedAt <= second) {
      found = state
      low = half + 1
    } else high = state.revision - 1
  }
  return found
}

const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i

/** Unix seconds, or an ISO 8601 date and time; without a time zone: UTC. @throws ServiceError 400 */
export function readSecond(field: string, given: unknown): number {
  const second = typeof given === 'string' ? secondOfText(given) : given
  if (typeof second !== 'number' || !Number.isFinite(second) || second < 0)
    throw badRequest(`invalid ${field}: unix seconds or a time like 2024-01-31T12:00:00Z are expected`)
  return Math.floor(second)
}

function secondOfText(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const [, date, time = '00:00', zone = 'Z'] = DATE.exec(text) ?? []
  return date === undefined || !isDay(date) ? Number.NaN : Date.parse(`${date}T${time}${zone.toUpperCase()}`) / 1000
}

/** Date parsing accepts the 30th of February and returns the 1st of March. */
function isDay(date: string): boolean {
  const midnight = new Date(`${date}T00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date)
}
