/**
 * Which files below a folder have changed, in bursts: an editor or a checkout of git changes many at once,
 * and some editors remove a file before they write it anew. Events of the operating system, no polling. What
 * has happened to a file is not said: who asks looks at the disk. Main thread of the CLI.
 */
import { createRequire } from 'node:module'
import { basename, dirname, relative, sep } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { SourceError } from '../../files/document.js'

/** Time without a change that ends a burst. Between removal and renaming, editors need less than 50 ms. */
const QUIET_MS = 300
/** A burst ends after this time, too: a program may write without pause. */
const BURST_MS_MAX = 5_000
/** Files of one burst: 100 MB of names. */
const CHANGED_FILES_MAX = 500_000
const INDEX = 'index'
const require = createRequire(import.meta.url)

export interface Changes {
  /** Below the folder, with `/`. */
  readonly paths: ReadonlySet<string>
  /** Which files git tracks may have changed. */
  readonly isIndexChanged: boolean
}

interface Waiter {
  resolve(changes: Changes | undefined): void
  reject(cause: Error): void
}

interface WatchedFolder {
  /** Absolute. */
  readonly root: string
  /** By path below the folder. Folders that are left out are not watched. */
  readonly hasFile: (path: string) => boolean
  readonly hasFolder: (path: string) => boolean
  /** The directory of git whose index is watched. */
  readonly gitFolder: string | undefined
}

export class FolderChanges {
  readonly #folder: WatchedFolder
  readonly #watcher: FSWatcher
  #paths = new Set<string>()
  #isIndexChanged = false
  #firstMs: number | undefined
  #timer: NodeJS.Timeout | undefined
  #isDue = false
  #isEnded = false
  #error: Error | undefined
  #waiter: Waiter | undefined

  private constructor(folder: WatchedFolder) {
    this.#folder = folder
    const { watch } = require('chokidar') as typeof import('chokidar')
    this.#watcher = watch(folder.gitFolder === undefined ? folder.root : [folder.root, folder.gitFolder], {
      ignoreInitial: true,
      followSymlinks: false,
      usePolling: false,
      ignored: (path, stats) => this.#isLeftOut(path, stats?.isFile() === true),
    })
    this.#watcher.on('all', (event, path) => {
      if (event === 'add' || event === 'change' || event === 'unlink') this.#note(path)
    })
    this.#watcher.on('error', (cause) => this.#fail(cause))
  }

  /** Changes that come once this is settled are seen. @throws SourceError */
  static async open(folder: WatchedFolder): Promise<FolderChanges> {
    const changes = new FolderChanges(folder)
    try {
      await new Promise<void>((resolve, reject) => {
        changes.#watcher.once('ready', resolve)
        changes.#watcher.once('error', (cause) => reject(changes.#error ?? (cause as Error)))
      })
      return changes
    } catch (error) {
      // Open watches keep the process alive.
      await changes.close()
      throw error
    }
  }

  /**
   * The next burst, once it is over. One call at a time.
   * @returns undefined after `end`, once all is given
   */
  next(): Promise<Changes | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject }
      this.#give()
    })
  }

  /** `next` waits no longer. What has changed so far is its last burst. */
  end(): void {
    this.#isEnded = true
    this.#give()
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#watcher.close()
  }

  #isLeftOut(path: string, isFile: boolean): boolean {
    const { root, hasFile, hasFolder, gitFolder } = this.#folder
    if (path === root || path === gitFolder) return false
    if (dirname(path) === gitFolder) return basename(path) !== INDEX
    const name = this.#pathBelow(path)
    return isFile ? !hasFile(name) : !hasFolder(name)
  }

  #pathBelow(path: string): string {
    return relative(this.#folder.root, path).split(sep).join('/')
  }

  #note(path: string): void {
    if (dirname(path) === this.#folder.gitFolder) this.#isIndexChanged = true
    else this.#paths.add(this.#pathBelow(path))
    if (this.#paths.size > CHANGED_FILES_MAX) return this.#fail(new Error(`more than ${CHANGED_FILES_MAX} files have changed at once`))
    const now = performance.now()
    this.#firstMs ??= now
    clearTimeout(this.#timer)
    const left = Math.max(0, this.#firstMs + BURST_MS_MAX - now)
    this.#timer = setTimeout(() => {
      this.#isDue = true
      this.#give()
    }, Math.min(QUIET_MS, left)) // prettier-ignore
  }

  #fail(cause: unknown): void {
    const { message, code } = cause as NodeJS.ErrnoException
    const hint = code === 'ENOSPC' ? ' (the kernel permits no more watches: fs.inotify.max_user_watches)' : ''
    this.#error ??= new SourceError(`${this.#folder.root} can't be watched: ${message}${hint}`)
    this.#give()
  }

  #give(): void {
    const waiter = this.#waiter
    if (waiter === undefined) return
    const hasChanges = this.#paths.size > 0 || this.#isIndexChanged
    if (this.#error === undefined && !this.#isEnded && !(this.#isDue && hasChanges)) return
    this.#waiter = undefined
    if (this.#error !== undefined) return waiter.reject(this.#error)
    const changes = { paths: this.#paths, isIndexChanged: this.#isIndexChanged }
    clearTimeout(this.#timer)
    this.#paths = new Set()
    this.#isIndexChanged = false
    this.#isDue = false
    this.#firstMs = undefined
    waiter.resolve(hasChanges ? changes : undefined)
  }
}
