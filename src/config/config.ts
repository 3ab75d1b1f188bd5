/**
 * Loads the configuration: flag > environment > YAML file > default, from the table in
 * config/options/options.ts. The result is plain, frozen data that is passed to threads as `workerData`. Runs
 * once, on the main thread, before anything is opened. An invalid value ends the start with one line.
 */
import { availableParallelism } from 'node:os'
import { BCRYPT_COST } from '../limits/access.js'
import { OVERRIDABLE, type OverridableLimits } from '../limits/overridable.js'
import { VECTOR_WORKERS_MAX } from '../limits/search.js'
import { HTTP_LOOPS_MAX } from '../limits/surfaces.js'
import type { ProviderSettings } from '../outbound/embedding/settings.js'
import { type AuthSecrets, isStrongSecret, readAuth, readSecrets, weaknessOfAdminPassword } from './auth.js'
import { readEmbedding } from './embedding.js'
import type { EncryptionKeys } from './encryption.js'
import { readEncryption } from './encryption.js'
import { GUARDS } from './later.js'
import type { Option } from './options/option.js'
import type { OptionValues } from './options/options.js'
import { OPTIONS } from './options/options.js'
import type { AccessMode, ListenAddress } from './options/values.js'
import { BadValue, parseWhole } from './options/values.js'
import { productionRefusal } from './production.js'
import { type McpKey, readMcpKeys, readMetricsToken, readWebhookHeaders } from './secrets.js'
import type { Sources } from './sources.js'
import { ConfigError, isSet, isSetIn, nonEmpty, readFlags, withoutServiceLinks } from './sources.js'
import { checkSwitches } from './switched_off.js'
import { checkNames } from './unknown_names.js'
import { readYaml } from './yaml_file.js'

/** The lowest cost that bcrypt accepts. */
const BCRYPT_COST_MIN = 4
/**
 * Cores for each loop where their number is not configured. The other cores are for the lanes, which do the
 * searches and the writes.
 */
const CORES_PER_HTTP_LOOP = 2
/**
 * Warnings about the configuration that are collected. A container may set hundreds of unrelated variables.
 */
const CONFIG_WARNINGS_MAX = 100

export { ConfigError } from './sources.js'
export { helpText, wantsHelp, wantsVersion } from './help.js'
export { formatAddress } from './options/values.js'
export type { AccessMode, ListenAddress } from './options/values.js'

/** Options from which the values of `Config` are derived. */
type Given = 'httpModeOverride' | 'grpcModeOverride' | 'mcpModeOverride' | 'grpcAddrGiven' | 'mcpAddrGiven' | 'graphqlPlaygroundGiven'

export interface Config extends Omit<OptionValues, Given> {
  /** Requests from this machine must have local origins and hosts: surface/http/local_guard.ts. */
  readonly guardsLocal: boolean
  /** Access mode of HTTP requests, those of GraphQL among them. */
  readonly httpMode: AccessMode
  readonly grpcMode: AccessMode
  readonly mcpMode: AccessMode
  readonly grpcAddr: ListenAddress
  readonly mcpAddr: ListenAddress
  readonly graphqlPlayground: boolean
  /** Keys of MCP that the operator configures. Never shown, never logged. */
  readonly mcpApiKeys: readonly McpKey[]
  /** Number of threads for reads, at least two. */
  readonly readLanes: number
  /** Number of event loops that serve HTTP, at least one. */
  readonly httpLoops: number
  /** Null: access control is off. Never shown, never logged. */
  readonly auth: AuthSecrets | null
  /** Null: no encryption at rest. Never shown, never logged. */
  readonly encryption: EncryptionKeys | null
  /** The provider that the options name, with its key. Null: none. Never shown or logged unredacted. */
  readonly embedding: ProviderSettings | null
  /** Opens `/metrics` to its bearer; empty: none. Never shown, never logged. */
  readonly metricsToken: string
  /** Headers of the audit log's webhook: name, value, name, value ... Never shown or logged. */
  readonly auditWebhookHeaders: readonly string[]
  /** Effective values of the bounds that tests may lower. */
  readonly limits: OverridableLimits
  /** One line each, logged at start. */
  readonly warnings: readonly string[]
}

