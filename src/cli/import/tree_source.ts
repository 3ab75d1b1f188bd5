/**
 * An import source for a folder of markdown files.
 * - Key: the path relative to the folder, with `/` as separator, without the extension.
 * - Content: the bytes of the file, including frontmatter unless stripping is requested.
 * - A file that an export wrote contains its own key and language (exported_file.ts).
 * - Order: sorted path segments, so that a position is simply the last path.
 * - Hidden entries, `node_modules` and symbolic links are skipped.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readFrontmatter } from '../../conversion/frontmatter.js'
import { MIB } from '../../limits/units.js'
import type { ImportSource, SourceItem } from '../files/document.js'
import { documentItem, SourceError } from '../files/document.js'
import { readExportedFile } from '../files/exported_file.js'

/** Bytes of a file to be imported: a document, and the block that an export adds in front of it. */
const IMPORT_FILE_BYTES_MAX = 17 * MIB

interface TreeOptions {
  readonly lang: string
  readonly stripFrontmatter: boolean
}

const MARKDOWN = /\.(?:md|markdown)$/i

/** Counts the files first, which takes about 10 us each, so that progress can be shown. */
export async function openTree(root: string, options: TreeOptions): Promise<ImportSource> {
  const absolute = resolve(root)
  let total = 0
  for await (const _path of walk(absolute, '', [])) total += 1
  return {
    total,
    fingerprint: `tree ${absolute}`,
    async *items(after) {
      let consumed = after?.consumed ?? 0
      for await (const path of walk(absolute, '', after?.position.split('/') ?? [])) {
        consumed += 1
        yield await readItem(absolute, path, consumed, options)
      }
    },
  }
}

/**
 * Yields the paths of markdown files, relative to `root`. Only paths after `after`, which is given as
 * segments.
 */
async function* walk(root: string, folder: string, after: readonly string[]): AsyncGenerator<string> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((cause: unknown) => {
    throw new SourceError(`cannot read folder ${join(root, folder)}`, { cause })
  })
  entries.sort((a, b) => compareText(a.name, b.name))
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const first = after[0]
    if (first !== undefined && compareText(entry.name, first) < 0) continue
    const isOnPath = first !== undefined && entry.name === first
    if (entry.isDirectory()) yield* walk(root, path, isOnPath ? after.slice(1) : [])
    else if (entry.isFile() && MARKDOWN.test(entry.name) && !isOnPath) yield path
  }
}

async function readItem(root: string, path: string, consumed: number, options: TreeOptions): Promise<SourceItem> {
  const origin = { name: path, position: path, consumed }
  try {
    const file = join(root, path)
    const { size } = await stat(file)
    if (size > IMPORT_FILE_BYTES_MAX)
      return { kind: 'problem', ...origin, problem: `${size} bytes, more than a document may have (${IMPORT_FILE_BYTES_MAX})` }
    const text = decodeUtf8(await readFile(file))
    if (text === undefined) return { kind: 'problem', ...origin, problem: 'not valid UTF-8' }
    const exported = readExportedFile(text)
    if (exported !== undefined) return documentItem(exported, origin)
    const { meta, bodyOffset, problem } = readFrontmatter(text)
    const contentMd = options.stripFrontmatter ? text.slice(bodyOffset) : text
    return documentItem({ key: path.replace(MARKDOWN, ''), lang: options.lang, meta, contentMd }, origin, problem)
  } catch (error) {
    return { kind: 'problem', ...origin, problem: error instanceof Error ? error.message : String(error) }
  }
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

/** Compares by UTF-16 code units, which is independent of the machine's locale. */
function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
