/**
 * Cross-origin headers (http.md section 0): `*` by default, or the origin itself if it is in the list, with
 * `Vary: Origin`; none with an external panel. Pure.
 */
import type { Config } from '../../config/config.js'

export interface CorsPolicy {
  /** name, value, name, value ... for every answer to a request with this Origin (empty if none was sent). */
  headersFor(origin: string): readonly string[]
  /** name, value ... added to them in the answer to a preflight. */
  readonly preflightHeaders: readonly string[]
}

const PREFLIGHT_HEADERS: readonly string[] = [
  'Access-Control-Allow-Methods',
  'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers',
  'Content-Type, Authorization, X-API-Key',
  'Access-Control-Max-Age',
  '86400',
]

const EXPOSED = [
  'Access-Control-Expose-Headers',
  'X-Total-Count, X-Context-Truncated, X-Cache, X-MDDB-Cache, X-Cache-Ttl, Retry-After',
] as const

/** A proxy in front of the server sends these headers, and two of them would contradict each other. */
const NONE: CorsPolicy = { headersFor: () => [], preflightHeaders: [] }

/** `corsOrigins`: exact origins, or a single `*`. */
export function corsPolicy({ corsOrigins: origins, panelMode }: Pick<Config, 'corsOrigins' | 'panelMode'>): CorsPolicy {
  if (panelMode === 'external') return NONE
  if (origins.includes('*')) {
    const headers = ['Access-Control-Allow-Origin', '*', ...EXPOSED]
    return { headersFor: () => headers, preflightHeaders: PREFLIGHT_HEADERS }
  }
  const allowed = new Map(origins.map((origin) => [origin, ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...EXPOSED]]))
  // The answer differs by origin even if it names none, and caches must know that.
  const refused = ['Vary', 'Origin']
  return { headersFor: (origin) => allowed.get(origin) ?? refused, preflightHeaders: PREFLIGHT_HEADERS }
}
