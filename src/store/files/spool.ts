/**
 * Bytes that are written now and read once later, in order, without being kept in memory. They are stored in
 * a file in the data directory, or in the directory for temporary files if the data directory can't be
 * written. The file is unlinked as soon as it is open, so that nothing is left, however the process ends. The
 * bytes are encrypted with a key that only this object has: no document content is stored as plaintext. One
 * thread.
 */
import { type Cipher, createCipheriv, randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, readSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { newSpoolName } from '../../base/spool_files.js'
import { KIB } from '../../limits/units.js'
import { writeWholeSync } from './write_whole.js'

/** Bytes that a spool buffers in memory, and reads at once. */
const SPOOL_BUFFER_BYTES = 64 * KIB

const ALGORITHM = 'aes-256-ctr'

export class Spool {
  readonly #file: number
  readonly #key = randomBytes(32)
  readonly #start = randomBytes(16)
  readonly #writing = this.#cipher()
  readonly #reading = this.#cipher()
  #buffered: Uint8Array[] = []
  #bufferedBytes = 0
  #read = 0
  bytes = 0

  constructor(directory: string) {
    const path = join(directory, newSpoolName())
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
    unlinkSync(path)
  }

  /** Takes ownership of `bytes`. */
  append(bytes: Uint8Array): void {
    this.#buffered.push(bytes)
    this.#bufferedBytes += bytes.length
    this.bytes += bytes.length
    if (this.#bufferedBytes >= SPOOL_BUFFER_BYTES) this.#flush()
  }

  /**
   * The next bytes, at most SPOOL_BUFFER_BYTES; none at the end. Nothing may be appended after the first
   * call.
   */
  next(): Uint8Array {
    this.#flush()
    const sealed = Buffer.allocUnsafe(Math.min(SPOOL_BUFFER_BYTES, this.bytes - this.#read))
    for (let at = 0; at < sealed.length;) {
      const read = readSync(this.#file, sealed, at, sealed.length - at, this.#read + at)
      if (read === 0) throw new Error('a spool is shorter than what was written to it')
      at += read
    }
    this.#read += sealed.length
    return this.#reading.update(sealed)
  }

  close(): void {
    closeSync(this.#file)
  }

  #flush(): void {
    if (this.#bufferedBytes === 0) return
    const sealed = this.#writing.update(Buffer.concat(this.#buffered))
    this.#buffered = []
    this.#bufferedBytes = 0
    writeWholeSync(this.#file, sealed)
  }

  /** A keystream: encrypting twice decrypts. */
  #cipher(): Cipher {
    return createCipheriv(ALGORITHM, this.#key, this.#start)
  }
}
