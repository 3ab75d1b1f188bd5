/**
 * Names that the configuration contains and no option has. The known ones come from the table of options, the
 * settings beside it, and the options of features to come. A typo must not switch a protection off, so an
 * unknown name in a section that protects ends the start, always. Other unknown YAML keys, and variables that
 * look like a typo of a known one, end it too, unless `SVC_CONFIG_LENIENT=true`. The environment is shared
 * with other programs, so a variable that resembles none is a warning, except with `SVC_PRODUCTION=true`.
 * Pure; main thread, at start. Decision: docs/decisions/operation/production.md.
 */
import { OVERRIDABLE } from '../limits/overridable.js'
import { AUTH_VARIABLES, AUTH_YAML } from './auth.js'
import { EMBEDDING_KEY_VARIABLE, EMBEDDING_KEY_YAML } from './embedding.js'
import { ENCRYPTION_VARIABLES, ENCRYPTION_YAML } from './encryption.js'
import { LATER } from './later.js'
import type { Option } from './options/option.js'
import { OPTIONS } from './options/options.js'
import {
  AUDIT_HEADER_VARIABLE,
  AUDIT_HEADER_YAML,
  MCP_KEYS_VARIABLE,
  MCP_KEYS_YAML,
  METRICS_TOKEN_VARIABLE,
  METRICS_TOKEN_YAML,
} from './secrets.js'
import { ConfigError } from './sources.js'
import { plainName, similarKey, similarVariable } from './suggestion.js'

/** Unknown names that one refusal names. A file for another program may have hundreds. */
const CONFIG_REFUSALS_NAMED_MAX = 8

const options = Object.values(OPTIONS) as Option<unknown>[]

const KNOWN_VARIABLES: ReadonlySet<string> = new Set([
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

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...options.flatMap(({ yaml }) => yaml),
  ...ENCRYPTION_YAML,
  ...AUTH_YAML,
  EMBEDDING_KEY_YAML,
  METRICS_TOKEN_YAML,
  AUDIT_HEADER_YAML,
  MCP_KEYS_YAML,
])

const LATER_VARIABLES: ReadonlySet<string> = new Set(LATER.map(({ variable }) => variable))
const LATER_KEYS: ReadonlySet<string> = new Set(LATER.map(({ yaml }) => yaml))

/** Sections of the YAML file whose options protect or observe. */
const PROTECTING = ['auth', 'tls', 'encryption', 'audit', 'metrics', 'rateLimit', 'mcp', 'replication', 'production'].map(plainName)
/** The same of variables. */
const PROTECTING_VARIABLES = new RegExp(`^SVC_(?:${PROTECTING.join('|').replace('ratelimit', 'rate_?limit')})(?:_|$)`, 'i')

interface Strictness {
  readonly configLenient: boolean
  readonly production: boolean
}

/**
 * @returns one line for each name that has no effect and does not end the start
 * @throws ConfigError that names those that do
 */
export function checkNames(env: NodeJS.ProcessEnv, yaml: ReadonlyMap<string, string>, strictness: Strictness): string[] {
  const variables = Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && (env[name] ?? '') !== '' && !KNOWN_VARIABLES.has(name))
    .sort()
  const found = [
    ...variables.map((name) => findingOfVariable(name, strictness)),
    ...[...yaml.keys()].filter((key) => !KNOWN_KEYS.has(key)).map((key) => findingOfKey(key, strictness)),
  ]
  const refused = found.filter(({ isRefused }) => isRefused)
  if (refused.length > 0) {
    const more = refused.length - CONFIG_REFUSALS_NAMED_MAX
    const named = refused.slice(0, CONFIG_REFUSALS_NAMED_MAX).map(({ text }) => text)
    const rest = more > 0 ? `; and ${more} more` : ''
    const way = refused.some(({ isProtecting }) => isProtecting) ? '' : ' (SVC_CONFIG_LENIENT=true: a warning)'
    throw new ConfigError(`${named.join('; ')}${rest}${way}`)
  }
  return found.map(({ text }) => text)
}

interface Finding {
  readonly text: string
  readonly isRefused: boolean
  readonly isProtecting: boolean
}

const NO_EFFECT = 'has no effect: its feature is not in this version'

function findingOfVariable(name: string, { configLenient, production }: Strictness): Finding {
  if (LATER_VARIABLES.has(name)) return { text: `${name} ${NO_EFFECT}`, isRefused: false, isProtecting: false }
  const meant = similarVariable(name, [...KNOWN_VARIABLES, ...LATER_VARIABLES])
  const isProtecting = [name, meant ?? ''].some((variable) => PROTECTING_VARIABLES.test(variable))
  return {
    text: `${name} is not a known variable${meantOf(meant)}`,
    isRefused: isProtecting || ((meant !== undefined || production) && !configLenient),
    isProtecting,
  }
}

function findingOfKey(key: string, { configLenient }: Strictness): Finding {
  const text = `${key} in the configuration file`
  if (LATER_KEYS.has(key)) return { text: `${text} ${NO_EFFECT}`, isRefused: false, isProtecting: false }
  const meant = similarKey(key, new Set([...KNOWN_KEYS, ...LATER_KEYS]))
  const isProtecting = [key, meant ?? ''].some((path) => PROTECTING.includes(plainName(path.split(/[.[]/)[0] ?? '')))
  return { text: `${text} is not a known key${meantOf(meant)}`, isRefused: isProtecting || !configLenient, isProtecting }
}

function meantOf(name: string | undefined): string {
  return name === undefined ? '' : `; did you mean ${name}?`
}
