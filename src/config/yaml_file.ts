/**
 * Reads the configuration file: its scalars as strings, by dotted path. The file is untrusted: its size and
 * aliases are bounded, and it is read with the core schema. The parser is loaded only if there is a file,
 * because it takes 40 ms, a tenth of a start. Main thread, at start.
 */
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Document, Scalar } from 'yaml'
import { YAML_ALIASES_MAX } from '../limits/process.js'
import { KIB } from '../limits/units.js'
import { ConfigError } from './sources.js'

/** Bytes of a configuration file. The largest sensible one is under 10 KB. */
const CONFIG_FILE_BYTES_MAX = 256 * KIB

type Yaml = typeof import('yaml')

/**
 * Returns the scalars of the file by dotted path. Scalars of a list are joined by commas; a map or a list in
 * a list is named by its position, as in `auth[0].enabled`. Keys at the top that begin with `x-` are not
 * read: they are for anchors.
 * @throws ConfigError
 */
export function readYaml(path: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const yaml = createRequire(import.meta.url)('yaml') as Yaml
  const document = parseYaml(yaml, path, readBounded(path))
  if (document.contents !== null && !yaml.isMap(document.contents) && !isEmpty(yaml, document.contents))
    throw new ConfigError(`${path}: a map of keys expected`)
  collectScalars({ yaml, document, values }, document.contents, '', [])
  return values
}

/**
 * Returns the file as a value: maps as objects, of which the keys are strings.
 * @throws ConfigError
 */
export function readYamlValue(path: string): unknown {
  const yaml = createRequire(import.meta.url)('yaml') as Yaml
  return parseYaml(yaml, path, readBounded(path)).toJS({ maxAliasCount: YAML_ALIASES_MAX }) as unknown
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

function parseYaml({ parseDocument }: Yaml, path: string, text: string): Document {
  const document = parseDocument(text, { schema: 'core', stringKeys: true, prettyErrors: true })
  const problem = document.errors[0]
  if (problem !== undefined) throw new ConfigError(`${path}: ${problem.message.split('\n')[0] ?? 'not YAML'}`)
  // toJS is called because it refuses an alias bomb. Its result is not used: the document keeps the source
  // text of scalars, which a type would lose.
  try {
    document.toJS({ maxAliasCount: YAML_ALIASES_MAX })
  } catch (cause) {
    throw new ConfigError(`${path}: ${(cause as Error).message}`)
  }
  return document
}

interface Collection {
  readonly yaml: Yaml
  readonly document: Document
  readonly values: Map<string, string>
}

function collectScalars(collection: Collection, node: unknown, path: string, ancestors: readonly unknown[]): void {
  const { yaml, values } = collection
  const target = targetOf(collection, node)
  if (ancestors.includes(target)) throw new ConfigError(`${path} in the configuration file contains itself`)
  if (yaml.isScalar(target)) {
    if (target.value !== null) values.set(path, textOf(target))
  } else if (yaml.isSeq(target)) {
    const items = target.items.map((item) => targetOf(collection, item))
    const texts = items.flatMap((item) => (yaml.isScalar(item) && item.value !== null ? [textOf(item)] : []))
    if (texts.length > 0) values.set(path, texts.join(','))
    for (const [at, item] of items.entries())
      if (!yaml.isScalar(item)) collectScalars(collection, item, `${path}[${at}]`, [...ancestors, target])
  } else if (yaml.isMap(target)) {
    for (const pair of target.items) {
      const key = yaml.isScalar(pair.key) ? String(pair.key.value) : ''
      if (path === '' && key.startsWith('x-')) continue
      collectScalars(collection, pair.value, path === '' ? key : `${path}.${key}`, [...ancestors, target])
    }
  }
}

function isEmpty({ isScalar }: Yaml, node: unknown): boolean {
  return isScalar(node) && node.value === null
}

/** Resolves an alias. */
function targetOf({ yaml, document }: Collection, node: unknown): unknown {
  return yaml.isAlias(node) ? node.resolve(document) : node
}

/**
 * Returns the source text if a type would change it: `0x10` and `1e3` stay strings for the option's own
 * parser.
 */
function textOf(scalar: Scalar): string {
  return typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? JSON.stringify(scalar.value))
}
