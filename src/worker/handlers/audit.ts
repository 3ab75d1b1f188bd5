/**
 * Queries of the audit log: the lane checks what is asked, and the front end asks the thread that owns the
 * log (src/audit).
 */
import { badRequest, serviceError } from '../../errors.js'
import { AUDIT_LIMIT_DEFAULT, AUDIT_LIMIT_MAX } from '../../limits/process.js'
import { auditEvents as eventsRow, auditExporters as exportersRow } from '../../operations/access/audit.js'
import type { InputOf } from '../../operations/row/operation.js'
import type { View } from '../../store/view.js'
import type { AuditFilter, AuditQuestion } from '../../wire/messages/audit_messages.js'
import { type BoundHandler, io, type LaneContext } from '../request/handler.js'

function events({ config, store }: LaneContext, input: InputOf<typeof eventsRow>): AuditQuestion {
  if (!config.auditEnabled) throw serviceError('auditOff')
  const filter = filterOf(input)
  const { collection, key } = input
  if (key === undefined) return { kind: 'events', filter }
  if (collection === undefined) throw badRequest('invalid key: it needs a collection')
  return { kind: 'events', filter: { ...filter, keys: store.read((view) => textsOfKey(view, collection, key)) } }
}

/** What events may name the document by: its key, and its hashes from when the collection was encrypted. */
function textsOfKey(view: View, collection: string, key: string): string[] {
  const found = view.collection(collection)
  return [key, ...(found === undefined ? [] : view.hashesOfKey(found.id, key))]
}

function exporters({ config }: LaneContext): AuditQuestion {
  if (!config.auditEnabled) throw serviceError('auditOff')
  return { kind: 'exporters' }
}

/** @throws ServiceError 400 that names the field */
export function filterOf(input: InputOf<typeof eventsRow>): AuditFilter {
  const { actor, action, collection, result, limit = AUDIT_LIMIT_DEFAULT } = input
  if (limit < 1 || limit > AUDIT_LIMIT_MAX) throw serviceError('invalidLimit')
  if (result !== undefined && result !== 'ok' && result !== 'fail') throw badRequest('invalid result')
  const from = timeOf(input, 'from')
  const to = timeOf(input, 'to')
  return {
    limit,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(collection === undefined ? {} : { collection }),
    ...(result === undefined ? {} : { result }),
  }
}

function timeOf(input: InputOf<typeof eventsRow>, name: 'from' | 'to'): string | undefined {
  const nanos = input[`${name}Nanos`]
  if (nanos !== undefined) {
    // Times of 64 bits have at most 20 digits.
    if (!/^\d{1,20}$/.test(nanos)) throw badRequest(`invalid ${name}Nanos`)
    return String(BigInt(nanos))
  }
  const text = input[name]
  if (text === undefined) return undefined
  const parsed = nanosecondsOf(text)
  if (parsed === undefined) throw badRequest(`invalid ${name}`)
  return parsed
}

/** Date, time, fraction, offset. A plus sign that nobody has encoded arrives as a space. */
const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+\- ])(\d\d):(\d\d))$/

/** @returns decimal digits; undefined unless the text is a time of RFC 3339 since 1970 */
export function nanosecondsOf(text: string): string | undefined {
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const [, date = '', time = '', fraction = '', sign = '+', hours = '0', minutes = '0'] = match
  const utc = `${date}T${time}.000Z`
  const ms = Date.parse(utc)
  // Date.parse takes the 30th of February for a day of March.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== utc || Number(hours) > 23 || Number(minutes) > 59) return undefined
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000
  const seconds = (ms - (sign === '-' ? -offsetMs : offsetMs)) / 1000
  return seconds < 0 ? undefined : String(BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0')))
}

export const auditHandlers: readonly BoundHandler[] = [io(eventsRow, events), io(exportersRow, exporters)]
