/**
 * Reads the frontmatter of a markdown file, YAML or TOML, as flat metadata. Every value is a list of strings;
 * nested maps and lists of maps become dotted keys (`faq.0.question`). Scalars keep the text of the file
 * (`1.10` stays `1.10`). Nulls and empty collections are omitted. Pure. The parser is loaded on first use,
 * because it takes 40 ms, a third of a command.
 */
import { createRequire } from 'node:module'
import type { YAMLMap } from 'yaml'
import { YAML_ALIASES_MAX } from '../limits/process.js'
import { KIB } from '../limits/units.js'
import { parseTomlBlock } from './toml_block.js'

/** Bytes of one YAML frontmatter block. The largest seen in real trees are under 20 KB. */
export const FRONTMATTER_BYTES_MAX = 256 * KIB
/**
 * Nesting of frontmatter. Each level becomes a part of a metadata key, and keys have at most
 * META_KEY_BYTES_MAX.
 */
export const FRONTMATTER_DEPTH_MAX = 32

export interface Frontmatter {
  readonly meta: Readonly<Record<string, string[]>>
  /** Index of the body in the text: after the closing line, or 0 if there is no frontmatter. */
  readonly bodyOffset: number
  /** Why a block that looks like frontmatter yielded no metadata. */
  readonly problem?: string
}

const OPENING = /^\uFEFF?(---|\+\+\+)[ \t]*\r?\n/
const CLOSING = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/gm
const CLOSING_TOML = /^\+\+\+[ \t]*(?:\r?\n|$)/gm
/** Every level of nesting is one entry. The document and a scalar at the end are the other two. */
const PARSER_STACK_MAX = FRONTMATTER_DEPTH_MAX + 2
const require = createRequire(import.meta.url)
const NONE: Frontmatter = { meta: {}, bodyOffset: 0 }

/**
 * A thematic break at the top of a file is not frontmatter: the block must be a YAML map. An invalid block
 * never loses the document: its body and text stay unchanged.
 */
export function readFrontmatter(text: string): Frontmatter {
  const opening = OPENING.exec(text)
  if (opening === null) return NONE
  const begin = opening[0].length
  const isToml = opening[1] === '+++'
  const end = isToml ? CLOSING_TOML : CLOSING
  end.lastIndex = begin
  const closing = end.exec(text)
  if (closing === null) return NONE
  const bodyOffset = end.lastIndex
  if (closing.index - begin > FRONTMATTER_BYTES_MAX)
    return { meta: {}, bodyOffset, problem: `frontmatter is over ${FRONTMATTER_BYTES_MAX} bytes` }
  try {
    const block = text.slice(begin, closing.index)
    const values = isToml ? parseTomlBlock(block, FRONTMATTER_DEPTH_MAX) : parseYamlBlock(block)
    return values === undefined ? NONE : { meta: flattenMetadata(values), bodyOffset }
  } catch (error) {
    // A parser's message may quote the block. Its first line contains the position.
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    return { meta: {}, bodyOffset, problem: `frontmatter: ${reason}` }
  }
}

const loadYaml = (): typeof import('yaml') => require('yaml') as typeof import('yaml')

/** Returns the block as Maps, arrays and strings, or undefined if it is not a map. */
function parseYamlBlock(block: string): Map<unknown, unknown> | undefined {
  const { isMap, parseDocument, visit } = loadYaml()
  refuseDeepNesting(block)
  // The parser's own check of duplicate keys compares all pairs: 256 KB of keys took 8 s. Its error texts
  // each quote the source: 80 000 errors took 37 s. Only one text is needed, and it is created here.
  const document = parseDocument(block, {
    schema: 'core',
    // Tags beyond the core schema (`!!binary`, `!!set`) are none: their values are what the file says.
    resolveKnownTags: false,
    logLevel: 'silent',
    uniqueKeys: false,
    prettyErrors: false,
  })
  if (document.contents === null) return new Map()
  if (!isMap(document.contents)) return undefined
  const error = document.errors[0]
  if (error !== undefined) throw new Error(`${error.message} (line ${block.slice(0, error.pos[0]).split('\n').length + 1})`)
  visit(document, {
    Map(_, node) {
      refuseDuplicateKeys(node)
    },
    Scalar(_, node) {
      if (node.value !== null && typeof node.value !== 'string' && node.source !== undefined) node.value = node.source
    },
  })
  return document.toJS({ mapAsMap: true, maxAliasCount: YAML_ALIASES_MAX }) as Map<unknown, unknown>
}

/**
 * The composer recurses. If V8 compiles a regular expression on a nearly full stack, the whole process ends
 * instead of the call. The syntax parser has an explicit stack, so the depth can be checked before anything
 * recurses.
 */
function refuseDeepNesting(block: string): void {
  const { Lexer, Parser } = loadYaml()
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(block)) {
    for (const _token of parser.next(lexeme)) continue
    if (parser.stack.length > PARSER_STACK_MAX) throw new Error(`nested deeper than ${FRONTMATTER_DEPTH_MAX} levels`)
  }
}

function refuseDuplicateKeys(map: YAMLMap): void {
  const { isScalar } = loadYaml()
  const seen = new Set<unknown>()
  for (const { key } of map.items) {
    const name = isScalar(key) ? key.value : key
    if (seen.has(name)) throw new Error(`key ${JSON.stringify(name)} is given twice`)
    seen.add(name)
  }
}

/** @throws Error if nested deeper than FRONTMATTER_DEPTH_MAX */
export function flattenMetadata(values: ReadonlyMap<unknown, unknown>): Record<string, string[]> {
  const lists = new Map<string, string[]>()
  const add = (path: string, value: string): void => {
    const list = lists.get(path)
    if (list === undefined) lists.set(path, [value])
    else list.push(value)
  }
  const walk = (path: string, value: unknown, depth: number): void => {
    if (depth > FRONTMATTER_DEPTH_MAX) throw new Error(`nested deeper than ${FRONTMATTER_DEPTH_MAX} levels`)
    if (value === null || value === undefined) return
    if (value instanceof Map) {
      for (const [key, child] of value) walk(path === '' ? String(key) : `${path}.${String(key)}`, child, depth + 1)
    } else if (Array.isArray(value)) {
      const flat = value.every((child) => !(child instanceof Map) && !Array.isArray(child))
      value.forEach((child, index) => walk(flat ? path : `${path}.${index}`, child, depth + 1))
    } else add(path, textOf(value))
  }
  walk('', values, 0)
  // fromEntries defines own properties, so a key `__proto__` stays data.
  return Object.fromEntries(lists)
}

function textOf(scalar: unknown): string {
  if (typeof scalar === 'string') return scalar
  if (typeof scalar === 'number' || typeof scalar === 'boolean' || typeof scalar === 'bigint') return String(scalar)
  throw new Error(`a value of type ${typeof scalar}`)
}
