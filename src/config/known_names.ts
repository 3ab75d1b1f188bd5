/**
 * The names of variables and YAML keys that a configuration may contain, derived from the table of options,
 * the settings beside it, and the options of features to come. Pure data; main thread, at start.
 */
import { OVERRIDABLE } from '../limits/overridable.js'
import { AUDIT_HEADER_VARIABLE, AUDIT_HEADER_YAML } from './audit.js'
import { AUTH_VARIABLES, AUTH_YAML } from './auth.js'
import { EMBEDDING_KEY_VARIABLE, EMBEDDING_KEY_YAML } from './embedding.js'
import { ENCRYPTION_VARIABLES, ENCRYPTION_YAML } from './encryption.js'
import { LATER } from './later.js'
import { MCP_KEYS_VARIABLE, MCP_KEYS_YAML } from './mcp_keys.js'
import { METRICS_TOKEN_VARIABLE, METRICS_TOKEN_YAML } from './metrics_token.js'
import type { Option } from './option.js'
import { OPTIONS } from './options.js'

const options = Object.values(OPTIONS) as Option<unknown>[]

export const KNOWN_VARIABLES: ReadonlySet<string> = new Set([
  ...options.flatMap(({ variables }) => variables),
  ...Object.keys(OVERRIDABLE).map((name) => `SVC_LIMIT_${name}`),
  'SVC_CONFIG',
  ...ENCRYPTION_VARIABLES,
  ...AUTH_VARIABLES,
  EMBEDDING_KEY_VARIABLE,
  METRICS_TOKEN_VARIABLE,
  AUDIT_HEADER_VARIABLE,
  MCP_KEYS_VARIABLE,
])

export const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...options.flatMap(({ yaml }) => yaml),
  ...ENCRYPTION_YAML,
  ...AUTH_YAML,
  EMBEDDING_KEY_YAML,
  METRICS_TOKEN_YAML,
  AUDIT_HEADER_YAML,
  MCP_KEYS_YAML,
])

export const LATER_VARIABLES: ReadonlySet<string> = new Set(LATER.map(({ variable }) => variable))
export const LATER_KEYS: ReadonlySet<string> = new Set(LATER.map(({ yaml }) => yaml))
