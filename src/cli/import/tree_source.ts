/**
 * An import source for a folder of files, or one file, of the formats of src/conversion/formats.ts.
 * - Key: the path relative to the folder, with `/` as separator, without the extension.
 * - Content: that of document_file.ts.
 * - Order: sorted path segments, so that a position is simply the last path.
 * - Hidden entries, `node_modules` and symbolic links are skipped; with `--git` also what is not tracked.
 */
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ConverterPool } from '../../conversion/converter_pool.js'
import { chooseFiles, type FileChoice } from '../files/chosen_files.js'
import type { ImportSource, SourceItem, SourcePoint } from '../files/document.js'
import { SourceError } from '../files/document.js'
import { documentStem, type FileOptions, isMarkdown, readDocumentFile } from '../files/document_file.js'
import { trackedFiles } from './tracked_files.js'

/** Files that are read while one is passed on: as many as are converted at once. */
const FILES_READ_AHEAD = 2

interface FoundFile {
  /** Relative to the folder. */
  readonly path: string
  /** Why it is not imported. */
  readonly problem?: string
}

/** Which files and folders are read, by their path below the folder of the import. */
export interface TreeChoice {
  readonly hasFile: (path: string) => boolean
  readonly hasFolder: (path: string) => boolean
  /** With `--git`: every file that is tracked. */
  readonly tracked?: ReadonlySet<string>
}

interface TreeOptions extends FileOptions, FileChoice {
  /** Only files that git tracks. */
  readonly git?: boolean
}

/** Counts the files first, which takes about 10 us each, so that progress can be shown. */
export async function openTree(root: string, options: TreeOptions): Promise<ImportSource> {
  const absolute = resolve(root)
  const choice = await chooseTree(absolute, options)
  let total = 0
  for await (const _file of walk(absolute, '', [], choice)) total += 1
  return {
    total,
    isOfFiles: true,
    fingerprint: `tree ${absolute}`,
    items: (after) => readFiles(absolute, walk(absolute, '', after?.position.split('/') ?? [], choice), after, options),
  }
}

/** Of the files of a folder, those of `paths` that are there. */
export function openChanged(root: string, paths: ReadonlySet<string>, choice: TreeChoice, options: FileOptions): ImportSource {
  const absolute = resolve(root)
  return {
    total: paths.size,
    isOfFiles: true,
    fingerprint: `changed ${absolute}`,
    items: () => readFiles(absolute, findChanged(absolute, paths, choice), undefined, options),
  }
}

/** What an import of the folder reads, as its choice is now. @throws SourceError */
export async function chooseTree(root: string, options: TreeOptions): Promise<TreeChoice> {
  const isChosen = chooseFiles(options)
  if (options.git !== true) return { hasFile: isChosen, hasFolder: () => true }
  const { files, folders } = await trackedFiles(root)
  return { hasFile: (path) => files.has(path) && isChosen(path), hasFolder: (path) => folders.has(path), tracked: files }
}

/** One file, whose key is its name without the extension. */
export function openFile(path: string, options: FileOptions): ImportSource {
  const absolute = resolve(path)
  const name = basename(absolute)
  return {
    total: 1,
    fingerprint: `file ${absolute}`,
    items: (after) => readFiles(dirname(absolute), after?.position === name ? [] : [{ path: name }], after, options),
  }
}

async function* readFiles(
  root: string,
  files: AsyncIterable<FoundFile> | Iterable<FoundFile>,
  after: SourcePoint | undefined,
  options: FileOptions,
): AsyncGenerator<SourceItem> {
  const pool = new ConverterPool()
  try {
    const pending: Promise<SourceItem>[] = []
    let consumed = after?.consumed ?? 0
    for await (const { path, problem } of files) {
      consumed += 1
      const origin = { name: path, position: path, consumed }
      if (problem === undefined) pending.push(readDocumentFile(join(root, path), origin, options, pool))
      else pending.push(Promise.resolve({ kind: 'problem', ...origin, problem, key: documentStem(path) ?? path }))
      if (pending.length > FILES_READ_AHEAD) yield await pending.shift()!
    }
    for (const item of pending) yield await item
  } finally {
    pool.close()
  }
}

/** Only files after `after`, which is given as segments. */
async function* walk(root: string, folder: string, after: readonly string[], choice: TreeChoice): AsyncGenerator<FoundFile> {
  const { entries, find } = await readFolder(root, folder, choice).catch((cause: unknown) => {
    throw new SourceError(`cannot read folder ${join(root, folder)}`, { cause })
  })
  for (const entry of entries) {
    const first = after[0]
    if (first !== undefined && compareText(entry.name, first) < 0) continue
    const isOnPath = first !== undefined && entry.name === first
    if (entry.isDirectory()) {
      const path = pathOf(folder, entry.name)
      if (choice.hasFolder(path)) yield* walk(root, path, isOnPath ? after.slice(1) : [], choice)
    } else if (!isOnPath) {
      const found = find(entry.name)
      if (found !== undefined) yield found
    }
  }
}

/** The files of `paths` that are there, and those that have got the key of one that is not. */
async function* findChanged(root: string, paths: ReadonlySet<string>, choice: TreeChoice): AsyncGenerator<FoundFile> {
  const stems = new Set([...paths].map((path) => documentStem(path)))
  const folders = new Set([...paths].map((path) => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '')))
  for (const folder of [...folders].sort(compareText)) {
    const { entries, find } = await readFolder(root, folder, choice).catch((cause: NodeJS.ErrnoException) => {
      // A folder that is not there has no files. Of another one it is not known what it has.
      if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return { entries: [], find: () => undefined }
      throw new SourceError(`cannot read folder ${join(root, folder)}`, { cause })
    })
    for (const { name } of entries) {
      const path = pathOf(folder, name)
      const found = paths.has(path) || stems.has(documentStem(path)) ? find(name) : undefined
      if (found !== undefined && (found.problem === undefined || paths.has(path))) yield found
    }
  }
}

interface FolderFiles {
  readonly entries: readonly Dirent[]
  /** Undefined for what is not imported. */
  readonly find: (name: string) => FoundFile | undefined
}

async function readFolder(root: string, folder: string, choice: TreeChoice): Promise<FolderFiles> {
  const all = await readdir(join(root, folder), { withFileTypes: true })
  const entries = all.filter(({ name }) => !isLeftOut(name)).sort((a, b) => compareText(a.name, b.name))
  const files = entries.filter((entry) => entry.isFile() && choice.hasFile(pathOf(folder, entry.name)))
  const chosen = new Set(files.map(({ name }) => name))
  const owners = ownersOf([...chosen])
  const find = (name: string): FoundFile | undefined => {
    const stem = documentStem(name)
    if (stem === undefined || !chosen.has(name)) return undefined
    const owner = owners.get(stem)
    const path = pathOf(folder, name)
    return owner === name || isMarkdown(name) ? { path } : { path, problem: `its key is that of ${owner}` }
  }
  return { entries, find }
}

const pathOf = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/** Whatever is chosen. @param name of a file or a folder */
export const isLeftOut = (name: string): boolean => name.startsWith('.') || name === 'node_modules'

/** By the name without extension, the file that gets the key: a markdown file, else the first one. */
export function ownersOf(names: readonly string[]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>()
  for (const name of names) {
    const stem = documentStem(name)
    if (stem !== undefined && (!owners.has(stem) || (isMarkdown(name) && !isMarkdown(owners.get(stem)!)))) owners.set(stem, name)
  }
  return owners
}

/** Compares by UTF-16 code units, which is independent of the machine's locale. */
function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
