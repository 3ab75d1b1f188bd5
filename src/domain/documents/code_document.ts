/**
 * Determines which documents are source code. Their content is analysed as identifiers instead of prose.
 * Writes, rebuilds, replays, rechecks and highlights share this rule. Pure, any thread. Rules: service-1,
 * "Code documents", and docs/decisions/search/text-analysis.md.
 */
import type { Metadata } from './metadata.js'

/** Source language by extension. */
const LANGUAGES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    html: 'html htm',
    css: 'css',
    scss: 'scss',
    sass: 'sass',
    less: 'less',
    javascript: 'js mjs cjs jsx',
    typescript: 'ts mts cts tsx',
    json: 'json',
    yaml: 'yaml yml',
    toml: 'toml',
    go: 'go',
    python: 'py',
    ruby: 'rb',
    php: 'php',
    rust: 'rs',
    java: 'java',
    shell: 'sh bash',
    sql: 'sql',
    xml: 'xml',
    svg: 'svg',
  }).flatMap(([language, extensions]) => extensions.split(' ').map((extension) => [extension, language] as const)),
)

/** The inputs of the decision: the first values of some metadata keys, and the key of the document. */
export interface CodeMarks {
  readonly key: string
  readonly kind: string | undefined
  readonly language: string | undefined
  readonly path: string | undefined
}

/** @param meta of the document: keys with their values */
export function codeMarksOf(key: string, meta: Metadata['values']): CodeMarks {
  let kind: string | undefined
  let language: string | undefined
  let path: string | undefined
  for (const [name, [first]] of meta) {
    if (name === 'kind') kind = first
    else if (name === 'language') language = first
    else if (name === 'path') path = first
  }
  return { key, kind, language, path }
}

/** `kind` decides if it is set. Otherwise the extension of the path or of the key decides. */
export function isCodeDocument(marks: CodeMarks): boolean {
  return marks.kind === undefined ? languageOfNames(marks) !== undefined : marks.kind === 'code'
}

/** Source language of a code document. Undefined if it cannot be determined. */
export function codeLanguage(marks: CodeMarks): string | undefined {
  return marks.language ?? languageOfNames(marks)
}

function languageOfNames({ key, path }: CodeMarks): string | undefined {
  return (path === undefined ? undefined : languageByExtension(path)) ?? languageByExtension(key)
}

/**
 * The extension is the part after the last dot of the last path segment, case-insensitive. A name that
 * consists only of an extension (`.json`) has none.
 */
function languageByExtension(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot > 0 ? LANGUAGES.get(name.slice(dot + 1).toLowerCase()) : undefined
}
