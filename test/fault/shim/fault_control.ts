/**
 * The control file of the shim iofail.c: one small file that the test writes and every process of the run
 * maps. Fields are written before the word that arms them, so a process sees all of them or none. Layout
 * (little endian, u32 each): armed, kinds, error, manner, first, lasts, calls, hits. Then two NUL-terminated
 * texts: the first call that was hit (256 bytes), and the text that a path must contain to count (64 bytes).
 */
import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { buildShim } from './shim_build.js'

/**
 * flush: fsync, fdatasync. write: every call that writes. truncate: ftruncate, fallocate. name: calls that
 * create, rename or remove files and folders.
 */
export const FAULT_KINDS = { flush: 1, write: 2, truncate: 4, name: 8 } as const
/**
 * clean: nothing is done. torn: the call is done fully or half, and reported as failed. short: half is
 * written, and the next write to that file fails. hang: the call never returns.
 */
export const MANNERS = { clean: 0, torn: 1, short: 2, hang: 3 } as const

export interface Fault {
  readonly kind: keyof typeof FAULT_KINDS
  /** Number of the call that fails, counted from 1 at the moment of arming. */
  readonly at: number
  readonly error: 'EIO' | 'ENOSPC'
  readonly manner: keyof typeof MANNERS
  /** Whether all later calls fail too. */
  readonly lasts: boolean
  /** Only calls on files whose path contains this text count. Default: all. */
  readonly only?: string
}

export interface FaultState {
  /** Calls of that kind since arming. */
  readonly calls: number
  /** Failed calls among them. */
  readonly hits: number
  /** Call name and file of the first failure. */
  readonly hit: string
}

const CONTROL_BYTES = 4096
const COUNTS_AT = 24
const HIT_AT = 32
const HIT_BYTES = 256
const ONLY_AT = HIT_AT + HIT_BYTES
const ONLY_BYTES = 64

export class FaultControl {
  readonly #path: string
  readonly #file: number

  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'w+', 0o600)
    ftruncateSync(this.#file, CONTROL_BYTES)
  }

  /** The environment of a process whose file calls below `directory` may fail. */
  environment(directory: string): Readonly<Record<string, string>> {
    return { LD_PRELOAD: buildShim('iofail'), MDS_FAULT_DIR: directory, MDS_FAULT_CONTROL: this.#path }
  }

  arm(fault: Fault): void {
    this.disarm()
    const bytes = Buffer.alloc(ONLY_AT + ONLY_BYTES)
    const error = constants.errno[fault.error]
    const words = [0, FAULT_KINDS[fault.kind], error, MANNERS[fault.manner], fault.at, fault.lasts ? 1 : 0]
    for (const [at, word] of words.entries()) bytes.writeUInt32LE(word, at * 4)
    bytes.write(fault.only ?? '', ONLY_AT, ONLY_BYTES - 1)
    writeSync(this.#file, bytes, 0, bytes.length, 0)
    this.#setArmed(1)
  }

  disarm(): void {
    this.#setArmed(0)
  }

  state(): FaultState {
    const bytes = Buffer.alloc(HIT_AT + HIT_BYTES)
    readSync(this.#file, bytes, 0, bytes.length, 0)
    const text = bytes.toString('utf8', HIT_AT)
    return { calls: bytes.readUInt32LE(COUNTS_AT), hits: bytes.readUInt32LE(COUNTS_AT + 4), hit: text.slice(0, text.indexOf('\0')) }
  }

  close(): void {
    closeSync(this.#file)
  }

  #setArmed(armed: number): void {
    const word = Buffer.alloc(4)
    word.writeUInt32LE(armed)
    writeSync(this.#file, word, 0, word.length, 0)
  }
}
