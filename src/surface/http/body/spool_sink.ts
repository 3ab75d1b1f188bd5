/**
 * A file of a request body, written to the data directory as it arrives. It is bounded: what comes behind the
 * bound is counted and dropped, so that its client gets an answer. Front-end thread only.
 */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { KIB } from '../../../limits/units.js'

/** Bytes of a file that wait for the disk before its sender is paused. */
const SPOOL_WAITING_BYTES_MAX = 512 * KIB

export class SpoolSink extends Writable {
  /** Length of the file, whatever was kept of it. */
  bytes = 0
  #file: FileHandle | undefined

  constructor(
    readonly path: string,
    readonly bytesMax: number,
  ) {
    super({ highWaterMark: SPOOL_WAITING_BYTES_MAX, decodeStrings: false })
  }

  /** Resolves once nothing is written to the file any more and it is gone. */
  async remove(): Promise<void> {
    if (!this.closed) {
      const closed = new Promise((resolve) => this.once('close', resolve))
      this.destroy()
      await closed
    }
    await rm(this.path, { force: true })
  }

  override _construct(done: (error?: Error | null) => void): void {
    open(this.path, 'wx', 0o600).then((file) => {
      this.#file = file
      done()
    }, done)
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const kept = Math.max(0, Math.min(chunk.length, this.bytesMax - this.bytes))
    this.bytes += chunk.length
    if (kept === 0) done()
    else this.#append(kept === chunk.length ? chunk : chunk.subarray(0, kept)).then(() => done(), done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const closing = this.#file?.close() ?? Promise.resolve()
    closing.then(() => done(error), done)
  }

  /** A write may be short. */
  async #append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += (await this.#file!.write(bytes, at, bytes.length - at)).bytesWritten
  }
}
