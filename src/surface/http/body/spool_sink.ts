/**
 * A file of a request body, written to the data directory as it arrives. What it is given is copied at once,
 * into few blocks that are used again, so that a long file leaves no garbage. With a key of encryption at
 * rest each block is sealed before it is written. It is bounded: what comes behind the bound is counted and
 * dropped, so that its client gets an answer. Front-end thread only.
 */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { type FileKeys, FileSealer, SEALED_CHUNK_BYTES } from '../../../base/sealed_files.js'

/** Bytes that are written to a file at once, and sealed together. */
const SPOOL_BLOCK_BYTES = SEALED_CHUNK_BYTES
/** Blocks of a file that wait for the disk before its sender is paused. */
const SPOOL_BLOCKS_WAITING_MAX = 2

/** Of the two last, one is called, unless the file is removed first. */
interface SinkEvents {
  /** A block has been written. */
  room(): void
  /** The whole file has been written. */
  finished(): void
  failed(error: unknown): void
}

interface Block {
  readonly bytes: Buffer
  length: number
}

export class SpoolSink {
  /** Length of the file, whatever was kept of it. */
  bytes = 0
  readonly #file: Promise<FileHandle>
  readonly #sealer: FileSealer | undefined
  readonly #full: Block[] = []
  readonly #free: Block[] = []
  #current: Block | undefined
  #last: Block | undefined
  #writing: Promise<void> | undefined
  #isBegun = false
  #isEnded = false
  #isRemoved = false

  constructor(
    readonly path: string,
    readonly bytesMax: number,
    keys: FileKeys | null,
    readonly events: SinkEvents,
  ) {
    this.#sealer = keys === null ? undefined : new FileSealer(keys)
    this.#file = open(path, 'wx', 0o600)
    // Reported by what writes.
    this.#file.catch(() => undefined)
  }

  /** Its sender should wait. */
  get isBehind(): boolean {
    return this.#full.length >= SPOOL_BLOCKS_WAITING_MAX
  }

  append(bytes: Uint8Array): void {
    const kept = Math.max(0, Math.min(bytes.length, this.bytesMax - this.bytes))
    this.bytes += bytes.length
    for (let at = 0; at < kept;) {
      const block = (this.#current ??= this.#free.pop() ?? { bytes: Buffer.allocUnsafeSlow(SPOOL_BLOCK_BYTES), length: 0 })
      const end = Math.min(kept, at + SPOOL_BLOCK_BYTES - block.length)
      block.bytes.set(bytes.subarray(at, end), block.length)
      block.length += end - at
      at = end
      if (block.length === SPOOL_BLOCK_BYTES) this.#flush()
    }
  }

  end(): void {
    this.#isEnded = true
    // A sealed file has a last block, also where it is empty.
    if (this.#sealer !== undefined) this.#current ??= { bytes: Buffer.alloc(0), length: 0 }
    this.#last = this.#current
    this.#flush()
  }

  /** Resolves once nothing is written to the file any more and it is gone. Never rejects. */
  async remove(): Promise<void> {
    this.#isRemoved = true
    await this.#writing
    await this.#file.then((file) => file.close()).catch(() => undefined)
    await rm(this.path, { force: true }).catch(() => undefined)
  }

  #flush(): void {
    if (this.#current !== undefined) this.#full.push(this.#current)
    this.#current = undefined
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    try {
      const file = await this.#file
      if (this.#sealer !== undefined && !this.#isBegun) await writeWhole(file, this.#sealer.head)
      this.#isBegun = true
      for (let block = this.#full[0]; block !== undefined && !this.#isRemoved; block = this.#full[0]) {
        const bytes = block.bytes.subarray(0, block.length)
        await writeWhole(file, this.#sealer?.seal(bytes, block === this.#last) ?? bytes)
        block.length = 0
        this.#free.push(block)
        this.#full.shift()
        if (!this.#isRemoved) this.events.room()
      }
      this.#writing = undefined
      if (!this.#isEnded || this.#isRemoved) return
      await file.close()
      this.events.finished()
    } catch (error) {
      if (!this.#isRemoved) this.events.failed(error)
    }
  }
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten
}
