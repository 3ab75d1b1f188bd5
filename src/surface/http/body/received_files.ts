/**
 * The consumer of a body with files: its files go to the data directory. Memory is bounded, whatever is sent.
 * It owns the files until `release`. Front-end thread only.
 */
import { freeBytesOf, isNoSpace } from '../../../base/free_space.js'
import type { FileKeys } from '../../../base/sealed_files.js'
import { newSpoolName, spoolPath } from '../../../base/spool_files.js'
import type { ErrorCode } from '../../../errors.js'
import { MIB } from '../../../limits/units.js'
import type { FilesForm } from '../../../operations/row/http_form.js'
import { RECEIVED, type ReceivedFile } from '../../../operations/row/received_files.js'
import type { BodyAbortReason, BodyConsumer } from '../../../wire/body_streams.js'
import { SpoolSink } from './spool_sink.js'

/** Bytes of files between two looks at the free space of the disk. */
const SPACE_LOOKED_BYTES = 16 * MIB

/** What the consumer tells the request. At most one of the three is called. */
export interface FormOwner {
  /** @param fields as a query string, @param body JSON, @param bytes of the request's body */
  formReceived(fields: string, body: Uint8Array, bytes: number): void
  /** @param text replaces that of the catalogue */
  formRefused(code: ErrorCode, text?: string): void
  formFault(error: unknown): void
}

/** The data directory, with what files in it are sealed, and how much of its disk is kept free. */
export interface SpoolPlace {
  readonly directory: string
  /** Null: they are as they were sent. */
  readonly keys: FileKeys | null
  readonly floorBytes: number
}

interface Arriving {
  readonly name: string
  readonly spooled: string
  readonly sink: SpoolSink
}

export abstract class ReceivedFiles implements BodyConsumer {
  readonly #files: Arriving[] = []
  #drained: () => void = () => undefined
  /** A chunk is not taken yet. */
  #isBusy = false
  #bytes = 0
  #unwritten = 0
  #unlooked = SPACE_LOOKED_BYTES
  #isComplete = false
  #isOver = false

  constructor(
    readonly form: FilesForm,
    readonly query: string,
    readonly place: SpoolPlace,
    readonly owner: FormOwner,
  ) {}

  protected abstract take(chunk: Uint8Array): void
  /** Whether nothing refers to the chunk any more. */
  protected abstract hasTaken(): boolean
  protected abstract finish(): void
  protected abstract stop(): void
  protected abstract fields(): string

  get isOver(): boolean {
    return this.#isOver
  }

  begin(drained: () => void): void {
    this.#drained = drained
  }

  write(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length
    this.#unlooked += chunk.length
    if (this.#unlooked >= SPACE_LOOKED_BYTES) {
      this.#unlooked = 0
      if (freeBytesOf(this.place.directory) < this.place.floorBytes) this.refuse('diskFull')
    }
    if (this.#isOver) return true
    this.take(chunk)
    this.#isBusy = !this.#isReady()
    if (this.#isBusy) setImmediate(() => this.#goOn())
    return !this.#isBusy
  }

  end(): void {
    if (!this.#isOver) this.finish()
  }

  abort(_reason: BodyAbortReason): void {
    this.#close()
  }

  /** Removes the files. Nothing may read them any more. Never rejects. */
  async release(): Promise<void> {
    this.#close()
    await Promise.all(this.#files.map(({ sink }) => sink.remove()))
  }

  protected newSink(name: string): SpoolSink {
    const spooled = newSpoolName()
    const { directory, keys } = this.place
    const sink = new SpoolSink(spoolPath(directory, spooled), this.form.fileBytesMax, keys, {
      room: () => this.#goOn(),
      finished: () => {
        this.#unwritten -= 1
        this.#settle()
      },
      failed: (error) => this.#fail(error),
    })
    this.#files.push({ name, spooled, sink })
    this.#unwritten += 1
    return sink
  }

  /** Every part has been seen; files may still be on their way to the disk. */
  protected complete(): void {
    this.#isComplete = true
    this.#settle()
  }

  protected refuse(code: ErrorCode, text?: string): void {
    if (this.#isOver) return
    this.#close()
    this.owner.formRefused(code, text)
  }

  #isReady(): boolean {
    return this.hasTaken() && !this.#files.some(({ sink }) => sink.isBehind)
  }

  /** A parser hands on what it has in the next turn; a file that is behind says when there is room. */
  #goOn(): void {
    if (this.#isOver || !this.#isBusy) return
    if (!this.#isReady()) {
      if (!this.hasTaken()) setImmediate(() => this.#goOn())
      return
    }
    this.#isBusy = false
    this.#drained()
  }

  #settle(): void {
    if (this.#isOver || !this.#isComplete || this.#unwritten > 0) return
    this.#isOver = true
    const files = this.#files.map(({ name, spooled, sink: { bytes } }): ReceivedFile => ({ name, spooled, bytes }))
    this.owner.formReceived(this.fields(), Buffer.from(JSON.stringify({ [RECEIVED]: files })), this.#bytes)
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#close()
    if (isNoSpace(error)) this.owner.formRefused('diskFull')
    else this.owner.formFault(error)
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.stop()
  }
}
