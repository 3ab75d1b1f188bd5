/**
 * `rangeMeta`: bounds that a metadata value, or the time of the first or last write, must lie in. Values are compared as numbers, else as times, else as texts.
 * Rules: docs/decisions/0063-ranges-and-boosts.md. Pure; read lanes.
 */
import { badRequest } from '../../errors.js'
import { META_KEY_BYTES_MAX, META_VALUE_BYTES_MAX, RANGES_MAX } from '../../limits.js'

const BOUNDS = ['gte', 'lte', 'gt', 'lt'] as const
type BoundName = (typeof BOUNDS)[number]
type BoundInput = string | number

export type RangeInput = Readonly<Partial<Record<BoundName, BoundInput>>> & { readonly field?: string }

/** A list of ranges with their fields, or a map from fields to bounds. */
export type RangesInput = readonly RangeInput[] | Readonly<Record<string, RangeInput>>

type TimeField = 'addedAt' | 'updatedAt'

interface Operand {
  readonly text: string
  readonly number: number | undefined
  /** Unix seconds. */
  readonly time: number | undefined
}

export interface Range {
  readonly of: { readonly time: TimeField } | { readonly key: string }
  readonly bounds: readonly (readonly [name: BoundName, value: Operand])[]
}

/** What a range looks at. */
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
  const bounds = BOUNDS.flatMap((name): Range['bounds'][number][] => {
    const value = input[name]
    if (value === undefined) return []
    const operand = operandOf(value)
    if (operand.text.length > META_VALUE_BYTES_MAX) throw badRequest(`invalid rangeMeta: ${named}.${name} is too long`)
    if ('time' in of && secondsOf(operand) === undefined) throw badRequest(`invalid rangeMeta: ${named}.${name} is not a time`)
    return [[name, operand]]
  })
  if (bounds.length === 0) throw badRequest(`invalid rangeMeta: ${named} has no bound`)
  return { of, bounds }
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
const TIME = /^\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$/

function operandOf(value: BoundInput): Operand {
  const text = String(value).trim()
  return { text, number: NUMBER.test(text) ? Number(text) : undefined, time: timeOf(text) }
}

/** ISO 8601; without a zone UTC, whatever the machine's. */
function timeOf(text: string): number | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const written = text.replace(' ', 'T')
  const milliseconds = Date.parse(written.includes('T') && match[1] === undefined ? `${written}Z` : written)
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000
}

/** A number may be a time. */
function secondsOf({ number, time }: Operand): number | undefined {
  return time ?? number
}

/** Every range holds; of a metadata key with several values, one value for all bounds of the range. */
export function passesRanges(ranges: readonly Range[], document: RangedDocument): boolean {
  return ranges.every(({ of, bounds }) =>
    valuesOf(document, of).some((value) => bounds.every(([name, bound]) => holds(name, value, bound))),
  )
}

function valuesOf(document: RangedDocument, of: Range['of']): readonly Operand[] {
  if ('time' in of) return [operandOf(document[of.time])]
  return Object.hasOwn(document.meta, of.key) ? (document.meta[of.key] as readonly string[]).map(operandOf) : []
}

function holds(name: BoundName, value: Operand, bound: Operand): boolean {
  const order = compare(value, bound)
  if (order === undefined) return false
  if (name === 'gte') return order >= 0
  if (name === 'lte') return order <= 0
  return name === 'gt' ? order > 0 : order < 0
}

/** Undefined where a text meets a bound that is a number or a time: there is no order between them. */
function compare(value: Operand, bound: Operand): number | undefined {
  if (value.number !== undefined && bound.number !== undefined) return value.number - bound.number
  const [left, right] = [secondsOf(value), secondsOf(bound)]
  if (right !== undefined) return left === undefined ? undefined : left - right
  return value.text < bound.text ? -1 : value.text > bound.text ? 1 : 0
}
