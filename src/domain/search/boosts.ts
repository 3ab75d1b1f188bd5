/**
 * `boost`: factors for documents with a metadata value. A positive number multiplies the score, a negative
 * number divides it. The factors that apply to a document are multiplied, and the product is at least 0.001
 * (service-1, "Full-text search"). The engine applies them. The functions here read them, and apply them to
 * documents that changed after the engine's snapshot. Pure; read lanes.
 */
import { badRequest } from '../../errors.js'

/**
 * Values of one `boost`, and the highest factor of each, which is also the highest divisor: 64 of them stay
 * finite.
 */
const BOOSTS_MAX = 64
const BOOST_FACTOR_MAX = 10_000

export interface Boost {
  readonly key: string
  readonly value: string
  readonly factor: number
}

/** Least product of the factors that apply to a document. Fixed by the contract. */
const FACTOR_MIN = 0.001

/** @throws ServiceError 400 */
export function readBoosts(input: Readonly<Record<string, number>> | null | undefined): readonly Boost[] {
  const entries = Object.entries(input ?? {})
  if (entries.length > BOOSTS_MAX) throw badRequest(`invalid boost: ${entries.length} values, at most ${BOOSTS_MAX} are allowed`)
  return entries.map(([name, number]) => {
    const colon = name.indexOf(':')
    if (colon <= 0) throw badRequest(`invalid boost: ${name.slice(0, 100)} is not of the form key:value`)
    if (number === 0 || !(Math.abs(number) <= BOOST_FACTOR_MAX))
      throw badRequest(`invalid boost: ${name.slice(0, 100)} must be a number other than 0, up to ${BOOST_FACTOR_MAX}`)
    if (Math.abs(number) < 1 / BOOST_FACTOR_MAX)
      throw badRequest(`invalid boost: ${name.slice(0, 100)} must be at least ${1 / BOOST_FACTOR_MAX} in size`)
    return { key: name.slice(0, colon), value: name.slice(colon + 1), factor: number > 0 ? number : 1 / -number }
  })
}

export function factorOf(boosts: readonly Boost[], meta: Readonly<Record<string, readonly string[]>>): number {
  let factor = 1
  for (const boost of boosts) {
    if (Object.hasOwn(meta, boost.key) && (meta[boost.key] as readonly string[]).includes(boost.value)) factor *= boost.factor
  }
  return Math.max(FACTOR_MIN, factor)
}
