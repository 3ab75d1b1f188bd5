/**
 * `rangeMeta`: bounds on a metadata value, or on the time of the first or last write. Values are compared as
 * numbers, else as times, else as strings. The engine applies the ranges by exactly the same rule
 * (native/engine/query/filter/ranged_value.h). The functions here read them, and apply them to documents that
 * changed after the engine's snapshot. Rules: docs/decisions/search/filters-and-sorting.md. Pure; read lanes.
 */
import type { PlanRange } from '../../engine/types.js'
import { badRequest } from '../../errors.js'
import { META_KEY_BYTES_MAX, META_VALUE_BYTES_MAX } from '../../limits/documents.js'
import { RANGE_BOUNDS, type RangeBound, type RangeBoundName, type RangeInput, type RangesInput } from '../../operations/row/ranges.js'

/** Ranges of one `rangeMeta`. */
const RANGES_MAX = 64

interface Operand {
  readonly text: string
  /** A number, or the Unix seconds of a time. Undefined for other text. */
  readonly scalar: number | undefined
}

export type Range = PlanRange

/** The fields of a document that a range is applied to. */
export interface RangedDocument {
  readonly addedAt: number
  readonly updatedAt: number
  readonly meta: Readonly<Record<string, readonly string[]>>
}

const META_PREFIX = 'meta.'

/** @throws ServiceError 400 */
export function readRanges(input: RangesInput | null | undefined): readonly Range[] {
  const given = Array.isArray(input)
    ? (input as readonly RangeInput[])
    : Object.entries(input ?? {}).map(([field, range]) => ({ ...range, field }))
  if (given.length > RANGES_MAX) throw badRequest(`invalid rangeMeta: ${given.length} ranges, at most ${RANGES_MAX} are allowed`)
  return given.map(readRange)
}

function readRange(input: RangeInput): Range {
  const named = input.field ?? ''
  const key = named.startsWith(META_PREFIX) ? named.slice(META_PREFIX.length) : named
  if (key === '') throw badRequest('invalid rangeMeta: a field is empty')
  if (Buffer.byteLength(key) > META_KEY_BYTES_MAX) throw badRequest(`invalid rangeMeta: a field of more than ${META_KEY_BYTES_MAX} bytes`)
  const of = named === 'addedAt' || named === 'updatedAt' ? ({ time: named } as const) : { key }
  const bounds = RANGE_BOUNDS.flatMap((name): Range['bounds'][number][] => {
    const value = input[name]
    if (value === undefined) return []
    const operand = operandOf(value)
    if (operand.text.length > META_VALUE_BYTES_MAX) throw badRequest(`invalid rangeMeta: ${named}.${name} is too long`)
    if ('time' in of && operand.scalar === undefined) throw badRequest(`invalid rangeMeta: ${named}.${name} is not a time`)
    return [[name, operand.scalar ?? operand.text]]
  })
  if (bounds.length === 0) throw badRequest(`invalid rangeMeta: ${named} has no bound`)
  return { of, bounds }
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
const TIME = /^(\d{4}-\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:?\d{2})?)?)?$/
const HOURS = 24
const MINUTES = 60

function operandOf(value: RangeBound): Operand {
  // As in the index, where lone surrogates cannot be encoded.
  const text = Buffer.from(String(value).trim()).toString()
  return { text, scalar: NUMBER.test(text) ? Number(text) : timeOf(text) }
}

/**
 * ISO 8601, an existing day and time. Without a time zone: UTC, regardless of the machine's zone. Fractions
 * are truncated to milliseconds.
 */
function timeOf(text: string): number | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [, month, day = '01', hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = match
  const midnight = new Date(`${month}-${day}T00:00:00Z`)
  // Date would roll a day that does not exist in its month over into the next month.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return undefined
  const [zoneHours, zoneMinutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2).replace('Z', ''))]
  if (Number(hour) >= HOURS || Number(minute) >= MINUTES || Number(second) >= MINUTES || zoneHours >= HOURS || zoneMinutes >= MINUTES)
    return undefined
  const east = (zone.startsWith('-') ? -1 : 1) * (zoneHours * 60 + zoneMinutes)
  const seconds = midnight.getTime() / 1000 + Number(hour) * 3600 + (Number(minute) - east) * 60 + Number(second)
  return (seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))) / 1000
}

/**
 * Every range must hold. If a metadata key has several values, a single value must satisfy all bounds of the
 * range.
 */
export function passesRanges(ranges: readonly Range[], document: RangedDocument): boolean {
  return ranges.every(({ of, bounds }) =>
    valuesOf(document, of).some((value) => bounds.every(([name, bound]) => holds(name, value, bound))),
  )
}

function valuesOf(document: RangedDocument, of: Range['of']): readonly Operand[] {
  if ('time' in of) return [operandOf(document[of.time])]
  return Object.hasOwn(document.meta, of.key) ? (document.meta[of.key] as readonly string[]).map(operandOf) : []
}

function holds(name: RangeBoundName, value: Operand, bound: number | string): boolean {
  const order = compare(value, bound)
  if (order === undefined) return false
  if (name === 'gte') return order >= 0
  if (name === 'lte') return order <= 0
  return name === 'gt' ? order > 0 : order < 0
}

/** Undefined if text is compared with a bound that is a number or a time: they are not ordered. */
function compare({ text, scalar }: Operand, bound: number | string): number | undefined {
  if (typeof bound === 'number') return scalar === undefined ? undefined : scalar - bound
  return text < bound ? -1 : text > bound ? 1 : 0
}
