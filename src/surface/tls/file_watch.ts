/**
 * Detects changes of files: new contents, replacement by a rename, and a symbolic link in their path that
 * points elsewhere. It watches the folders of the files and of the links, because the watch of a file ends
 * with the file. Some file systems report no changes, so the owner also polls. Front-end thread.
 */
import { type FSWatcher, lstatSync, readlinkSync, statSync, watch } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Folders watched at once: those of three files, each behind at most three symbolic links. */
const TLS_FOLDERS_WATCHED_MAX = 12

export class FileWatch {
  readonly #paths: readonly string[]
  readonly #onHint: () => void
  readonly #watchers = new Map<string, FSWatcher>()
  #signature = ''

  /** @param onHint called when something in one of the folders has changed, perhaps another file */
  constructor(paths: readonly string[], onHint: () => void) {
    this.#paths = paths.filter((path) => path !== '')
    this.#onHint = onHint
  }

  /** Whether a file is not what it was at the last call. Watches the folders in which the files are now. */
  haveChanged(): boolean {
    this.#watchFolders()
    const signature = this.#paths.map(signatureOf).join('\n')
    const hasChanged = signature !== this.#signature
    this.#signature = signature
    return hasChanged
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #watchFolders(): void {
    const folders = new Set(this.#paths.flatMap(foldersTo).slice(0, TLS_FOLDERS_WATCHED_MAX))
    for (const folder of this.#watchers.keys()) if (!folders.has(folder)) this.#end(folder)
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#begin(folder)
  }

  #begin(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#onHint())
      watcher.on('error', () => this.#end(folder))
      this.#watchers.set(folder, watcher)
    } catch {
      // The folder does not exist, or the system has no watch left: the next question sees the change.
    }
  }

  #end(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }
}

/** The folders of the symbolic links on the way to the file, and that of the file itself. */
function foldersTo(path: string): readonly string[] {
  const folders: string[] = []
  let at = resolve(path)
  for (let link = linkIn(at); link !== null && folders.length < TLS_FOLDERS_WATCHED_MAX; link = linkIn(at)) {
    folders.push(dirname(link.path))
    at = resolve(dirname(link.path), link.target) + at.slice(link.path.length)
  }
  return [...folders, dirname(at)]
}

/** The last symbolic link in the path. Null: there is none that can be read. */
function linkIn(path: string): { readonly path: string; readonly target: string } | null {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    try {
      if (lstatSync(at).isSymbolicLink()) return { path: at, target: readlinkSync(at) }
    } catch {
      // Its folder may exist.
    }
  }
  return null
}

function signatureOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}
