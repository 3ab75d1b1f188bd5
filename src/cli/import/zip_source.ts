/**
 * An import source for a ZIP archive of files of the formats of a folder. Its names are keys, and never
 * become a path on disk: what has to be converted is unpacked under a name of our own. One entry is in memory
 * at a time. Order: sorted names; a position is the number of a file. Main thread of the CLI.
 */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Entry, ZipFile } from 'yauzl'
import { ConverterPool } from '../../conversion/converter_pool.js'
import { unpackEntry, ZIP_RATIO_BYTES_MIN, ZIP_RATIO_MAX } from '../../conversion/unzip.js'
import { chooseFiles, type FileChoice } from '../files/chosen_files.js'
import type { ImportSource, SourceItem } from '../files/document.js'
import { SourceError } from '../files/document.js'
import { decodeUtf8, documentStem, type FileContent, type FileOptions, isMarkdown, readDocument } from '../files/document_file.js'
import { isLeftOut, ownersOf } from './tree_source.js'

/** Documents of one archive. Each takes about 1 KB until the end: 100 MB. */
const ZIP_DOCUMENTS_MAX = 100_000
/** Entries of one archive that are looked at: 10 s. */
const ZIP_LISTED_MAX = 2_000_000
/** Bits of a file's mode under Unix, and their value for a symbolic link. */
const MODE_TYPE = 0o170000
const MODE_LINK = 0o120000
const NAME = /\.zip$/i
const require = createRequire(import.meta.url)

interface ZippedFile {
  readonly name: string
  readonly entry: Entry
  /** Why it is not imported. */
  readonly problem?: string
}

export const isZip = (path: string): boolean => NAME.test(path)

/** @throws SourceError if this is no archive, or a damaged one */
export async function openZipFiles(path: string, options: FileOptions & FileChoice): Promise<ImportSource> {
  const { size, mtimeMs } = await stat(path)
  const files = await withZip(path, async (zip) => await listFiles(zip, chooseFiles(options)))
  return {
    total: files.length,
    isOfFiles: true,
    fingerprint: `zip ${resolve(path)} ${size} ${mtimeMs}`,
    async *items(after) {
      const zip = await open(path)
      const folder = await mkdtemp(join(tmpdir(), 'mds-import-'))
      const pool = new ConverterPool()
      const unpacking = new Unpacking(zip, join(folder, 'file'), size)
      try {
        for (let at = Number(after?.position ?? 0); at < files.length; at += 1) {
          yield await unpacking.read(files[at]!, at + 1, options, pool)
          if (unpacking.isBomb) throw new SourceError(`${path} grows more than ${ZIP_RATIO_MAX} times when unpacked`)
        }
      } finally {
        pool.close()
        zip.close()
        await rm(folder, { recursive: true })
      }
    },
  }
}

class Unpacking {
  /** All entries together: they may share their packed bytes. */
  #unpacked = 0

  constructor(
    readonly zip: ZipFile,
    readonly spool: string,
    readonly packedBytes: number,
  ) {}

  get isBomb(): boolean {
    return this.#unpacked > ZIP_RATIO_BYTES_MIN + this.packedBytes * ZIP_RATIO_MAX
  }

  async read({ name, entry, problem }: ZippedFile, number: number, options: FileOptions, pool: ConverterPool): Promise<SourceItem> {
    const origin = { name, position: String(number), consumed: number }
    if (problem !== undefined) return { kind: 'problem', ...origin, problem, key: documentStem(name) ?? name }
    const content: FileContent = {
      bytes: (bytesMax) => this.#unpack(entry, bytesMax),
      path: async (bytesMax) => {
        await writeFile(this.spool, await this.#unpack(entry, bytesMax))
        return this.spool
      },
    }
    return await readDocument(content, origin, options, pool)
  }

  async #unpack(entry: Entry, bytesMax: number): Promise<Buffer> {
    if (entry.isEncrypted()) throw new Error('encrypted')
    const bytes = await unpackEntry(this.zip, entry, bytesMax, bytesMax, (unpacked) => (this.#unpacked += unpacked))
    if (crc32(bytes) !== entry.crc32) throw new Error('damaged: its checksum is another')
    return bytes
  }
}

/** Names are read as bytes, so that one that is a path does not make the whole archive unreadable. */
async function open(path: string): Promise<ZipFile> {
  const { openPromise } = require('yauzl') as typeof import('yauzl')
  return await openPromise(path, { autoClose: false, lazyEntries: true, decodeStrings: false }).catch((cause: unknown) => {
    throw new SourceError(`${path} is no readable ZIP archive`, { cause })
  })
}

async function withZip<Result>(path: string, use: (zip: ZipFile) => Promise<Result>): Promise<Result> {
  const zip = await open(path)
  try {
    return await use(zip)
  } catch (cause) {
    throw new SourceError(`${path} is no readable ZIP archive`, { cause })
  } finally {
    zip.close()
  }
}

async function listFiles(zip: ZipFile, isChosen: (path: string) => boolean): Promise<readonly ZippedFile[]> {
  const found: { readonly name: string; readonly entry: Entry }[] = []
  await eachEntry(zip, (entry) => {
    const name = nameOf(entry)
    if (isLink(entry) || documentStem(name) === undefined || name.split('/').some(isShadow) || !isChosen(name)) return
    if (found.length === ZIP_DOCUMENTS_MAX) throw new Error(`more than ${ZIP_DOCUMENTS_MAX} documents`)
    found.push({ name, entry })
  })
  // Stable: of two entries with one name, the first one is imported.
  found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const { validateFileName } = require('yauzl') as typeof import('yauzl')
  const owners = ownersOf(found.map(({ name }) => name))
  return found.map((file, at) => {
    const { name } = file
    const owner = owners.get(documentStem(name)!)
    const problem =
      validateFileName(name) ??
      (found[at - 1]?.name === name ? 'another entry has the same name' : undefined) ??
      (owner === name || isMarkdown(name) ? undefined : `its key is that of ${owner}`)
    return problem === undefined ? file : { ...file, problem }
  })
}

function eachEntry(zip: ZipFile, visit: (entry: Entry) => void): Promise<void> {
  let listed = 0
  return new Promise((resolve, reject) => {
    zip.on('error', reject)
    zip.on('end', resolve)
    zip.on('entry', (entry: Entry) => {
      try {
        if (++listed > ZIP_LISTED_MAX) throw new Error(`more than ${ZIP_LISTED_MAX} entries`)
        visit(entry)
        zip.readEntry()
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
    zip.readEntry()
  })
}

/** Some programs write UTF-8 without the flag that says so. */
function nameOf(entry: Entry): string {
  const { getFileNameLowLevel } = require('yauzl') as typeof import('yauzl')
  const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry
  const name = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false)
  const isPlain = (generalPurposeBitFlag & 0x800) === 0 && extraFields.length === 0
  return isPlain ? (decodeUtf8(fileNameRaw)?.replaceAll('\\', '/') ?? name) : name
}

const isLink = ({ externalFileAttributes }: Entry): boolean => ((externalFileAttributes >>> 16) & MODE_TYPE) === MODE_LINK

/** `..` is no hidden entry, but a path out of the archive, and named. */
const isShadow = (part: string): boolean => (part !== '..' && part !== '.' && isLeftOut(part)) || part === '__MACOSX'
