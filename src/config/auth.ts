/**
 * The secrets of access control: the key that signs tokens, and the password of the bootstrap administrator.
 * They come from variables, from files that variables name, or from the configuration file, never from flags.
 * Error messages do not contain them. Main thread, at start.
 */
import { readFileSync } from 'node:fs'
import { JWT_SECRET_BYTES_MIN_PRODUCTION, PASSWORD_BYTES_MAX, USERNAME_BYTES_MAX } from '../limits/access.js'
import { weaknessOf } from '../passwords/password_strength.js'
import type { AuthOptionValues } from './options/auth_options.js'
import { ConfigError } from './sources.js'

export interface AuthSecrets {
  readonly jwtSecret: string
  /** Used only where the administrator does not exist yet. */
  readonly adminPassword: string
}

const SECRETS = [
  { variable: 'SVC_AUTH_JWT_SECRET', yaml: 'auth.jwtSecret' },
  { variable: 'SVC_AUTH_ADMIN_PASSWORD', yaml: 'auth.adminPassword' },
] as const

export const AUTH_VARIABLES: readonly string[] = SECRETS.flatMap(({ variable }) => [variable, `${variable}_FILE`])
export const AUTH_YAML: readonly string[] = SECRETS.flatMap(({ yaml }) => [yaml, `${yaml}File`])

/**
 * @returns null while access control is off
 * @throws ConfigError that names all that is missing
 */
export function readAuth(
  { authEnabled, authAdminUsername, production }: AuthOptionValues & { readonly production: boolean },
  env: NodeJS.ProcessEnv,
  yaml: ReadonlyMap<string, string>,
): AuthSecrets | null {
  if (!authEnabled) return null
  const { jwtSecret, adminPassword } = readSecrets(env, yaml)
  const missing = SECRETS.filter((_, at) => [jwtSecret, adminPassword][at] === '').map(({ variable }) => variable)
  if (missing.length > 0) throw new ConfigError(`SVC_AUTH_ENABLED needs ${missing.join(' and ')}`)
  if (Buffer.byteLength(adminPassword) > PASSWORD_BYTES_MAX)
    throw new ConfigError(`SVC_AUTH_ADMIN_PASSWORD: at most ${PASSWORD_BYTES_MAX} bytes, because bcrypt ignores the rest`)
  if (authAdminUsername === '' || Buffer.byteLength(authAdminUsername) > USERNAME_BYTES_MAX || /[\0-\x1f\x7f]/.test(authAdminUsername))
    throw new ConfigError(`SVC_AUTH_ADMIN_USERNAME: a name of at most ${USERNAME_BYTES_MAX} bytes without control characters expected`)
  const weakness = weaknessOfAdminPassword({ adminPassword }, authAdminUsername)
  if (production && weakness !== null) throw new ConfigError(weakness)
  return { jwtSecret, adminPassword }
}

/** The secrets as they are set; empty: not set. */
export function readSecrets(env: NodeJS.ProcessEnv, yaml: ReadonlyMap<string, string>): AuthSecrets {
  const [jwtSecret = '', adminPassword = ''] = SECRETS.map((secret) => readSecret(secret, env, yaml))
  return { jwtSecret, adminPassword }
}

/** @returns why the password of the bootstrap administrator is weak; null if it is not */
export function weaknessOfAdminPassword({ adminPassword }: Pick<AuthSecrets, 'adminPassword'>, username: string): string | null {
  const weakness = weaknessOf(adminPassword, username)
  return weakness === null ? null : `SVC_AUTH_ADMIN_PASSWORD is weak: ${weakness}`
}

/** A secret of this length can't be guessed from a token, blanks around it not counted. */
export function isStrongSecret({ jwtSecret }: Pick<AuthSecrets, 'jwtSecret'>): boolean {
  return Buffer.byteLength(jwtSecret.trim()) >= JWT_SECRET_BYTES_MIN_PRODUCTION
}

function readSecret({ variable, yaml: path }: (typeof SECRETS)[number], env: NodeJS.ProcessEnv, yaml: ReadonlyMap<string, string>): string {
  const given = env[variable] || undefined
  if (given !== undefined) return given
  const file = env[`${variable}_FILE`] || yaml.get(`${path}File`) || undefined
  if (file === undefined) return yaml.get(path) ?? ''
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new ConfigError(`${variable}_FILE: ${file} can't be read: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`)
  }
}
