/**
 * The truth store of one thread: reads use views, writes use the writer. One per thread; the threads of a
 * process share the environment. What is on disk: docs/formats/truth-env.md.
 */
import { statSync } from 'node:fs'
import type { DocumentSource, ResultPage } from '../base/document_source.js'
import { UNIX_SECONDS_MAX } from '../limits/store.js'
import { claimClockNote, log } from '../telemetry/log.js'
import { unreadableCredentials } from './collections/credential_check.js'
import { beginSealing, readSealing } from './collections/sealing_change.js'
import { readSettings, writeSetting } from './collections/stored_settings.js'
import type { StoreComparison } from './comparison/store_comparison.js'
import { DocumentCache } from './documents/document_cache.js'
import type { Environment } from './environment.js'
import { cutTail, openEnvironment, unusedBytes } from './environment.js'
import { beginEpoch, endEpoch, presentEpoch, readHistory } from './epochs.js'
import { markIndex } from './index_mark.js'
import type { ObjectSource } from './object_source.js'
import { noteAdoption } from './objects.js'
import { emptyKeyring } from './sealing/keyring.js'
import { ACCESS_SETTINGS, type AccessSetting, SERVER_SETTINGS } from './settings.js'
import { agreesWithRows } from './source_check.js'
import { View } from './view.js'
import type { WriterOptions } from './writer.js'
import { Writer } from './writer.js'

interface StoreSizes {
  /** Size of the file in bytes. */
  readonly fileBytes: number
  /** Number of transactions committed since the oldest live reader began; 0 without readers. */
  readonly oldestReaderAge: number
  readonly readers: number
}

const READ_BY_ROWS = 'documents are read without the native reader, more slowly'

export class TruthStore {
  readonly #environment: Environment
  readonly #cache: DocumentCache
  #source: DocumentSource | undefined
  #shared: View | undefined

  /**
   * @param generationPath directory of the generation to serve (layout.ts)
   * @param cacheBytesMax bytes of documents that this thread may cache
   * @param keyring of this thread
   * @param objects the cache of objects from storage backends
   * @param isReadOnly the files can't be written; no method that writes may be called
   * @param openSource opens a reader of whole documents for the env at a path, which is open
   */
  constructor(
    generationPath: string,
    cacheBytesMax = 0,
    keyring = emptyKeyring(),
    objects?: ObjectSource,
    isReadOnly = false,
    openSource?: (path: string) => DocumentSource,
  ) {
    this.#environment = openEnvironment(generationPath, keyring, objects, isReadOnly)
    this.#cache = new DocumentCache(cacheBytesMax)
    if (openSource !== undefined) this.#openSource(openSource)
  }

