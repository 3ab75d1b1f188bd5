/**
 * Where option values come from: flags, environment, YAML file. Each source is read into a flat map of texts; nothing is interpreted here. Foreign bytes: the YAML file is bounded in size
 * and aliases and read with the core schema. Main thread, at start.
 */
import { readFileSync, statSync } from 'node:fs'
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { Scalar } from 'yaml'
import { CONFIG_FILE_BYTES_MAX, YAML_ALIASES_MAX } from '../limits.js'
import { LATER_FLAGS } from './later.js'
import { OPTIONS } from './options.js'

/** A start that is refused, in one line that names the option and where it was set. */
export class ConfigError extends Error {
  constructor(text: string) {
    super(text)
    this.name = 'ConfigError'
  }
}

export interface Flags {
  readonly values: ReadonlyMap<string, string>
  readonly configFile: string | undefined
  /** Flags of features that are not built yet. */
  readonly later: readonly string[]
}

const BOOLEAN_FLAGS = new Set(Object.values(OPTIONS).flatMap((option) => ('boolean' in option ? [option.flag] : [])))
const FLAGS = new Set(Object.values(OPTIONS).map((option) => option.flag))

/** `--flag value`, `--flag=value`, `--boolean`, `--boolean false`, `--no-boolean`; the last one wins. @throws ConfigError */
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
    if (!known) throw new ConfigError(`unknown option ${argument}; --help lists them`)
    const optionalValue = LATER_FLAGS.includes(name) && (next === undefined || next.startsWith('--'))
    if (inline === undefined && next === undefined && !optionalValue) throw new ConfigError(`${argument} needs a value`)
    if (inline === undefined && !optionalValue) at++
    if (name === 'config') configFile = inline ?? next
    else if (FLAGS.has(name)) values.set(name, inline ?? next ?? '')
    else later.push(`--${name}`)
  }
  return { values, configFile, later }
}

function splitFlag(argument: string): { readonly name: string; readonly inline: string | undefined } {
  if (argument === '-c') return { name: 'config', inline: undefined }
  const match = /^--([a-z0-9][a-z0-9-]*)(?:=(.*))?$/s.exec(argument)
  if (match === null) throw new ConfigError(`unexpected argument ${JSON.stringify(argument)}; --help lists the options`)
  return { name: match[1] ?? '', inline: match[2] }
}

/** Scalars of the file by dotted path; a list of scalars is joined by commas. @throws ConfigError */
export function readYaml(path: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  collectScalars(parseYaml(path, readBounded(path)), '', values)
  return values
}

function readBounded(path: string): string {
  try {
    if (statSync(path).size > CONFIG_FILE_BYTES_MAX) throw new ConfigError(`${path}: at most ${CONFIG_FILE_BYTES_MAX} bytes expected`)
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause
    throw new ConfigError(`configuration file ${path} can't be read: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`)
  }
}

function parseYaml(path: string, text: string): unknown {
  const document = parseDocument(text, { schema: 'core', stringKeys: true, prettyErrors: true })
  const problem = document.errors[0]
  if (problem !== undefined) throw new ConfigError(`${path}: ${problem.message.split('\n')[0] ?? 'not YAML'}`)
  // Aliases are resolved by toJS, which also refuses an alias bomb; the scalars' source text is kept where a type would lose it.
  try {
    document.toJS({ maxAliasCount: YAML_ALIASES_MAX })
  } catch (cause) {
    throw new ConfigError(`${path}: ${(cause as Error).message}`)
  }
  return document.contents
}

function collectScalars(node: unknown, path: string, values: Map<string, string>): void {
  if (isScalar(node)) {
    if (node.value !== null) values.set(path, textOf(node))
  } else if (isSeq(node)) {
    const items = node.items.flatMap((item) => (isScalar(item) && item.value !== null ? [textOf(item)] : []))
    if (items.length > 0) values.set(path, items.join(','))
  } else if (isMap(node)) {
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : ''
      collectScalars(pair.value, path === '' ? key : `${path}.${key}`, values)
    }
  }
}

/** As written, where a type would change it: `0x10` and `1e3` stay texts for the option's own parser. */
function textOf(scalar: Scalar): string {
  return typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? JSON.stringify(scalar.value))
}
