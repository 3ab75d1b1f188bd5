/**
 * The durable part of the audit log: appends batches to the newest file, each with its seal and one flush,
 * begins the next file, and removes files that retention does not keep. Resumes the chain of an earlier
 * process behind its last seal; what a crash has left behind it is cut off, and the next seal says so.
 * Synchronous: for the thread of the log only (thread.ts). Format: docs/formats/audit-log.md.
 */
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolders } from '../base/folders.js'
import { AUDIT_LOG_FILES_MIN } from '../limits/process.js'
import { log } from '../telemetry/log.js'
import { fileName, FORMAT_VERSION, hashOf, headerLine, NO_HASH, type Seal, sealLine, SUM_CHARS, sumsOf } from './chain.js'
import { ChainReader, type ReadBatch } from './chain_reader.js'
import { beginOf, beyond, bytesOf, filesIn, type LogFile, olderThan, readFile } from './log_files.js'

/** A file also ends after a day, so that retention, which removes whole files, is exact to a day. */
const AUDIT_FILE_MS_MAX = 86_400_000

interface LogWriterOptions {
  readonly folder: string
  /** A file that has this number of bytes is the last one but the next. */
  readonly fileBytesMax: number
  /** 0: files are kept forever. */
  readonly retentionDays: number
  /** Bytes of all files but for one batch; beyond it the oldest are removed. */
  readonly bytesMax: number
  /** Unix milliseconds. */
  readonly now?: () => number
}

interface Resumed {
  /** The last lines of events of the log, oldest first, without newlines. */
  readonly recent: readonly string[]
  readonly batches: number
  /** Bytes that were cut off. */
  readonly cut: number
}

/** The file that is appended to. */
interface OpenFile {
  readonly descriptor: number
  readonly number: number
  /** Unix milliseconds. */
  readonly begunAt: number
  /** Up to the end of its last seal. */
  bytes: number
}

const DAY_MS = 86_400_000
const NO_LINES = new Uint8Array(0)
const LARGEST = Number.MAX_SAFE_INTEGER
/** Bytes of a seal without sums and of the header of a new file, at most. */
const SEAL_BYTES_MAX =
  headerLine(LARGEST, LARGEST).length +
  sealLine({
    seal: LARGEST,
    prev: NO_HASH,
    events: LARGEST,
    sums: '',
    first: LARGEST,
    dropped: LARGEST,
    at: LARGEST,
    mark: 'start',
    cut: LARGEST,
  }).length

export class LogWriter {
  readonly #options: LogWriterOptions
  readonly #now: () => number
  #file: OpenFile | null = null
  /** Number of the newest file that exists or existed. */
  #lastFile = 0
  #batch = 0
  #prev = NO_HASH
  #first = 1
  #cut = 0
  /** Of all files. */
  #bytes = 0
  /** A write has failed behind the last seal. */
  #isTorn = false

