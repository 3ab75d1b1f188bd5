/**
 * The consumer of a body with files: its files go to the data directory, its text fields are kept. Memory is
 * bounded, whatever is sent. It owns the files until `release`. Front-end thread only.
 */
import { createRequire } from 'node:module'
import type { Busboy } from 'busboy'
import { freeBytesOf, isNoSpace } from '../../../base/free_space.js'
import { newSpoolName, spoolPath } from '../../../base/spool_files.js'
import type { ErrorCode } from '../../../errors.js'
import { KIB, MIB } from '../../../limits/units.js'
import type { FilesForm } from '../../../operations/row/http_form.js'
import { RECEIVED, type ReceivedFile } from '../../../operations/row/received_files.js'
import type { BodyAbortReason, BodyConsumer } from '../../../wire/body_streams.js'
import { SpoolSink } from './spool_sink.js'

/** Text fields of a form. */
const FORM_FIELDS_MAX = 64
/** Bytes of the name and of the value of a field. The longest that a client needs is metadata. */
const FORM_FIELD_NAME_BYTES_MAX = 256
const FORM_FIELD_BYTES_MAX = 1 * MIB
/** Headers of a part. */
const FORM_PART_HEADERS_MAX = 32
/** Bytes that the parser takes before its sender is paused, and that it hands on of a file at once. */
const FORM_PARSED_BYTES_MAX = 256 * KIB

/** Bytes of files between two looks at the free space of the disk. */
const SPACE_LOOKED_BYTES = 16 * MIB

const require = createRequire(import.meta.url)

/** Loaded with the first form: most servers receive none. */
const loadBusboy = (): typeof import('busboy') => require('busboy') as typeof import('busboy')

/** What the consumer tells the request. At most one of the three is called. */
export interface FormOwner {
  /** @param fields as a query string, @param body JSON, @param bytes of the request's body */
  formReceived(fields: string, body: Uint8Array, bytes: number): void
  /** @param text replaces that of the catalogue */
  formRefused(code: ErrorCode, text?: string): void
  formFault(error: unknown): void
}

/** The data directory, and how much of its disk is kept free. */
export interface SpoolPlace {
  readonly directory: string
  readonly floorBytes: number
}

export interface FormHead {
  readonly contentType: string
  /** Without the question mark. */
  readonly query: string
}

interface Arriving {
  readonly name: string
  readonly spooled: string
  readonly sink: SpoolSink
}

abstract class ReceivedFiles implements BodyConsumer {
  readonly #files: Arriving[] = []
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

  abstract begin(drained: () => void): void
  abstract end(): void
  protected abstract take(chunk: Uint8Array): boolean
  protected abstract stop(): void
  protected abstract fields(): string

  get isOver(): boolean {
    return this.#isOver
  }

  write(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length
    this.#unlooked += chunk.length
    if (this.#unlooked >= SPACE_LOOKED_BYTES) {
      this.#unlooked = 0
      if (freeBytesOf(this.place.directory) < this.place.floorBytes) this.refuse('diskFull')
    }
    return this.#isOver || this.take(chunk)
  }

  abort(_reason: BodyAbortReason): void {
    this.#close()
  }

