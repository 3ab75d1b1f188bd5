/**
 * The configuration file: its scalars as texts, by dotted path. Foreign bytes: bounded in size and aliases
 * and read with the core schema. The parser is loaded only when there is a file: it takes 40 ms, of a start
 * that takes ten times that. Main thread, at start.
 */
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Scalar } from 'yaml'
import { CONFIG_FILE_BYTES_MAX, YAML_ALIASES_MAX } from '../limits/process.js'
import { ConfigError } from './sources.js'

type Yaml = typeof import('yaml')

/** Scalars of the file by dotted path; a list of scalars is joined by commas. @throws ConfigError */
export function readYaml(path: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const yaml = createRequire(import.meta.url)('yaml') as Yaml
  collectScalars(yaml, parseYaml(yaml, path, readBounded(path)), '', values)
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

function parseYaml({ parseDocument }: Yaml, path: string, text: string): unknown {
  const document = parseDocument(text, { schema: 'core', stringKeys: true, prettyErrors: true })
  const problem = document.errors[0]
  if (problem !== undefined) throw new ConfigError(`${path}: ${problem.message.split('\n')[0] ?? 'not YAML'}`)
  // Aliases are resolved by toJS, which also refuses an alias bomb; the scalars' source text is kept where a
  // type would lose it.
  try {
    document.toJS({ maxAliasCount: YAML_ALIASES_MAX })
  } catch (cause) {
    throw new ConfigError(`${path}: ${(cause as Error).message}`)
  }
  return document.contents
}

function collectScalars(yaml: Yaml, node: unknown, path: string, values: Map<string, string>): void {
  if (yaml.isScalar(node)) {
    if (node.value !== null) values.set(path, textOf(node))
  } else if (yaml.isSeq(node)) {
    const items = node.items.flatMap((item) => (yaml.isScalar(item) && item.value !== null ? [textOf(item)] : []))
    if (items.length > 0) values.set(path, items.join(','))
  } else if (yaml.isMap(node)) {
    for (const pair of node.items) {
      const key = yaml.isScalar(pair.key) ? String(pair.key.value) : ''
      collectScalars(yaml, pair.value, path === '' ? key : `${path}.${key}`, values)
    }
  }
}

/** As written, where a type would change it: `0x10` and `1e3` stay texts for the option's own parser. */
function textOf(scalar: Scalar): string {
  return typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? JSON.stringify(scalar.value))
}
