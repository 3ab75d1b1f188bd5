/**
 * Converts a document to a markdown file and back: `mds export --git` writes such files, and `mds import`
 * recognizes them by their first entry. The file begins with a block of YAML that any frontmatter reader
 * accepts. Each entry is one line: a quoted key and a list of quoted strings. The first entries are
 * `"mds:key"` and `"mds:lang"`, then follows the metadata. The rest of the file is the unchanged content,
 * even if that has frontmatter of its own. Described in docs/guides/command-line.md. Pure.
 */
import type { ImportDocument } from './document.js'

type Meta = Readonly<Record<string, readonly string[]>>

interface ExportedDocument {
  readonly key: string
  readonly lang: string
  readonly meta: Meta
  readonly contentMd: string
}

const FENCE = '---\n'
const KEY = 'mds:key'
const LANG = 'mds:lang'
/** Prepended to a metadata key that begins with the prefix of our own keys. */
const OWN = 'mds:'
const ESCAPED = 'mds:meta:'
/** YAML limits single-line keys without a `?` indicator to 1 024 characters. */
const PLAIN_KEY_CHARACTERS_MAX = 1000

export function writeExportedFile({ key, lang, meta, contentMd }: ExportedDocument): string {
  const entries: (readonly [string, readonly string[]])[] = [
    [KEY, [key]],
    [LANG, [lang]],
    ...Object.entries(meta).map(([name, values]) => [name.startsWith(OWN) ? ESCAPED + name : name, values] as const),
  ]
  return `${FENCE}${entries.map(writeEntry).join('')}${FENCE}${contentMd}`
}

function writeEntry([name, values]: readonly [string, readonly string[]]): string {
  const key = quoted(name)
  const list = `[${values.map(quoted).join(', ')}]`
  return key.length > PLAIN_KEY_CHARACTERS_MAX ? `? ${key}\n: ${list}\n` : `${key}: ${list}\n`
}

/** A JSON string is a double-quoted YAML string, once the characters that YAML cannot print are escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/**
 * Returns undefined if no export wrote the file, or if its block was changed so that it cannot be read line
 * by line. Such a file is imported like any other.
 */
export function readExportedFile(text: string): ImportDocument | undefined {
  if (!text.startsWith(`${FENCE}"${KEY}": `)) return undefined
  const entries = new Map<string, readonly string[]>()
  let at = FENCE.length
  while (!text.startsWith(FENCE, at)) {
    const end = endOfEntry(text, at)
    const entry = readEntry(text.slice(at, end))
    if (end <= at || entry === undefined) return undefined
    entries.set(...entry)
    at = end
  }
  const [key, lang] = [entries.get(KEY)?.[0], entries.get(LANG)?.[0]]
  if (key === undefined || lang === undefined) return undefined
  const meta = [...entries].filter(([name]) => name !== KEY && name !== LANG)
  return {
    key,
    lang,
    // fromEntries defines own properties, so a key `__proto__` stays data.
    meta: Object.fromEntries(meta.map(([name, values]) => [name.startsWith(ESCAPED) ? name.slice(ESCAPED.length) : name, values])),
    contentMd: text.slice(at + FENCE.length),
  }
}

/** An entry is one line, or two lines if its key is long. */
function endOfEntry(text: string, begin: number): number {
  const end = text.indexOf('\n', begin) + 1
  return text.startsWith('? ', begin) && end > 0 ? text.indexOf('\n', end) + 1 : end
}

const ENTRY = /^(?:\? )?("(?:[^"\\\n]|\\.)*")\n?: (\[.*\])\n$/

function readEntry(lines: string): readonly [string, readonly string[]] | undefined {
  const [, key, list] = ENTRY.exec(lines) ?? []
  if (key === undefined || list === undefined) return undefined
  try {
    const values = JSON.parse(list) as unknown
    if (!Array.isArray(values) || values.some((value) => typeof value !== 'string')) return undefined
    return [JSON.parse(key) as string, values as string[]]
  } catch {
    // The block was edited by hand into YAML that is not JSON. The general frontmatter reader handles it.
    return undefined
  }
}
