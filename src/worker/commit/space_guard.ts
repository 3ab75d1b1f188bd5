/**
 * Decides before each commit group whether there is space for it, and watches for space to become available
 * again. The disk counts as full in two cases. First: the free space of the file system is below the floor,
 * and the env does not have enough unused pages either (deletes leave such pages; the file does not shrink).
 * Second: a commit was refused for lack of space, whatever the file system reports (a quota, another process
 * that writes faster). Write lane only. docs/decisions/store/disks.md.
 */
import { Chore, type ChoreTools } from '../../chore.js'
import { RESERVE_FILE_SHARE } from '../../limits/store.js'
import type { DiskSpace } from '../../store/files/disk_space.js'

/**
 * Interval at which the write lane checks the disk while it is full, or something is written: a statfs.
 * Writes resume within the same time.
 */
const DISK_WATCH_MS = 500
/** The same while nothing is written and there is space. Before each group it is checked in any case. */
const DISK_IDLE_WATCH_MS = 5000
/**
 * Rows that a group removes by itself while the disk is full (binlog entries, deleted collections): few, so
 * that the pages that it copies fit into the reserve. After each group that was refused nevertheless, a
 * quarter of them.
 */
const FULL_DISK_ROWS = 64
/**
 * Pause after a commit was refused in spite of unused pages of the env, until these count as space again. It
 * doubles each time.
 */
const DISK_RETRY_MS_FIRST = 1000
const DISK_RETRY_MS_MAX = 30_000

interface SpaceGuardParts {
  readonly space: Pick<DiskSpace, 'floorBytes' | 'freeBytes' | 'missingBytes' | 'hold' | 'letGo'>
  /** Bytes of unused pages in the env. */
  readonly unusedBytes: () => number
  /**
   * Whether the disk accepts the index, or little of it is in memory only. Otherwise unused pages of the
   * truth env do not count: the index of new writes would stay in memory.
   */
  readonly isIndexStored: () => boolean
  /** The first call reports the initial state. */
  readonly onChange: (isFull: boolean, freeBytes: number) => void
  /** Called periodically while the disk is full. */
  readonly onStillFull: () => void
}

/** Factor on the floor before writes resume, so that they are not refused again at once. */
const RESUME_FACTOR = 1.25

export class SpaceGuard {
  readonly #parts: SpaceGuardParts
  readonly #watching: Chore
  #isFull: boolean | undefined
  /**
   * A commit was refused although there seemed to be space. Only a successful allocation proves that there is
   * some.
   */
  #isDoubted: boolean
  /**
   * Unused bytes of the env in spite of which a commit was refused: readers may have held the pages, or no
   * run of pages was long enough. They are tried again from `#retryAt` on.
   */
  #unusedTooFew = 0
  #retryAt = Number.NEGATIVE_INFINITY
  #retryMs = DISK_RETRY_MS_FIRST
  #rowsMax = FULL_DISK_ROWS
  #unused = { bytes: 0, at: Number.NEGATIVE_INFINITY }
  #holding: Promise<void> | undefined

  /** @param isDoubted whether the previous process ended because a commit met a full disk */
  constructor(parts: SpaceGuardParts, isDoubted: boolean, tools: ChoreTools) {
    this.#parts = parts
    this.#isDoubted = isDoubted
    if (isDoubted) parts.space.letGo()
    this.#watching = new Chore(tools, {
      name: 'disk-watch',
      first: DISK_WATCH_MS,
      afterCommitMs: DISK_WATCH_MS,
      commitsEndRest: true,
      failure: 'the space of the disk is not known',
      retry: { firstMs: DISK_WATCH_MS, longestMs: DISK_WATCH_MS },
      round: () => {
        this.#watch()
        return this.isFull || parts.space.missingBytes() > 0 ? DISK_WATCH_MS : DISK_IDLE_WATCH_MS
      },
    })
    this.#set(isDoubted || !this.#hasSpace(0, 1))
    this.#watching.start()
  }

  /** Called when entries were committed. */
  noteCommit(): void {
    this.#watching.noteCommit()
  }

  get isFull(): boolean {
    return this.#isFull === true
  }

  /** Whether a group that adds about the given number of bytes may be written. */
  admits(bytes: number): boolean {
    if (this.isFull) return false
    if (this.#hasSpace(bytes, 1)) {
      this.#unused.bytes -= bytes
      return true
    }
    // Otherwise only this group is too large; smaller ones may still fit.
    if (!this.#hasSpace(0, 1)) this.#set(true)
    return false
  }

  /** Called before space-freeing work is written while the disk is full. */
  reclaimSpace(): void {
    if (this.#parts.space.freeBytes() < this.#parts.space.floorBytes / RESERVE_FILE_SHARE) this.#parts.space.letGo()
  }

  /**
   * Maximum number of rows that a group removes in the background while the disk is full; undefined
   * otherwise.
   */
  get rowsMax(): number | undefined {
    return this.isFull ? this.#rowsMax : undefined
  }

  /** Called when a commit was refused for lack of space. */
  onRefused(): void {
    const { space, unusedBytes } = this.#parts
    const now = performance.now()
    space.letGo()
    // Even space-freeing work was refused: smaller groups copy fewer pages.
    if (this.isFull) this.#rowsMax = Math.max(1, Math.floor(this.#rowsMax / 4))
    else this.#retryMs = now - this.#retryAt > 2 * DISK_RETRY_MS_MAX ? DISK_RETRY_MS_FIRST : Math.min(2 * this.#retryMs, DISK_RETRY_MS_MAX)
    this.#retryAt = now + this.#retryMs
    this.#isDoubted = space.freeBytes() >= space.floorBytes
    this.#unusedTooFew = unusedBytes() + space.floorBytes
    this.#set(true)
  }

  async stop(): Promise<void> {
    await this.#watching.stop()
    await this.#holding
  }

  #hasSpace(bytes: number, factor: number): boolean {
    const { space } = this.#parts
    const wanted = space.floorBytes * factor + bytes
    if (!this.#isDoubted && space.freeBytes() >= wanted) return true
    const unused = this.#unusedBytes()
    return unused >= wanted && (unused >= this.#unusedTooFew || performance.now() >= this.#retryAt)
  }

  #unusedBytes(): number {
    if (!this.#parts.isIndexStored()) return 0
    const now = performance.now()
    if (now - this.#unused.at >= DISK_WATCH_MS) this.#unused = { bytes: this.#parts.unusedBytes(), at: now }
    return this.#unused.bytes
  }

  #watch(): void {
    const { space } = this.#parts
    if (!this.isFull && !this.#hasSpace(0, 1)) this.#set(true)
    const isFree = space.freeBytes() - space.missingBytes() >= space.floorBytes * RESUME_FACTOR
    if (isFree && space.missingBytes() > 0) this.#holding ??= this.#hold()
    else if (isFree) this.#onHeld()
    if (this.isFull && this.#hasSpace(0, RESUME_FACTOR)) this.#set(false)
    if (this.isFull) this.#parts.onStillFull()
  }

  async #hold(): Promise<void> {
    const isHeld = await this.#parts.space.hold()
    this.#holding = undefined
    if (isHeld) this.#onHeld()
  }

  /** The reserve file was written, or is complete already: there is space. */
  #onHeld(): void {
    this.#isDoubted = false
    this.#unusedTooFew = 0
  }

  #set(isFull: boolean): void {
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    this.#rowsMax = FULL_DISK_ROWS
    // The watch may be resting as for a disk with space.
    if (isFull) this.#watching.wake(DISK_WATCH_MS)
    this.#parts.onChange(isFull, this.#parts.space.freeBytes())
  }
}
