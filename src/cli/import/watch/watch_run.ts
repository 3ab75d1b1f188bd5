/**
 * `--watch`: after an import of a folder, what changes in it is imported, and with `--sync` what is deleted
 * is removed, until SIGINT or SIGTERM; a second one ends the process at once. One burst of changes at a time.
 * Main thread of the CLI.
 */
import { realpath } from 'node:fs/promises'
import { documentStem } from '../../files/document_file.js'
import { say, sayError } from '../../terminal.js'
import type { ImportOptions } from '../import_options.js'
import { type ImportResult, runImport } from '../import_run.js'
import { prepareSource } from '../prepared_source.js'
import { formatSeconds } from '../progress.js'
import { objectionToCount, removeDocuments } from '../removals.js'
import { stillOf } from '../stored_lookups.js'
import { gitFolderOf } from '../tracked_files.js'
import { chooseTree, isLeftOut, openChanged, type TreeChoice } from '../tree_source.js'
import { type Changes, FolderChanges } from './folder_changes.js'
import { KnownFiles } from './known_files.js'

interface Counts {
  added: number
  updated: number
  removed: number
  failed: number
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
const tellWait = (reason: string): void => sayError(`waiting: ${reason}\n`)
/** A burst is small, and its files are looked at again where it was interrupted. */
const NO_STATE = { point: undefined, save: () => undefined, clear: () => undefined }
const NO_PROGRESS = { update: () => undefined, say: (line: string) => sayError(`${line}\n`), stop: () => undefined }

export class FolderWatch {
  readonly files = new KnownFiles()
  readonly #counts: Counts = { added: 0, updated: 0, removed: 0, failed: 0 }
  readonly #beginMs = Date.now()

  /** Of the last burst. */
  #choice: TreeChoice

  private constructor(
    readonly root: string,
    readonly options: ImportOptions,
    readonly changes: FolderChanges,
    choice: TreeChoice,
  ) {
    this.#choice = choice
  }

  /** Whatever changes from here on is seen. @throws SourceError */
  static async open(root: string, options: ImportOptions): Promise<FolderWatch> {
    // A link to a folder is no folder for who watches.
    const absolute = await realpath(root)
    const choice = await chooseTree(root, { ...options, git: false })
    const isShown = (path: string): boolean => !path.split('/').some(isLeftOut)
    const gitFolder = options.git ? await gitFolderOf(root) : undefined
    const changes = await FolderChanges.open({
      root: absolute,
      hasFile: (path) => isShown(path) && documentStem(path) !== undefined && choice.hasFile(path),
      hasFolder: isShown,
      gitFolder,
    })
    try {
      return new FolderWatch(absolute, options, changes, await chooseTree(root, options))
    } catch (error) {
      await changes.close()
      throw error
    }
  }

  /** @throws ImportStopped, SourceError */
  async run(): Promise<void> {
    const end = (): void => {
      for (const signal of SIGNALS) process.removeListener(signal, end)
      this.changes.end()
    }
    for (const signal of SIGNALS) process.on(signal, end)
    say(`watching ${this.root}\n`)
    for (let changes = await this.changes.next(); changes !== undefined; changes = await this.changes.next()) await this.#take(changes)
    say(`${describe(this.#counts)} since the import, watched for ${formatSeconds((Date.now() - this.#beginMs) / 1000)}\n`)
  }

  async #take({ paths, isIndexChanged }: Changes): Promise<void> {
    const { options, files } = this
    const before = this.#choice
    this.#choice = await chooseTree(this.root, options)
    const changed = isIndexChanged ? new Set([...paths, ...difference(before.tracked, this.#choice.tracked)]) : paths
    const source = prepareSource(openChanged(this.root, changed, this.#choice, options), options)
    const result = await runImport({
      source: files.watch(source, changed),
      url: options.url,
      target: { collection: options.collection, keepTimes: false },
      batchDocumentsMax: options.batch,
      concurrency: options.concurrency,
      stored: files.stored,
      state: NO_STATE,
      progress: NO_PROGRESS,
    })
    files.settle(result.failed === 0)
    this.#tell(result, await this.#remove())
  }

  async #remove(): Promise<number> {
    const { files, options } = this
    const { url, collection, sync } = options
    // Another import, or another writer, may have the key by now.
    const gone = sync === undefined ? files.gone() : await stillOf(sync, files.gone(), { url, collection, onWait: tellWait })
    const objection = sync === undefined || options.yes ? undefined : objectionToCount(gone.length, files.total)
    if (objection !== undefined) {
      sayError(`mds import: ${objection}\n`)
      return 0
    }
    if (sync !== undefined) await removeDocuments(url, collection, gone, tellWait)
    files.forgetGone()
    return sync === undefined ? 0 : gone.length
  }

  #tell({ added, updated, failed, problems, warnings }: ImportResult, removed: number): void {
    for (const line of problems) sayError(`not imported: ${line}\n`)
    for (const line of warnings) sayError(`imported without metadata: ${line}\n`)
    const counts = { added, updated, removed, failed }
    if (added + updated + removed + failed > 0) say(`${describe(counts)}\n`)
    for (const name of ['added', 'updated', 'removed', 'failed'] as const) this.#counts[name] += counts[name]
  }
}

function* difference(before: ReadonlySet<string> = new Set(), now: ReadonlySet<string> = new Set()): Generator<string> {
  for (const path of before) if (!now.has(path)) yield path
  for (const path of now) if (!before.has(path)) yield path
}

const describe = ({ added, updated, removed, failed }: Counts): string =>
  `${added} added, ${updated} updated, ${removed} removed, ${failed} failed`
