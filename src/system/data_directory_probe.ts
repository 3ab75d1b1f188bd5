/**
 * The operating system's view of the data directory: file system, free space, writability. Health probes read
 * it, so a result is cached for PROBE_CACHE_MS. Front-end thread; the calls take microseconds because network
 * file systems are refused at start (src/store/files/layout.ts).
 */
import { accessSync, constants, statfsSync } from 'node:fs'
import type { Config } from '../config/config.js'
import { PROBE_CACHE_MS } from '../limits/process.js'
import { GIB } from '../limits/units.js'

/** Free bytes below which /health warns. A group commit and a segment merge need space. */
const FREE_BYTES_WARNING = GIB

export interface Persistence {
  readonly path: string
  readonly filesystem: string
  /** True if the files do not survive a restart of the machine or the removal of the container. */
  readonly ephemeral: boolean
  readonly writable: boolean
  readonly freeBytes: number
  readonly warnings: readonly { readonly code: string; readonly detail: string }[]
}

/** f_type of statfs(2). */
const FILE_SYSTEMS = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x2fc12fc1, 'zfs'],
  [0xf2f52010, 'f2fs'],
  [0x794c7630, 'overlay'],
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
])
const EPHEMERAL = new Set(['overlay', 'tmpfs', 'ramfs'])

export class DataDirectoryProbe {
  #last: { readonly at: number; readonly value: Persistence } | undefined

  /** @param now milliseconds of any monotonic clock */
  read(config: Config, now: number): Persistence {
    if (this.#last === undefined || now - this.#last.at > PROBE_CACHE_MS || this.#last.value.path !== config.path) {
      this.#last = { at: now, value: probe(config) }
    }
    return this.#last.value
  }
}

function probe(config: Config): Persistence {
  const { path } = config
  const writable = isWritable(path)
  const { filesystem, freeBytes } = askFileSystem(path)
  const ephemeral = EPHEMERAL.has(filesystem)
  const warnings: { code: string; detail: string }[] = []
  if (!writable) warnings.push({ code: 'not_writable', detail: `${path} can't be written` })
  if (ephemeral)
    warnings.push({
      code: 'ephemeral_filesystem',
      detail: `${path} is on ${filesystem}, which does not outlive its machine or container`,
    })
  if (freeBytes < FREE_BYTES_WARNING) warnings.push({ code: 'low_space', detail: `${freeBytes} bytes are free` })
  if (config.durability === 'async') warnings.push({ code: 'async_durability', detail: 'a power cut can lose acknowledged writes' })
  return { path, filesystem, ephemeral, writable, freeBytes, warnings }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    // The reason does not matter (permission, read-only mount, missing): the directory cannot be written.
    return false
  }
}

function askFileSystem(path: string): { readonly filesystem: string; readonly freeBytes: number } {
  try {
    const { type, bavail, bsize } = statfsSync(path)
    // statfs returns a signed number on some systems.
    const code = type >>> 0
    return { filesystem: FILE_SYSTEMS.get(code) ?? `0x${code.toString(16)}`, freeBytes: bavail * bsize }
  } catch {
    // A directory that no longer exists has no file system; `writable` is then false.
    return { filesystem: 'unknown', freeBytes: 0 }
  }
}
