/**
 * The token of the metrics: a scraper sends it as `Authorization: Bearer`. It comes from a variable or the
 * configuration file, never from a flag. Error messages do not contain it. Main thread, at start.
 */
import { METRICS_TOKEN_CHARS_MAX, METRICS_TOKEN_CHARS_MIN } from '../limits/telemetry.js'
import { ConfigError } from './sources.js'

export const METRICS_TOKEN_VARIABLE = 'SVC_METRICS_TOKEN'
export const METRICS_TOKEN_YAML = 'metrics.token'

/**
 * @returns empty if there is none
 * @throws ConfigError
 */
export function readMetricsToken(env: NodeJS.ProcessEnv, yaml: ReadonlyMap<string, string>): string {
  const token = (env[METRICS_TOKEN_VARIABLE] || yaml.get(METRICS_TOKEN_YAML) || '').trim()
  if (token === '') return ''
  // The characters of a Bearer token (RFC 6750, section 2.1): another one could never be sent.
  const isToken = /^[A-Za-z0-9._~+/-]+=*$/.test(token)
  if (!isToken || token.length < METRICS_TOKEN_CHARS_MIN || token.length > METRICS_TOKEN_CHARS_MAX) {
    throw new ConfigError(
      `${METRICS_TOKEN_VARIABLE}: ${METRICS_TOKEN_CHARS_MIN} to ${METRICS_TOKEN_CHARS_MAX} letters, digits or characters of ._~+/- expected`,
    )
  }
  return token
}
