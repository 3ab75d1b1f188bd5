/**
 * The sources of option values: flags and the environment here, the YAML file in yaml_file.ts. Each source is
 * a flat map of strings; values are not interpreted here. Main thread, at start.
 */
import { LATER_FLAGS } from './later.js'
import type { Option } from './options/option.js'
import { OPTIONS } from './options/options.js'
import { similarName } from './suggestion.js'

/** Refuses a start, in one line that names the option and its source. */
export class ConfigError extends Error {
  constructor(text: string) {
    super(text)
    this.name = 'ConfigError'
  }
}

interface Flags {
  readonly values: ReadonlyMap<string, string>
  readonly configFile: string | undefined
  /** Flags of features that are not implemented yet. */
  readonly later: readonly string[]
}

export interface Sources {
  readonly flags: Flags
  readonly env: NodeJS.ProcessEnv
  /** By dotted path. */
  readonly yaml: ReadonlyMap<string, string>
}

/** An empty text counts as unset. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text
}

export function isSetIn(yaml: ReadonlyMap<string, string>, path: string): boolean {
  return nonEmpty(yaml.get(path)) !== undefined
}

/** Whether any source sets the option, even to its default. */
export function isSet(
  { flag, variables, yaml: paths }: Pick<Option<unknown>, 'variables' | 'yaml'> & { readonly flag?: string },
  { flags, env, yaml }: Sources,
): boolean {
  return (
    (flag !== undefined && flags.values.has(flag)) ||
    variables.some((name) => nonEmpty(env[name]) !== undefined) ||
    paths.some((path) => isSetIn(yaml, path))
  )
}

const BOOLEAN_FLAGS = new Set(Object.values(OPTIONS).flatMap((option) => ('boolean' in option ? [option.flag] : [])))
const FLAGS = new Set(Object.values(OPTIONS).map((option) => option.flag))

/**
 * Accepts `--flag value`, `--flag=value`, `--boolean`, `--boolean false`, `--no-boolean`. The last occurrence
 * wins.
 * @throws ConfigError
 */
export function readFlags(argv: readonly string[]): Flags {
  const values = new Map<string, string>()
  const later: string[] = []
  let configFile: string | undefined
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? ''
    const { name, inline } = splitFlag(argument)
    const next = argv[at + 1]
    if (BOOLEAN_FLAGS.has(name)) {
      const isValue = inline === undefined && (next === 'true' || next === 'false')
      if (isValue) at++
      values.set(name, inline ?? (isValue ? next : 'true'))
      continue
    }
    if (inline === undefined && name.startsWith('no-') && BOOLEAN_FLAGS.has(name.slice(3))) {
      values.set(name.slice(3), 'false')
      continue
    }
    const known = FLAGS.has(name) || name === 'config' || LATER_FLAGS.includes(name)
    if (!known) throw new ConfigError(`unknown option ${argument}; ${meantOf(name)}--help lists them`)
    const optionalValue = LATER_FLAGS.includes(name) && (next === undefined || next.startsWith('--'))
    if (inline === undefined && next === undefined && !optionalValue) throw new ConfigError(`${argument} needs a value`)
    if (inline === undefined && !optionalValue) at++
    if (name === 'config') configFile = inline ?? next
    else if (FLAGS.has(name)) values.set(name, inline ?? next ?? '')
    else later.push(`--${name}`)
  }
  return { values, configFile, later }
}

function meantOf(name: string): string {
  const meant = similarName(name, FLAGS)
  return meant === undefined ? '' : `did you mean --${meant}? `
}

function splitFlag(argument: string): { readonly name: string; readonly inline: string | undefined } {
  if (argument === '-c') return { name: 'config', inline: undefined }
  const match = /^--([a-z0-9][a-z0-9-]*)(?:=(.*))?$/s.exec(argument)
  if (match === null) throw new ConfigError(`unexpected argument ${JSON.stringify(argument)}; --help lists the options`)
  return { name: match[1] ?? '', inline: match[2] }
}

const OF_SERVICE = /^SVC_(?:\w+_)?SERVICE_(?:HOST|PORT(?:_\w+)?)$/
const OF_PORT = /^SVC_(?:\w+_)?PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/
const OF_LINK = /^SVC_(?:\w+_)?PORT$/
const LINK = /^(?:tcp|udp|sctp):\/\//

/**
 * The environment without service links: Kubernetes gives each container variables for the services of its
 * namespace. A service that is called `svc`, or `svc-…`, has variables that begin with `SVC_`. They are no
 * options, and one may even have the name of an option: `SVC_MCP_PORT=tcp://10.0.0.1:9000` for the service
 * `svc-mcp`. The forms are in the documentation of Kubernetes, "Service", "Environment variables"; those of
 * Docker links are among them.
 */
export function withoutServiceLinks(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name, value = '']) => {
    if (OF_SERVICE.test(name) || OF_PORT.test(name)) return false
    return !(OF_LINK.test(name) && LINK.test(value))
  })
  return Object.fromEntries(kept)
}