  /** Removes the files. Nothing may read them any more. Never rejects. */
  async release(): Promise<void> {
    this.#close()
    await Promise.all(this.#files.map(({ sink }) => sink.remove().catch(() => undefined)))
  }

  protected newSink(name: string): SpoolSink {
    const spooled = newSpoolName()
    const sink = new SpoolSink(spoolPath(this.place.directory, spooled), this.form.fileBytesMax)
    this.#files.push({ name, spooled, sink })
    this.#unwritten += 1
    sink.on('error', (error) => this.#fail(error))
    sink.once('finish', () => {
      this.#unwritten -= 1
      this.#settle()
    })
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

  #settle(): void {
    if (this.#isOver || !this.#isComplete || this.#unwritten > 0) return
    this.#isOver = true
    const files = this.#files.map(({ name, spooled, sink: { bytes } }): ReceivedFile => ({ name, spooled, bytes }))
    this.owner.formReceived(this.fields(), Buffer.from(JSON.stringify({ [RECEIVED]: files })), this.#bytes)
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#close()
    if (isNoSpace(error)) this.owner.formRefused('diskFull')
    else this.owner.formFault(error)
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.stop()
    for (const { sink } of this.#files) sink.destroy()
  }
}

/** A form: multipart/form-data. */
class ReceivedForm extends ReceivedFiles {
  readonly #parser: Busboy
  readonly #fields: URLSearchParams

  /** @throws Error if the content type has no usable boundary */
  constructor(form: FilesForm, { contentType, query }: FormHead, place: SpoolPlace, owner: FormOwner) {
    super(form, query, place, owner)
    this.#fields = new URLSearchParams(query)
    this.#parser = this.#newParser(contentType)
  }

  begin(drained: () => void): void {
    this.#parser.on('drain', drained)
  }

  protected take(chunk: Uint8Array): boolean {
    return this.#parser.write(chunk)
  }

  end(): void {
    if (!this.isOver) this.#parser.end()
  }

  protected stop(): void {
    this.#parser.destroy()
  }

  protected fields(): string {
    return this.#fields.toString()
  }

  #newParser(contentType: string): Busboy {
    const { parts, filesMax } = this.form
    const parser = loadBusboy()({
      headers: { 'content-type': contentType },
      highWaterMark: FORM_PARSED_BYTES_MAX,
      fileHwm: FORM_PARSED_BYTES_MAX,
      // A name is UTF-8, as browsers and curl write it.
      defParamCharset: 'utf8',
      limits: {
        files: filesMax,
        fields: FORM_FIELDS_MAX,
        fieldNameSize: FORM_FIELD_NAME_BYTES_MAX,
        fieldSize: FORM_FIELD_BYTES_MAX,
        headerPairs: FORM_PART_HEADERS_MAX,
      },
    })
    parser.on('file', (part, stream, { filename }) => {
      // The parser throws it into the stream of a file, too, where a form ends early.
      stream.on('error', () => undefined)
      // A browser sends a part without a name for a file that was not chosen.
      if (this.isOver || !parts.includes(part) || typeof filename !== 'string' || filename === '') stream.resume()
      else stream.pipe(this.newSink(filename))
    })
    parser.on('field', (name, value, { nameTruncated, valueTruncated }) => {
      if (nameTruncated || valueTruncated)
        this.refuse(
          'invalid',
          `invalid form: ${name} has more than ${nameTruncated ? FORM_FIELD_NAME_BYTES_MAX : FORM_FIELD_BYTES_MAX} bytes`,
        )
      else this.#fields.append(name, value)
    })
    parser.on('filesLimit', () => this.refuse('invalid', `invalid form: more than ${filesMax} files`))
    parser.on('fieldsLimit', () => this.refuse('invalid', `invalid form: more than ${FORM_FIELDS_MAX} fields`))
    parser.on('error', (error: Error) => this.refuse('invalid', `invalid form: ${error.message}`))
    parser.on('close', () => this.complete())
    return parser
  }
}

/** A body that is one file. */
class ReceivedBody extends ReceivedFiles {
  readonly #sink: SpoolSink

  constructor(form: FilesForm, { query }: FormHead, place: SpoolPlace, owner: FormOwner) {
    super(form, query, place, owner)
    this.#sink = this.newSink('')
  }

  begin(drained: () => void): void {
    this.#sink.on('drain', drained)
  }

  protected take(chunk: Uint8Array): boolean {
    return this.#sink.write(chunk)
  }

  end(): void {
    if (this.isOver) return
    this.#sink.end()
    this.complete()
  }

  protected stop(): void {
    this.#sink.destroy()
  }

  protected fields(): string {
    return this.query
  }
}

export type FormConsumer = ReceivedForm | ReceivedBody

/** @returns undefined if a body of this type is none that the operation takes */
export function formConsumer(form: FilesForm, head: FormHead, place: SpoolPlace, owner: FormOwner): FormConsumer | undefined {
  const type = (head.contentType.split(';')[0] ?? '').trim().toLowerCase()
  if (form.wholeTypes?.includes(type) === true) return new ReceivedBody(form, head, place, owner)
  if (type !== 'multipart/form-data') return undefined
  try {
    return new ReceivedForm(form, head, place, owner)
  } catch {
    return undefined // The parser refuses a type without a boundary.
  }
}
