/**
 * Names and positions of the change feed: both sets of names for events, and the ids by which a client
 * resumes. Pure. Decision: docs/decisions/interfaces/change-feed.md.
 */
import { badRequest } from '../../errors.js'
import { type FeedPosition } from '../../operations/row/feed_position.js'
import type { View } from '../../store/view.js'

/**
 * Digits of the epoch in an id: a store has 64 epochs at most, so that two begin alike once in two million.
 */
const EPOCH_DIGITS = 8

const CHANGE_EVENTS: Readonly<Record<string, string>> = { insert: 'doc.added', update: 'doc.updated', delete: 'doc.deleted' }
const EVENTS = new Set([
  ...Object.values(CHANGE_EVENTS),
  'job.started', 'job.progress', 'job.completed', 'job.failed', 'job.cancelled',
]) // prettier-ignore

/**
 * @param list names of either set, separated by commas
 * @returns those of the feed; none for an empty list
 * @throws ServiceError 400
 */
export function parseEvents(list: string): readonly string[] {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return [...new Set(names.map(eventOf))]
}

function eventOf(name: string): string {
  const event = Object.hasOwn(CHANGE_EVENTS, name) ? CHANGE_EVENTS[name] : name
  if (event === undefined || !EVENTS.has(event)) throw badRequest(`invalid event: ${name}`)
  return event
}

/** @param text as `printPosition` makes it, or an LSN alone. @throws ServiceError 400 */
export function parsePosition(text: string): FeedPosition {
  const match = /^(\d{1,15})(?:-([0-9a-f]{8}))?$/.exec(text.trim())
  if (match === null) throw badRequest('invalid since')
  return { lsn: Number(match[1]), epoch: match[2] ?? '' }
}

/** The position behind the last entry. */
export function presentPosition(view: View): FeedPosition {
  return { lsn: Number(view.storeCounters().lastLsn), epoch: digitsOf(view.binlog.epochs().at(-1)?.id ?? '') }
}

/**
 * Whether all entries behind the position are in the binlog: it was not trimmed, and the entries before the
 * position are those that the client has seen.
 */
export function isInBinlog(view: View, { lsn, epoch }: FeedPosition): boolean {
  const { trimmedLsn, lastLsn } = view.storeCounters()
  if (lsn < Number(trimmedLsn) || lsn > Number(lastLsn)) return false
  if (epoch === '') return true
  const epochs = view.binlog.epochs()
  const at = epochs.findIndex(({ id }) => digitsOf(id) === epoch)
  return at === epochs.length - 1 || (at >= 0 && lsn <= Number(epochs[at]?.lastLsn))
}

function digitsOf(id: string): string {
  return id.slice(0, EPOCH_DIGITS)
}