  /** Without it, documents are read by their rows, more slowly. */
  #openSource(open: (path: string) => DocumentSource): void {
    let source: DocumentSource | undefined
    try {
      const opened = open(this.#environment.path)
      source = opened
      if (this.read((view) => agreesWithRows(this.#environment, view, opened))) {
        this.#source = opened
        return
      }
      log.warn(READ_BY_ROWS, { reason: 'it shows another document than the rows' })
    } catch (error) {
      log.warn(READ_BY_ROWS, { reason: error })
    }
    source?.close()
  }

  /** Runs synchronous code on a new snapshot and releases the snapshot immediately. */
  read<T>(run: (view: View) => T): T {
    return this.#shared === undefined ? this.#snapshot(run) : run(this.#shared)
  }

  #snapshot<T>(run: (view: View) => T): T {
    const { root } = this.#environment
    root.resetReadTxn()
    try {
      return run(new View(this.#environment, unixSeconds(), this.#cache, this.#source))
    } finally {
      root.resetReadTxn()
    }
  }

  /**
   * Reads a whole document by its names on a snapshot of its own, by native code alone: the path of event
   * loops. See `DocumentSource.get`. 0 where the native reader is not available.
   */
  readNamed(names: string, space: Uint8Array, asksResidency: boolean): number {
    return this.#source?.get(names, unixSeconds(), space, asksResidency) ?? 0
  }

  /**
   * Writes a page of results as JSON by native code alone, on a snapshot of its own, which is the newest one.
   * See `DocumentSource.writeResults`. 0 where the native reader is not available.
   */
  writeResults(page: ResultPage, bytesMax: number, space: Uint8Array): number {
    return this.#source?.writeResults(page, bytesMax, unixSeconds(), space) ?? 0
  }

  /** Page faults of this thread that waited for the disk, since it began. */
  majorFaults(): number {
    return this.#source?.majorFaults() ?? 0
  }

  /**
   * Makes all calls of `read` inside `run` share one snapshot, taken now. For batches of point reads. Not for
   * a search, whose view must be taken after the engine's snapshot.
   */
  sharing<T>(run: () => T): T {
    return this.#snapshot((view) => {
      this.#shared = view
      try {
        return run()
      } finally {
        this.#shared = undefined
      }
    })
  }

  /** Whether reads show the snapshot of a batch, which may be older than the newest state. */
  get isSharing(): boolean {
    return this.#shared !== undefined
  }

  /**
   * One slice of a comparison of the store with itself, on its own snapshot. Runs on the write lane, whose
   * writes correct the comparison.
   * @returns whether something is left
   */
  compare(comparison: StoreComparison): boolean {
    const { root } = this.#environment
    root.resetReadTxn()
    let isMore = true
    try {
      isMore = comparison.step(this.#environment)
    } catch (error) {
      // A TypeError is a programming error, not damage.
      if (error instanceof TypeError) throw error
      isMore = comparison.skip(error instanceof Error ? error.message : String(error))
    } finally {
      root.resetReadTxn()
    }
    if (!isMore) this.#environment.lost.collections = undefined
    return isMore
  }

  /** For the write lane only: there is one writer per process. */
  openWriter(options: WriterOptions): Writer {
    cutTail(this.#environment)
    return new Writer(this.#environment, options)
  }

  /**
   * For the write lane, before anything else (src/store/collections/sealing_change.ts).
   * @returns ids of the collections whose documents must not be stored as plaintext
   * @throws SealingRefused
   */
  beginSealing(): number[] {
    return beginSealing(this.#environment)
  }

  /** Like `beginSealing`, for a read-only store. */
  readSealing(): number[] {
    return readSealing(this.#environment)
  }

  /** Like `beginEpoch`, for a read-only store. */
  history(): Buffer {
    return readHistory(this.#environment)
  }

  /** Names the credentials that no key opens, in one line for the log. Undefined if there are none. */
  unreadableCredentials(): string | undefined {
    return unreadableCredentials(this.#environment)
  }

  /** For the write lane, before its first group (src/store/epochs.ts). */
  beginEpoch(): Promise<Buffer> {
    return beginEpoch(this.#environment)
  }

  /**
   * For the write lane, before its first group (src/store/index_mark.ts). The mark is on disk when the
   * promise resolves.
   */
  async markIndex(isIncomplete: boolean): Promise<void> {
    const { root } = this.#environment
    root.transactionSync(() => markIndex(this.#environment, isIncomplete))
    await root.flushed
  }

  /** For the write lane, before a restored store replaces the served one (src/store/objects.ts). */
  noteAdoption(): void {
    this.#environment.root.transactionSync(() => noteAdoption(this.#environment, unixSeconds()))
  }

  /**
   * For the write lane, before a restored store replaces the served one: the accounts of that one replace its
   * own. They are on disk when the promise resolves.
   */
  async takeAccounts(from: TruthStore): Promise<void> {
    const { root } = this.#environment
    const taken = from.read((view) => ACCESS_SETTINGS.map((kind) => [kind, view.settings(SERVER_SETTINGS, kind)] as const))
    root.transactionSync(() => {
      for (const [kind, rows] of taken) {
        for (const [id] of readSettings(this.#environment, SERVER_SETTINGS, kind))
          writeSetting(this.#environment, SERVER_SETTINGS, kind, id, null)
        for (const [id, value] of rows) writeSetting(this.#environment, SERVER_SETTINGS, kind, id, JSON.stringify(value))
      }
    })
    await root.flushed
  }

  /** The same, for single rows of the accounts that it has. */
  async putAccounts(rows: readonly { readonly setting: AccessSetting; readonly id: string; readonly value: unknown }[]): Promise<void> {
    const { root } = this.#environment
    root.transactionSync(() => {
      for (const { setting, id, value } of rows) writeSetting(this.#environment, SERVER_SETTINGS, setting, id, JSON.stringify(value))
    })
    await root.flushed
  }

  /** For the write lane, after its last group is on disk. */
  endEpoch(): void {
    endEpoch(this.#environment)
  }

  /**
   * Copies the env as it is now to `path`, compacted, while others read and write. Runs on a separate thread.
   * The snapshot is held for that time, so the file grows by what is written meanwhile.
   */
  async copyTo(path: string): Promise<void> {
    await this.#environment.root.backup(path, true)
  }

  presentEpoch(): Buffer {
    return presentEpoch(this.#environment)
  }

  sizes(): StoreSizes {
    const { root, path } = this.#environment
    const stats = root.getStats() as { lastTxnId?: number }
    const readers = parseReaders(root.readerList())
    const last = stats.lastTxnId ?? 0
    const oldest = readers.length === 0 ? last : Math.min(...readers)
    return {
      fileBytes: statSync(path).size,
      oldestReaderAge: Math.max(0, last - oldest),
      readers: readers.length,
    }
  }

  /**
   * Unused bytes of the file. This amount can be written without the file growing, except for pages that
   * readers still use and for long runs of pages. Takes about 30 calls of LMDB.
   */
  unusedBytes(): number {
    const { root } = this.#environment
    root.resetReadTxn()
    try {
      return unusedBytes(this.#environment)
    } finally {
      root.resetReadTxn()
    }
  }

  /** The source reads by the env, so it is closed first. */
  async close(): Promise<void> {
    this.#source?.close()
    this.#source = undefined
    await this.#environment.root.close()
  }
}

let isClockNoted = false

/**
 * The present time within the range of the stored formats. A clock before 1970 or after 2106 is replaced by
 * the nearest storable time; this is logged once per process.
 */
export function unixSeconds(): number {
  const now = Math.floor(Date.now() / 1000)
  const clamped = Math.min(Math.max(now, 0), UNIX_SECONDS_MAX)
  if (clamped !== now && !isClockNoted) {
    isClockNoted = true
    if (claimClockNote()) log.warn('the clock is before 1970 or after 2106: times are stored as the nearest valid value')
  }
  return clamped
}

/** Transaction ids of the live readers in LMDB's listing (columns pid, thread, txnid; `-` if idle). */
function parseReaders(listing: string): number[] {
  return listing
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns.length >= 3 && /^\d+$/.test(columns[2] ?? '') && /^\d+$/.test(columns[0] ?? ''))
    .map((columns) => Number(columns[2]))
}
