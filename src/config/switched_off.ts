/**
 * Secrets and certificates beside a switch that is off: whoever wrote them expects the protection. In the
 * configuration file they end the start. The contract allows the start for those that come by variables or
 * flags, so they are a warning there, and end the start with `SVC_PRODUCTION=true` only. A switch that a
 * variable or a flag sets to false is meant, whatever the file contains. Pure; main thread, at start.
 */
import { AUTH_VARIABLES, AUTH_YAML } from './auth.js'
import type { Option } from './options/option.js'
import { OPTIONS, type OptionValues } from './options/options.js'
import { AUDIT_HEADER_VARIABLE, AUDIT_HEADER_YAML, MCP_KEYS_VARIABLE, MCP_KEYS_YAML } from './secrets.js'
import { ConfigError, isSet, isSetIn, type Sources } from './sources.js'

type Named = Pick<Option<unknown>, 'variables' | 'yaml'> & { readonly flag?: string }

interface Switch {
  readonly option: 'authEnabled' | 'tlsEnabled' | 'auditEnabled' | 'mcpApiKeyEnabled' | 'rateLimitEnabled' | 'mcpRateLimitEnabled'
  /** What is missing while it is off. */
  readonly protection: string
  readonly secrets: readonly Named[]
  /** Options that have no effect while it is off. */
  readonly settings: readonly Named[]
}

const { tlsCert, tlsKey, tlsClientCa } = OPTIONS

const SWITCHES: readonly Switch[] = [
  {
    option: 'authEnabled',
    protection: 'access control',
    secrets: [{ variables: AUTH_VARIABLES, yaml: AUTH_YAML }],
    settings: optionsNamed(/^auth(?!Enabled)/),
  },
  {
    option: 'tlsEnabled',
    protection: 'TLS',
    secrets: [tlsCert, tlsKey, tlsClientCa],
    settings: [OPTIONS.tlsClientAuth],
  },
  {
    option: 'auditEnabled',
    protection: 'the audit log',
    secrets: [{ variables: [AUDIT_HEADER_VARIABLE], yaml: [AUDIT_HEADER_YAML] }],
    settings: optionsNamed(/^audit(?!Enabled)/),
  },
  {
    option: 'mcpApiKeyEnabled',
    protection: 'the check of MCP keys',
    secrets: [{ variables: [MCP_KEYS_VARIABLE], yaml: [MCP_KEYS_YAML] }],
    settings: [],
  },
  { option: 'rateLimitEnabled', protection: 'the rate limit', secrets: [], settings: optionsNamed(/^rateLimit(?!Enabled)/) },
  { option: 'mcpRateLimitEnabled', protection: 'the rate limit of MCP', secrets: [], settings: optionsNamed(/^mcpRateLimit(?!Enabled)/) },
]

function optionsNamed(pattern: RegExp): Named[] {
  return Object.entries(OPTIONS).flatMap(([name, option]) => (pattern.test(name) ? [option as Named] : []))
}

/**
 * @returns one line for each switch that is off beside what needs it
 * @throws ConfigError
 */
export function checkSwitches(sources: Sources, values: Pick<OptionValues, Switch['option'] | 'production'>): string[] {
  return SWITCHES.filter(({ option }) => !values[option]).flatMap(({ option, protection, secrets, settings }) => {
    const named: Option<boolean> = OPTIONS[option]
    const inFile = secrets.flatMap(({ yaml }) => yaml.filter((path) => isSetIn(sources.yaml, path)))
    const given = secrets.flatMap((secret) => namesGiven(sources, secret))
    const isMeant = namesGiven(sources, named).length > 0
    const [variable = '', key = ''] = [named.variables[0], named.yaml[0]]
    if (inFile.length > 0 && !isMeant) {
      const without = `${protection} would be off: ${key} is not true`
      throw new ConfigError(`${inFile.join(' and ')} in the configuration file, but ${without}; set it, or remove what needs it`)
    }
    const secretNames = [...given, ...inFile]
    if (secretNames.length > 0) {
      const text = `${secretNames.join(' and ')} without effect: ${variable} is not true, so ${protection} is off`
      if (values.production) throw new ConfigError(text)
      return [text]
    }
    if (isSet(named, sources)) return []
    const idle = settings.find((setting) => isSet(setting, sources))
    return idle === undefined
      ? []
      : [`${idle.variables[0] ?? ''} (${idle.yaml[0] ?? ''}) without effect: ${variable} is not true, so ${protection} is off`]
  })
}

/** The flags and variables that set the option. */
function namesGiven({ flags, env }: Sources, { flag, variables }: Named): string[] {
  const flagged = flag !== undefined && flags.values.has(flag) ? [`--${flag}`] : []
  return [...flagged, ...variables.filter((name) => (env[name] ?? '') !== '')]
}
