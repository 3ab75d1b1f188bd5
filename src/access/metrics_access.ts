/**
 * Who may read `/metrics`, and whether its labels may name collections and users. Pure; event loops decide
 * the first, read lanes the second (docs/decisions/operation/observation.md).
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { ErrorCode } from '../errors.js'

interface MetricsRules {
  readonly metricsPublic: boolean
  /** Empty: none. */
  readonly metricsToken: string
  readonly metricsDetail: boolean
  /** Whether access control is on. Absent: it is off. */
  readonly authEnabled?: boolean
}

/**
 * A token closes the metrics to everybody else. Without one they are public, or for administrators, whom the
 * caller lets in.
 * @param authorization the header as it was sent; empty if it was not
 * @returns the refusal, or null
 */
export function refusalOfMetrics(
  { metricsPublic, metricsToken }: Pick<MetricsRules, 'metricsPublic' | 'metricsToken'>,
  authorization: string,
): ErrorCode | null {
  if (metricsToken === '') return metricsPublic ? null : 'missingAuthentication'
  if (authorization === '') return 'missingAuthentication'
  const sent = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  return sent !== undefined && isSame(sent, metricsToken) ? null : 'invalidToken'
}

/** Without access control everybody can list the collections anyway. */
export function showsNames({ authEnabled, metricsDetail }: Pick<MetricsRules, 'authEnabled' | 'metricsDetail'>): boolean {
  return authEnabled !== true || metricsDetail
}

/** Takes the same time for every text that is sent: digests have one length. */
function isSame(sent: string, expected: string): boolean {
  return timingSafeEqual(digestOf(sent), digestOf(expected))
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
