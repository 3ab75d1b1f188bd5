/**
 * Where a document lies in an exported repository: `{key}.{lang}.md`, the key's slashes being folders. What a
 * file system, git or the importer does not take as it is stands as %XX, so that two documents never share a
 * path; the document's own block says what it is called (exported_file.ts). Pure.
 */
import { createHash } from 'node:crypto'
import { GIT_PATH_SEGMENT_BYTES_MAX } from '../limits/cli.js'

/**
 * Control characters, what Windows refuses (`~` is in its short names, of which `git~1` is one), the mark of
 * the escapes, and lone surrogates.
 */
const UNSAFE = /[\u0000-\u001f\u007f\\:*?"<>|%~]|\p{Surrogate}/gu

export function pathOf(key: string, lang: string): string {
  const segments = key.split('/')
  const name = segments.pop() ?? ''
  const suffix = `.${escaped(lang).replace(/[./]/g, percent)}.md`
  const file = `${shortened(shownName(name), Buffer.byteLength(suffix))}${suffix}`
  return [...segments.map((segment) => shortened(folderName(segment))), file].join('/')
}

/** No folder is left out by the importer, or named like a file of ours. */
function folderName(segment: string): string {
  return shownName(segment)
    .replace(/[. ]$/, percent)
    .replace(/\.(?=(?:md|markdown)$)/i, percent)
    .replace(/^n(?=ode_modules$)/i, percent)
}

/** Neither empty nor hidden. */
function shownName(segment: string): string {
  return segment === '' ? '%' : escaped(segment).replace(/^[. ]/, percent)
}

function escaped(text: string): string {
  return text.replace(UNSAFE, percent)
}

function percent(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** Most file systems take names of 255 bytes. What is longer is told apart by a part of its hash. */
function shortened(name: string, suffixBytes = 0): string {
  const bytes = Buffer.from(name)
  if (bytes.length + suffixBytes <= GIT_PATH_SEGMENT_BYTES_MAX) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16)
  const kept = bytes.subarray(0, GIT_PATH_SEGMENT_BYTES_MAX - suffixBytes - hash.length - 1).toString('utf8')
  // A character that was cut in two at the end.
  return `${kept.replace(/\ufffd+$/, '')}%${hash}`
}

/** As `git fast-import` reads it. */
export function quotedPath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`
}
