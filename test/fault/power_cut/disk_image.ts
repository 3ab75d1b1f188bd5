/**
 * The possible states of the files after a power cut, rebuilt from a prefix of the log. Everything flushed
 * before the cut is present. Of the unflushed writes any subset is present, each possibly torn at sectors of
 * 512 bytes. Assumptions, each weaker than or equal to the guarantees of ext4 and xfs:
 *   - a sector is written whole or not at all
 *   - a flush covers what was recorded before it began
 *   - changes of names (create, rename, unlink) reach the disk in order
 *   - the creation of a flushed file is on disk, and so is everything before the flush of a directory; later
 *     changes are on disk by chance
 * Sizes grow only by surviving writes, so a lost tail is a shorter file.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Random } from '../../harness/random.js'
import type { IoRecord } from './io_log.js'

const SECTOR_BYTES = 512

/** Decides which of the unflushed changes survive. */
export interface CutChance {
  /** Share of unflushed writes that survive, 0..1. */
  readonly survive: number
  /** Share of those that are torn, 0..1. */
  readonly torn: number
}

interface Change {
  /** Offset of the bytes; for a change of length (`bytes` null) the new length. */
  readonly offset: number
  readonly bytes: Buffer | null
  durable: boolean
}

/** One file by content. Names point to it, and descriptors of the same name share it. */
interface Inode {
  readonly changes: Change[]
  /** Index of its creation in the list of name changes. */
  readonly created: number
}

type NameChange =
  | { readonly kind: 'create'; readonly path: string; readonly inode: Inode }
  | { readonly kind: 'rename'; readonly path: string; readonly target: string }
  | { readonly kind: 'unlink'; readonly path: string }

type Behind = { readonly kind: 'file'; readonly inode: Inode; readonly path: string } | { readonly kind: 'directory' }

/**
 * LMDB's lock files contain only reader slots and mutexes, which do not outlive a boot. They are mapped
 * writable.
 */
function isLockFile(name: string): boolean {
  return name.endsWith('-lock') || path.basename(name) === 'lock.mdb'
}

/** The state of the disk at one moment of the log, built by adding records in order. */
export class DiskState {
  readonly #names: NameChange[] = []
  /** The names as the process sees them now. */
  readonly #live = new Map<string, Inode>()
  readonly #behind = new Map<number, Behind>()
  readonly #flushing = new Map<number, { readonly behind: Behind; readonly extent: number }>()
  #durableNames = 0

  feed(record: IoRecord): void {
    switch (record.kind) {
      case 'open':
        return this.#open(record.file, record.path, record.fresh)
      case 'write':
        this.#inode(record.file).changes.push({ offset: record.offset, bytes: record.bytes, durable: record.flushed })
        return
      case 'truncate':
        this.#inode(record.file).changes.push({ offset: record.lengthBytes, bytes: null, durable: false })
        return
      case 'flush-begin': {
        const behind = this.#get(record.file)
        this.#flushing.set(record.sequence, { behind, extent: behind.kind === 'file' ? behind.inode.changes.length : this.#names.length })
        return
      }
      case 'flush-end':
        return this.#flushEnd(record.sequence)
      case 'rename':
        return this.#rename({ kind: 'rename', path: record.source, target: record.target })
      case 'unlink':
        return this.#rename({ kind: 'unlink', path: record.path })
      case 'blind':
        return this.#blind(record.file, record.reason)
      case 'client':
        return
    }
  }

