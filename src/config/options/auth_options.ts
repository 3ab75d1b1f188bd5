/**
 * The options of access control, a part of the table of options (options.ts). The secret of tokens and the
 * password of the bootstrap administrator are not options, because every process on the machine can read
 * flags (auth.ts). Pure data; main thread, at start.
 */
import type { Option } from './option.js'
import { parseBoolean, parseDuration, parseText } from './values.js'

/** How long a token is valid: a day, at most a year. */
const JWT_EXPIRY_MS_DEFAULT = 24 * 3_600_000
const JWT_EXPIRY_MS_MAX = 365 * 24 * 3_600_000

export interface AuthOptionValues {
  readonly authEnabled: boolean
  /** Milliseconds for which a token is valid. */
  readonly authJwtExpiryMs: number
  readonly authAdminUsername: string
}

const SECOND_MS = 1000

export const AUTH_OPTIONS: { readonly [Name in keyof AuthOptionValues]: Option<AuthOptionValues[Name]> } = {
  authEnabled: {
    flag: 'auth-enabled',
    variables: ['SVC_AUTH_ENABLED'],
    yaml: ['auth.enabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'access control: requests need a token or an API key',
  },
  authJwtExpiryMs: {
    flag: 'auth-jwt-expiry',
    variables: ['SVC_AUTH_JWT_EXPIRY'],
    yaml: ['auth.jwtExpiry'],
    fallback: JWT_EXPIRY_MS_DEFAULT,
    fallbackText: '24h',
    parse: parseDuration(SECOND_MS, JWT_EXPIRY_MS_MAX),
    help: 'how long the token of a login is valid, e.g. 24h',
  },
  authAdminUsername: {
    flag: 'auth-admin-username',
    variables: ['SVC_AUTH_ADMIN_USERNAME'],
    yaml: ['auth.adminUsername'],
    fallback: 'admin',
    parse: parseText,
    help: 'name of the administrator who is created at the first start',
  },
}