/** @throws ConfigError whose text is one line that names the option and its source */
export function loadConfig(argv: readonly string[], environment: NodeJS.ProcessEnv): Config {
  const flags = readFlags(argv)
  const env = withoutServiceLinks(environment)
  const file = flags.configFile ?? nonEmpty(env.SVC_CONFIG)
  const sources: Sources = { flags, env, yaml: file === undefined ? new Map() : readYaml(file) }
  const nameWarnings = checkNames(env, sources.yaml, {
    configLenient: readOption(OPTIONS.configLenient, sources) === true,
    production: readOption(OPTIONS.production, sources) === true,
  })
  refuseMissingGuards(sources)
  const { httpModeOverride, grpcModeOverride, mcpModeOverride, grpcAddrGiven, mcpAddrGiven, graphqlPlaygroundGiven, ...given } =
    readOptions(sources)
  // Standard input and output are for one client, which has nothing else.
  const values = given.mcpStdio ? { ...given, httpEnabled: false, grpcEnabled: false, mcpEnabled: true } : given
  if (!values.httpEnabled && !values.grpcEnabled && !values.mcpEnabled)
    throw new ConfigError('SVC_HTTP_ENABLED, SVC_GRPC_ENABLED and SVC_MCP_ENABLED are false: there is nothing to serve')
  const notProduction = productionRefusal({ ...values, auth: values.authEnabled ? readSecrets(env, sources.yaml) : null })
  if (notProduction !== undefined) throw new ConfigError(notProduction)
  if (values.compressionMediumBytes < values.compressionSmallBytes) {
    throw new ConfigError('SVC_COMPRESSION_MEDIUM_THRESHOLD must not be below SVC_COMPRESSION_SMALL_THRESHOLD')
  }
  const auth = readAuth(values, env, sources.yaml)
  const limits = readLimits(env)
  const isCheap = auth !== null && limits.BCRYPT_COST < BCRYPT_COST
  if (isCheap && values.production) throw new ConfigError(`SVC_LIMIT_BCRYPT_COST is for tests: in production it is ${BCRYPT_COST}`)
  const warnings = [
    ...(isCheap ? ['SVC_LIMIT_BCRYPT_COST is lowered: whoever reads the store can guess passwords'] : []),
    ...flags.later.map((flag) => `${flag} has no effect: its feature is not in this version`),
    ...nameWarnings,
    ...checkSwitches(sources, values),
    ...warningsOf(sources, values, auth),
  ]
  const config: Config = {
    ...values,
    guardsLocal:
      !values.authEnabled && !isSet(OPTIONS.corsOrigins, sources) && values.trustedProxies.length === 0 && values.httpAddr.kind === 'tcp',
    httpMode: httpModeOverride ?? values.mode,
    grpcMode: grpcModeOverride ?? values.mode,
    mcpMode: mcpModeOverride ?? values.mode,
    grpcAddr: grpcAddrGiven ?? besideHttp(values.httpAddr, GRPC_PORT),
    mcpAddr: mcpAddrGiven ?? besideHttp(values.httpAddr, MCP_PORT),
    graphqlPlayground: values.httpEnabled && values.graphqlEnabled && (graphqlPlaygroundGiven ?? !values.production),
    mcpApiKeys: readMcpKeys(env, sources.yaml),
    vectorParallelWorkers: values.vectorParallelWorkers || Math.min(availableParallelism(), VECTOR_WORKERS_MAX),
    httpLoops: httpLoopsOf(values),
    readLanes: values.readLanes === 0 ? Math.max(2, availableParallelism()) : Math.max(2, values.readLanes),
    auth,
    encryption: readEncryption(env, sources.yaml),
    embedding: readEmbedding(values, env, sources.yaml),
    metricsToken: readMetricsToken(env, sources.yaml),
    auditWebhookHeaders: readWebhookHeaders(env, sources.yaml),
    limits,
    warnings: warnings.slice(0, CONFIG_WARNINGS_MAX),
  }
  return Object.freeze(config)
}