  constructor(options: LogWriterOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /**
   * Must succeed before anything is appended; may be tried again.
   * @param recentMax number of events to return
   * @throws Error of the system, or for a format that this version does not know
   */
  open(recentMax: number): Resumed {
    const { folder } = this.#options
    makeFolders(folder, 0o700)
    const files = filesIn(folder)
    this.#lastFile = files.at(-1)?.number ?? 0
    let recent: string[] = []
    let cut = 0
    let last: ReadBatch | undefined
    for (const file of files.toReversed()) {
      const found = readBack(file, recentMax)
      if (last === undefined) {
        cut += found.tailBytes
        last = found.last
        this.#resume(file, found.last, found.tailBytes, found.begunAt)
      }
      recent = [...found.recent, ...recent].slice(-recentMax)
      if (recent.length >= recentMax) break
    }
    this.#bytes = bytesOf(filesIn(folder))
    this.#batch = last?.seal.seal ?? 0
    this.#prev = last?.hash ?? NO_HASH
    this.#first = last?.seal.first ?? 1
    this.#cut = cut
    return { recent, batches: this.#batch, cut }
  }

  /** A file without a seal has nothing of the chain: the process ended in its first batch. */
  #resume(file: LogFile, last: ReadBatch | undefined, tailBytes: number, begunAt: number | undefined): void {
    if (last === undefined) {
      unlinkSync(file.path)
      syncFolder(this.#options.folder)
      this.#lastFile = file.number - 1
      return
    }
    if (tailBytes > 0) truncateSync(file.path, last.end)
    const descriptor = openSync(file.path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW)
    if (tailBytes > 0) fdatasyncSync(descriptor)
    this.#close()
    this.#file = { descriptor, number: file.number, begunAt: begunAt ?? this.#now(), bytes: last.end }
  }

  /**
   * The batch is on the disk when it returns. After an error the log is as before, and the same batch may be
   * tried again.
   * @param lines whole lines of events
   * @param dropped events that the process has lost so far
   * @throws Error of the system
   */
  append(lines: Uint8Array, dropped: number, mark?: Seal['mark']): void {
    const sums = sumsOf(lines)
    // Two seals, because an empty batch precedes a removal.
    this.#makeRoom(lines.length + SUM_CHARS * sums.length + 2 * SEAL_BYTES_MAX, dropped)
    this.#append(lines, sums, dropped, mark)
  }

  #append(lines: Uint8Array, sums: readonly string[], dropped: number, mark?: Seal['mark']): void {
    const file = this.#present()
    const head = file.bytes === 0 ? headerLine(file.number, file.begunAt) : ''
    const seal = sealLine({
      seal: this.#batch + 1,
      prev: this.#prev,
      events: sums.length,
      sums: sums.join(''),
      first: this.#first,
      dropped,
      at: this.#now(),
      ...(mark === undefined ? {} : { mark }),
      ...(this.#cut === 0 ? {} : { cut: this.#cut }),
    })
    this.#write(file, [Buffer.from(head), lines, Buffer.from(seal)])
    this.#batch += 1
    this.#prev = hashOf(head, lines, seal)
    this.#cut = 0
  }

  /**
   * Ends a file that is older than a day, and removes the files whose events are all older than retention
   * allows. A seal says which batches are kept before any is removed, so that `mds audit verify` can tell
   * retention from a loss.
   * @param dropped as for `append`
   * @returns the number of removed files
   * @throws Error of the system
   */
  trim(dropped: number): number {
    const { retentionDays, folder } = this.#options
    if (retentionDays === 0) return 0
    if (this.#file !== null && this.#isOld(this.#file)) this.append(NO_LINES, dropped)
    const files = filesIn(folder)
    return this.#remove(files, olderThan(files, this.#now() - retentionDays * DAY_MS), dropped)
  }

  /**
   * Removes the oldest files if the log would exceed its bound with so many bytes more. The last file stays,
   * so a batch that is larger than the rest of the bound exceeds it.
   */
  #makeRoom(bytes: number, dropped: number): void {
    const { bytesMax, folder } = this.#options
    if (this.#bytes + bytes <= bytesMax) return
    const files = filesIn(folder)
    this.#bytes = bytesOf(files)
    const removed = this.#remove(files, beyond(files, bytesMax - bytes), dropped)
    if (removed > 0)
      log.warn('audit log: the oldest files were removed because all together have reached their bound', {
        entries: removed,
        bytes: bytesMax,
      })
  }

  /**
   * @param count of files, from the oldest on
   * @returns the number of removed files: none where the first batch that is kept can't be read
   */
  #remove(files: readonly LogFile[], count: number, dropped: number): number {
    const batch = count === 0 ? undefined : beginOf(files[count]!).batch
    if (batch === undefined) return 0
    this.#first = batch
    this.#append(NO_LINES, [], dropped)
    for (const { path } of files.slice(0, count)) unlinkSync(path)
    syncFolder(this.#options.folder)
    this.#bytes = bytesOf(filesIn(this.#options.folder))
    return count
  }

  /** Bytes of all files. */
  get bytes(): number {
    return this.#bytes
  }

  /** So that the log keeps at least three quarters of its bound when it removes a file. */
  get #fileBytesMax(): number {
    const { bytesMax, fileBytesMax } = this.#options
    return Math.min(fileBytesMax, bytesMax / AUDIT_LOG_FILES_MIN)
  }

  /** Number and hash of the last batch. */
  head(): { readonly batch: number; readonly hash: string } {
    return { batch: this.#batch, hash: this.#prev }
  }

  close(): void {
    this.#close()
  }

  #close(): void {
    if (this.#file !== null) closeSync(this.#file.descriptor)
    this.#file = null
  }

  #isOld({ begunAt }: OpenFile): boolean {
    return this.#now() - begunAt >= AUDIT_FILE_MS_MAX
  }

  /** The file for the next batch. */
  #present(): OpenFile {
    const file = this.#file
    // Whoever removes the file of a running server must not get the events that follow, too.
    const isGone = file !== null && fstatSync(file.descriptor).nlink === 0
    if (file !== null && !isGone && (file.bytes === 0 || (file.bytes < this.#fileBytesMax && !this.#isOld(file)))) return file
    this.#close()
    return this.#next()
  }

  #next(): OpenFile {
    const { folder } = this.#options
    makeFolders(folder, 0o700)
    const number = this.#lastFile + 1
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL
    const descriptor = openSync(join(folder, fileName(number)), flags, 0o600)
    this.#lastFile = number
    this.#isTorn = false
    this.#file = { descriptor, number, begunAt: this.#now(), bytes: 0 }
    syncFolder(folder)
    return this.#file
  }

  #write(file: OpenFile, pieces: readonly Uint8Array[]): void {
    if (this.#isTorn) ftruncateSync(file.descriptor, file.bytes)
    this.#isTorn = true
    let bytes = 0
    for (const piece of pieces) bytes += writeWhole(file.descriptor, piece)
    fdatasyncSync(file.descriptor)
    this.#isTorn = false
    file.bytes += bytes
    this.#bytes += bytes
  }
}

function writeWhole(descriptor: number, bytes: Uint8Array): number {
  for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done)
  return bytes.length
}

/** So that a power cut keeps what was created and removed. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

interface ReadBack {
  readonly last: ReadBatch | undefined
  readonly tailBytes: number
  readonly begunAt: number | undefined
  readonly recent: readonly string[]
}

function readBack({ path }: LogFile, recentMax: number): ReadBack {
  let recent: string[] = []
  let unsealed: string[] = []
  let last: ReadBatch | undefined
  const reader = new ChainReader({
    onEvent: (line) => {
      const text = Buffer.from(line).toString()
      if (isEvent(text)) unsealed.push(text)
    },
    onBatch: (batch) => {
      last = batch
      recent.push(...unsealed)
      unsealed = []
      // Shortened now and then, so that a file of any length fits into memory.
      if (recent.length > 2 * recentMax) recent = recent.slice(-recentMax)
    },
  })
  readFile(path, reader)
  refuseUnknown(path, reader)
  return { last, tailBytes: last === undefined ? statSync(path).size : reader.tailBytes, begunAt: reader.header?.at, recent }
}

/** Whether a line of the file may be put into an answer as it is. */
function isEvent(text: string): boolean {
  try {
    return text.startsWith('{"ts":') && typeof (JSON.parse(text) as { ts: unknown }).ts === 'number'
  } catch {
    return false
  }
}

function refuseUnknown(path: string, { header }: ChainReader): void {
  if (header !== undefined && header.audit !== FORMAT_VERSION)
    throw new Error(
      `${path} has version ${header.audit} of the format of audit logs, and ${dirname(path)} can't be continued by this version`,
    )
}
