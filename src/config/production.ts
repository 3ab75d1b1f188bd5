/**
 * The guards of a production server (`SVC_PRODUCTION=true`): one table of the settings that it wants. The
 * loader refuses a start that lacks any, and `GET /v1/compliance-status` lists them. Names only, never
 * values. Pure.
 */
import { JWT_SECRET_BYTES_MIN_PRODUCTION } from '../limits/access.js'
import { type AuthSecrets, isStrongSecret } from './auth.js'

/** The options that the guards read. An absent one is off. */
export interface GuardedOptions {
  readonly production: boolean
  readonly authEnabled: boolean
  /** Null: access control is off. */
  readonly auth: Pick<AuthSecrets, 'jwtSecret'> | null
  readonly tlsEnabled: boolean
  /** Clients are encrypted by a proxy in front of the server. */
  readonly tlsInsecureOk: boolean
  readonly corsOrigins: readonly string[]
  readonly auditEnabled: boolean
  readonly rateLimitEnabled: boolean
}

interface MissingGuard {
  readonly envVar: string
  readonly want: string
  readonly reason: string
}

interface ProductionGuard extends MissingGuard {
  readonly isMet: (options: GuardedOptions) => boolean
}

/** In the order in which they are listed. */
const GUARDS: readonly ProductionGuard[] = [
  {
    envVar: 'SVC_AUTH_ENABLED',
    want: 'true',
    reason: 'without access control every client can read and write everything',
    isMet: ({ authEnabled }) => authEnabled,
  },
  {
    envVar: 'SVC_AUTH_JWT_SECRET',
    want: `at least ${JWT_SECRET_BYTES_MIN_PRODUCTION} bytes`,
    reason: 'a shorter secret can be guessed, and with it anybody can make tokens',
    isMet: ({ auth }) => auth !== null && isStrongSecret(auth),
  },
  {
    envVar: 'SVC_TLS_ENABLED',
    want: 'true, or SVC_TLS_INSECURE_OK=true behind a proxy that encrypts',
    reason: 'credentials and documents would cross the network in plaintext',
    isMet: ({ tlsEnabled, tlsInsecureOk }) => tlsEnabled || tlsInsecureOk,
  },
  {
    envVar: 'SVC_CORS_ORIGINS',
    want: 'a list of origins instead of *',
    reason: 'web pages of every origin could call the server',
    isMet: ({ corsOrigins }) => !corsOrigins.includes('*'),
  },
  {
    envVar: 'SVC_AUDIT_ENABLED',
    want: 'true',
    reason: 'without an audit log nobody can tell who did what',
    isMet: ({ auditEnabled }) => auditEnabled,
  },
  {
    envVar: 'SVC_RATE_LIMIT_ENABLED',
    want: 'true',
    reason: 'one client could take the capacity of all',
    isMet: ({ rateLimitEnabled }) => rateLimitEnabled,
  },
]

export function missingGuards(options: GuardedOptions): readonly MissingGuard[] {
  return GUARDS.filter(({ isMet }) => !isMet(options)).map(({ envVar, want, reason }) => ({ envVar, want, reason }))
}

/** @returns one line that names all that is missing; undefined if the server may start */
export function productionRefusal(options: GuardedOptions): string | undefined {
  const missing = options.production ? missingGuards(options) : []
  if (missing.length === 0) return undefined
  return `SVC_PRODUCTION=true needs what is missing: ${missing.map(({ envVar, want }) => `${envVar} (${want})`).join('; ')}`
}
