/**
 * One file as a document to import.
 * - Markdown: the bytes of the file, including frontmatter unless stripping is requested; a file that an
 *   export wrote contains its own key and language (exported_file.ts). Nothing is added.
 * - MDX: its prose, behind its frontmatter.
 * - Other formats: what src/conversion makes of them, and metadata that says which file it was.
 */
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { ConversionRefused } from '../../conversion/conversion_refused.js'
import { CONVERSION_FILE_BYTES_MAX, type ConverterPool } from '../../conversion/converter_pool.js'
import { type FileFormat, formatOf, MDX, uploadFacts } from '../../conversion/formats.js'
import { readFrontmatter } from '../../conversion/frontmatter.js'
import { mdxProse } from '../../conversion/mdx/prose.js'
import { decodeText, fenced, isBinary } from '../../conversion/text_files.js'
import { MIB } from '../../limits/units.js'
import { documentItem, type ItemOrigin, type SourceItem } from './document.js'
import { readExportedFile } from './exported_file.js'
import { type LangFrom, languageIn, placeInLanguage } from './languages.js'

/** Bytes of a text file to be imported: a document, and the block that an export adds in front of it. */
const IMPORT_FILE_BYTES_MAX = 17 * MIB

export interface FileOptions {
  readonly lang: string
  readonly stripFrontmatter: boolean
  /** Default: no file says its language. */
  readonly langFrom?: LangFrom
}

const MARKDOWN = /\.(?:md|markdown)$/i
const MDX_NAME = /\.mdx$/i

export const isMarkdown = (name: string): boolean => MARKDOWN.test(name)
const importFormatOf = (name: string): FileFormat | typeof MDX | undefined => (MDX_NAME.test(name) ? MDX : formatOf(name))

/** The name or the path without its extension, or undefined if it is of no format. */
export function documentStem(name: string): string | undefined {
  return isMarkdown(name) || importFormatOf(name) !== undefined ? name.slice(0, name.lastIndexOf('.')) : undefined
}

/** Where the bytes of a file are. */
export interface FileContent {
  /** @throws Error if it has more bytes */
  bytes(bytesMax: number): Promise<Uint8Array>
  /** A file that has the bytes, until the next call. @throws Error if it has more bytes */
  path(bytesMax: number): Promise<string>
}

const onDisk = (file: string): FileContent => ({
  async bytes(bytesMax) {
    const { size } = await stat(file)
    if (size > bytesMax) throw new Error(`${size} bytes, more than a document may have (${bytesMax})`)
    return await readFile(file)
  },
  // Its size is checked by who converts it.
  path: () => Promise.resolve(file),
})

/** As `readDocument`, of a file on disk. */
export function readDocumentFile(file: string, origin: ItemOrigin, options: FileOptions, pool: ConverterPool): Promise<SourceItem> {
  return readDocument(onDisk(file), origin, options, pool)
}

/** The name says the format. Never rejects: what goes wrong is the problem of the file. */
export async function readDocument(
  content: FileContent,
  origin: ItemOrigin,
  options: FileOptions,
  pool: ConverterPool,
): Promise<SourceItem> {
  const { name } = origin
  const format = isMarkdown(name) ? undefined : importFormatOf(name)
  // A markdown file may name its key itself (exported_file.ts).
  const known = format === undefined ? {} : { key: placeOf(origin, options).key }
  try {
    if (format?.kind === 'converted') return await convertedItem(content, origin, options, format, pool)
    const bytes = await content.bytes(IMPORT_FILE_BYTES_MAX)
    return format === undefined ? markdownItem(bytes, origin, options) : textItem(bytes, origin, options, format)
  } catch (error) {
    const isNamed = error instanceof ConversionRefused
    return {
      kind: 'problem',
      ...origin,
      ...known,
      problem: isNamed ? `not converted: ${error.message}` : error instanceof Error ? error.message : String(error),
    }
  }
}

function markdownItem(bytes: Uint8Array, origin: ItemOrigin, options: FileOptions): SourceItem {
  const text = decodeUtf8(bytes)
  if (text === undefined) return { kind: 'problem', ...origin, problem: 'not valid UTF-8' }
  const exported = readExportedFile(text)
  return exported === undefined ? storedItem(text, {}, origin, options) : documentItem(exported, origin)
}

function textItem(bytes: Uint8Array, origin: ItemOrigin, options: FileOptions, format: FileFormat | typeof MDX): SourceItem {
  if (isBinary(bytes)) return { kind: 'problem', ...origin, key: placeOf(origin, options).key, problem: 'binary data, no text' }
  const text = decodeText(bytes)
  if (format.kind === 'prose') return storedItem(text, uploadFacts(basename(origin.name), format), origin, options, mdxProse)
  if (format.kind === 'stored') return storedItem(text, uploadFacts(basename(origin.name), format), origin, options)
  return documentItem(
    { ...placeOf(origin, options), meta: uploadFacts(basename(origin.name), format), contentMd: fenced(text, format.name) },
    origin,
  )
}

/** @param convert what becomes of the text behind the frontmatter */
function storedItem(
  text: string,
  facts: Readonly<Record<string, string[]>>,
  origin: ItemOrigin,
  options: FileOptions,
  convert = (body: string): string => body,
): SourceItem {
  const { meta, bodyOffset, problem } = readFrontmatter(text)
  const body = convert(text.slice(bodyOffset))
  const contentMd = options.stripFrontmatter ? body : text.slice(0, bodyOffset) + body
  const place = placeOf(origin, options)
  const lang = (options.langFrom === 'frontmatter' ? languageIn(meta) : undefined) ?? place.lang
  return documentItem({ ...place, lang, meta: { ...meta, ...facts }, contentMd }, origin, problem)
}

async function convertedItem(
  content: FileContent,
  origin: ItemOrigin,
  options: FileOptions,
  format: FileFormat & { kind: 'converted' },
  pool: ConverterPool,
): Promise<SourceItem> {
  const path = await content.path(CONVERSION_FILE_BYTES_MAX)
  const { markdown } = await pool.convert({ path, format: format.name, textOnly: false })
  return documentItem({ ...placeOf(origin, options), meta: uploadFacts(basename(origin.name), format), contentMd: markdown }, origin)
}

function placeOf({ name }: ItemOrigin, { lang, langFrom }: FileOptions): { key: string; lang: string } {
  const key = documentStem(name) ?? name
  return (langFrom === 'folder' ? placeInLanguage(key) : undefined) ?? { key, lang }
}

/**
 * Returns undefined if the bytes are not UTF-8. A byte order mark is kept: the stored text equals the file.
 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined // A fatal decoder throws only if the bytes are invalid.
  }
}