const GRPC_PORT = 11_024
const MCP_PORT = 9_000

/** Where HTTP takes any free port, others do, too. Beside a unix socket they are for this machine only. */
function besideHttp(http: ListenAddress, port: number): ListenAddress {
  if (http.kind === 'unix') return { kind: 'tcp', host: '127.0.0.1', port }
  return { ...http, port: http.port === 0 ? 0 : port }
}

/** Threads can share a port, but not a unix socket. */
function httpLoopsOf({ httpLoops, httpAddr }: Pick<OptionValues, 'httpLoops' | 'httpAddr'>): number {
  if (httpAddr.kind === 'unix') return 1
  return httpLoops || Math.min(Math.max(1, Math.floor(availableParallelism() / CORES_PER_HTTP_LOOP)), HTTP_LOOPS_MAX)
}

function readOptions(sources: Sources): OptionValues {
  const entries = Object.entries(OPTIONS).map(([name, option]) => [name, readOption(option as Option<unknown>, sources)])
  // The table is typed field by field. Object.entries loses the types.
  const values: unknown = Object.fromEntries(entries)
  return values as OptionValues
}

function readOption(option: Option<unknown>, { flags, env, yaml }: Sources): unknown {
  const flag = flags.values.get(option.flag)
  if (flag !== undefined) return parse(option, flag, `--${option.flag}`)
  const variable = option.variables.find((name) => nonEmpty(env[name]) !== undefined)
  if (variable !== undefined) return parse(option, env[variable] ?? '', variable)
  const key = option.yaml.find((path) => isSetIn(yaml, path))
  if (key !== undefined) return parse(option, yaml.get(key) ?? '', `${key} in the configuration file`)
  return option.fallback
}

function parse(option: Option<unknown>, text: string, source: string): unknown {
  try {
    return option.parse(text.trim())
  } catch (cause) {
    if (!(cause instanceof BadValue)) throw cause
    throw new ConfigError(`${source}: ${cause.message}, got ${JSON.stringify(text.slice(0, 80))}`)
  }
}

/** A requested protection must not be ignored because it is not implemented yet. */
function refuseMissingGuards({ env, yaml }: Sources): void {
  for (const guard of GUARDS) {
    if (guard.asks(env[guard.variable] ?? '')) throw new ConfigError(refusal(guard.variable, guard.feature))
    if (guard.asks(yaml.get(guard.yaml) ?? '')) throw new ConfigError(refusal(`${guard.yaml} in the configuration file`, guard.feature))
  }
}

function refusal(source: string, feature: string): string {
  return `${source} asks for ${feature}, which this version does not have; it does not start without it`
}

function readLimits(env: NodeJS.ProcessEnv): OverridableLimits {
  const read = (name: string, standard: number): number => {
    const option = { parse: parseWhole(name === 'BCRYPT_COST' ? BCRYPT_COST_MIN : 0, standard) } as Option<number>
    const text = nonEmpty(env[`SVC_LIMIT_${name}`])
    return text === undefined ? standard : (parse(option, text, `SVC_LIMIT_${name}`) as number)
  }
  return Object.fromEntries(Object.entries(OVERRIDABLE).map(([name, standard]) => [name, read(name, standard)])) as OverridableLimits
}

function warningsOf({ env, yaml }: Sources, values: Omit<OptionValues, Given>, auth: AuthSecrets | null): string[] {
  const warnings: string[] = []
  const weakness = auth === null ? null : weaknessOfAdminPassword(auth, values.authAdminUsername)
  if (weakness !== null) warnings.push(weakness)
  if (auth !== null && !isStrongSecret(auth))
    warnings.push('SVC_AUTH_JWT_SECRET is short: tokens can be forged by guessing it; 32 random bytes are enough')
  if (!values.metricsPublic && auth === null && readMetricsToken(env, yaml) === '')
    warnings.push('SVC_METRICS_PUBLIC=false: nobody can read /metrics without SVC_METRICS_TOKEN')
  if (values.durability === 'async') warnings.push('SVC_DURABILITY=async: a power cut can lose writes that were acknowledged')
  return warnings
}
