/**
 * All points of the I/O failure sweep: kinds of calls x errors x the n-th call, under load and at the start;
 * those on the index env once more separately. Whether the failure lasts alternates with n. Pure data.
 */
import type { Fault } from '../shim/fault_control.js'

export interface Point {
  readonly when: 'load' | 'start'
  readonly fault: Fault
}

const ERRORS = ['EIO', 'ENOSPC', 'torn'] as const
/**
 * Under load: number of calls of each kind to try. Only opening an env truncates, which occurs twice in a
 * restore, so a run has no more.
 */
const CALLS = { flush: 300, write: 300, truncate: 24, name: 300 } as const
/** Calls on the index env, which are few among the others: each flush of the index makes some ten. */
const CALLS_ON_INDEX = 30
const INDEX_FILE = 'segments.mdb'
/** A start makes fewer calls of each kind than this. */
const CALLS_AT_START = 6

export function allPoints(): readonly Point[] {
  const kinds = Object.keys(CALLS) as (keyof typeof CALLS)[]
  return kinds.flatMap((kind) =>
    ERRORS.flatMap((error) => [
      ...numbers(CALLS[kind]).map((at): Point => ({ when: 'load', fault: faultOf(kind, error, at) })),
      ...numbers(kind === 'flush' || kind === 'write' ? CALLS_ON_INDEX : 0).map((at): Point => ({
        when: 'load',
        fault: { ...faultOf(kind, error, at), only: INDEX_FILE },
      })),
      ...numbers(CALLS_AT_START).map((at): Point => ({ when: 'start', fault: faultOf(kind, error, at) })),
    ]),
  )
}

function faultOf(kind: Fault['kind'], error: (typeof ERRORS)[number], at: number): Fault {
  const lasts = at % 2 === 0
  if (error !== 'torn') return { kind, at, error, manner: 'clean', lasts }
  // A write is torn in two ways: half of it is written and the error is reported immediately, or with the
  // next write.
  return kind === 'write' && lasts
    ? { kind, at, error: 'ENOSPC', manner: 'short', lasts: false }
    : { kind, at, error: 'EIO', manner: 'torn', lasts: false }
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
