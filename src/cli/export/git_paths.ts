/**
 * Maps a document to its path in an exported repository: `{key}.{lang}.md`, with the key's slashes as folder
 * separators. Characters that a file system, git or the importer does not accept are escaped as %XX, so that
 * two documents never share a path. The document's key is stored in its own block (exported_file.ts). Pure.
 */
import { createHash } from 'node:crypto'

/** Bytes of one path segment. File systems accept 255, and a checkout adds a few for a temporary name. */
const GIT_PATH_SEGMENT_BYTES_MAX = 240

/**
 * Control characters, characters that Windows refuses (`~` occurs in its short names, such as `git~1`), the
 * escape character `%`, and lone surrogates.
 */
const UNSAFE = /[\u0000-\u001f\u007f\\:*?"<>|%~]|\p{Surrogate}/gu

export function pathOf(key: string, lang: string): string {
  const segments = key.split('/')
  const name = segments.pop() ?? ''
  const suffix = `.${escaped(lang).replace(/[./]/g, percent)}.md`
  const file = `${shortened(shownName(name), Buffer.byteLength(suffix))}${suffix}`
  return [...segments.map((segment) => shortened(folderName(segment))), file].join('/')
}

/** The importer must not skip the folder, and the folder must not be named like an exported file. */
function folderName(segment: string): string {
  return shownName(segment)
    .replace(/[. ]$/, percent)
    .replace(/\.(?=(?:md|markdown)$)/i, percent)
    .replace(/^n(?=ode_modules$)/i, percent)
}

/** The name must be neither empty nor hidden. */
function shownName(segment: string): string {
  return segment === '' ? '%' : escaped(segment).replace(/^[. ]/, percent)
}

function escaped(text: string): string {
  return text.replace(UNSAFE, percent)
}

function percent(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/**
 * Most file systems allow names of 255 bytes. A longer name is truncated, and part of its hash keeps it
 * distinct.
 */
function shortened(name: string, suffixBytes = 0): string {
  const bytes = Buffer.from(name)
  if (bytes.length + suffixBytes <= GIT_PATH_SEGMENT_BYTES_MAX) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16)
  const kept = bytes.subarray(0, GIT_PATH_SEGMENT_BYTES_MAX - suffixBytes - hash.length - 1).toString('utf8')
  // Removes a character that was cut at the end.
  return `${kept.replace(/\ufffd+$/, '')}%${hash}`
}

/** Quoted as `git fast-import` requires. */
export function quotedPath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`
}