  /** Writes the files as the cut left them into `directory`, which is emptied first. */
  writeAfterCut(directory: string, chance: CutChance, random: Random): void {
    rmSync(directory, { recursive: true, force: true })
    mkdirSync(directory, { recursive: true })
    const undecided = this.#names.length - this.#durableNames
    const kept = this.#durableNames + Math.round(undecided * chance.survive * random.next())
    const names = new Map<string, Inode>()
    for (const change of this.#names.slice(0, kept)) applyName(names, change)
    for (const [name, inode] of names) {
      if (isLockFile(name)) continue
      const target = path.join(directory, name)
      mkdirSync(path.dirname(target), { recursive: true })
      writeFileSync(target, content(survivors(inode.changes, chance, random)))
    }
  }

  /** Names and whole contents as the process last saw them. */
  *files(): Iterable<readonly [string, Buffer]> {
    for (const [name, inode] of this.#live) if (!isLockFile(name)) yield [name, content(inode.changes)]
  }

  #open(file: number, name: string, fresh: boolean): void {
    if (name === '.' || (!this.#live.has(name) && !fresh)) {
      this.#behind.set(file, { kind: 'directory' })
      return
    }
    let inode = this.#live.get(name)
    if (inode === undefined) {
      inode = { changes: [], created: this.#names.length }
      this.#rename({ kind: 'create', path: name, inode })
    } else if (fresh) {
      inode.changes.push({ offset: 0, bytes: null, durable: false })
    }
    this.#behind.set(file, { kind: 'file', inode, path: name })
  }

  #rename(change: NameChange): void {
    this.#names.push(change)
    applyName(this.#live, change)
  }

  #get(file: number): Behind {
    const behind = this.#behind.get(file)
    if (behind === undefined) throw new Error(`file ${file} was used before it was opened`)
    return behind
  }

  #inode(file: number): Inode {
    const behind = this.#get(file)
    if (behind.kind !== 'file') throw new Error(`file ${file} existed before the recording began, or is a directory`)
    return behind.inode
  }

  #flushEnd(sequence: number): void {
    const flush = this.#flushing.get(sequence)
    if (flush === undefined) throw new Error(`flush ${sequence} ended before it began`)
    this.#flushing.delete(sequence)
    if (flush.behind.kind === 'directory') {
      this.#durableNames = Math.max(this.#durableNames, flush.extent)
      return
    }
    const { inode } = flush.behind
    this.#durableNames = Math.max(this.#durableNames, inode.created + 1)
    for (const change of inode.changes.slice(0, flush.extent)) change.durable = true
  }

  #blind(file: number, reason: string): void {
    const behind = this.#behind.get(file)
    const name = behind?.kind === 'file' ? behind.path : 'a name'
    if (!isLockFile(name)) throw new Error(`the shim cannot see all of ${name}: ${reason}`)
  }
}

function applyName(names: Map<string, Inode>, change: NameChange): void {
  if (change.kind === 'create') {
    names.set(change.path, change.inode)
    return
  }
  for (const [name, inode] of [...names]) {
    if (name !== change.path && !name.startsWith(`${change.path}/`)) continue
    names.delete(name)
    if (change.kind === 'rename') names.set(change.target + name.slice(change.path.length), inode)
  }
}

/**
 * The durable changes, and those of the others that survive by chance, whole or as a subset of their sectors.
 */
function survivors(changes: readonly Change[], chance: CutChance, random: Random): readonly Change[] {
  const kept: Change[] = []
  for (const change of changes) {
    if (change.durable) kept.push(change)
    else if (random.next() >= chance.survive) continue
    else if (change.bytes === null || random.next() >= chance.torn) kept.push(change)
    else kept.push(...tornSectors(change.offset, change.bytes, random))
  }
  return kept
}

function tornSectors(offset: number, bytes: Buffer, random: Random): readonly Change[] {
  const kept: Change[] = []
  let begin = 0
  while (begin < bytes.length) {
    const end = Math.min(bytes.length, begin + SECTOR_BYTES - ((offset + begin) % SECTOR_BYTES))
    if (random.next() < 0.5) kept.push({ offset: offset + begin, bytes: bytes.subarray(begin, end), durable: false })
    begin = end
  }
  return kept
}

function content(changes: readonly Change[]): Buffer {
  let capacity = 0
  for (const change of changes) capacity = Math.max(capacity, change.bytes === null ? change.offset : change.offset + change.bytes.length)
  const image = Buffer.alloc(capacity)
  let length = 0
  for (const change of changes) {
    if (change.bytes === null) {
      if (change.offset < length) image.fill(0, change.offset, length)
      length = change.offset
    } else {
      change.bytes.copy(image, change.offset)
      length = Math.max(length, change.offset + change.bytes.length)
    }
  }
  return image.subarray(0, length)
}
