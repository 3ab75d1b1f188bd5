/**
 * The forms that a body with files may have: multipart/form-data, whose text fields are kept, and one file as
 * a whole. Front-end thread only.
 */
import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import type { Busboy } from 'busboy'
import { MIB } from '../../../limits/units.js'
import type { FilesForm } from '../../../operations/row/http_form.js'
import { type FormOwner, ReceivedFiles, type SpoolPlace } from './received_files.js'
import type { SpoolSink } from './spool_sink.js'

/** Text fields of a form. */
const FORM_FIELDS_MAX = 64
/** Bytes of the name and of the value of a field. The longest that a client needs is metadata. */
const FORM_FIELD_NAME_BYTES_MAX = 256
const FORM_FIELD_BYTES_MAX = 1 * MIB
/** Headers of a part. */
const FORM_PART_HEADERS_MAX = 32

const require = createRequire(import.meta.url)

/** Loaded with the first form: most servers receive none. */
const loadBusboy = (): typeof import('busboy') => require('busboy') as typeof import('busboy')

export interface FormHead {
  readonly contentType: string
  /** Without the question mark. */
  readonly query: string
}

/** A form: multipart/form-data. */
class ReceivedForm extends ReceivedFiles {
  readonly #parser: Busboy
  readonly #fields: URLSearchParams
  /** Parts that may hold bytes of the chunk: several may begin and end in one. */
  readonly #parts = new Set<Readable>()

  /** @throws Error if the content type has no usable boundary */
  constructor(form: FilesForm, { contentType, query }: FormHead, place: SpoolPlace, owner: FormOwner) {
    super(form, query, place, owner)
    this.#fields = new URLSearchParams(query)
    this.#parser = this.#newParser(contentType)
  }

  protected take(chunk: Uint8Array): void {
    this.#parser.write(chunk)
  }

  protected hasTaken(): boolean {
    return this.#parser.writableLength === 0 && [...this.#parts].every(({ readableLength }) => readableLength === 0)
  }

  protected finish(): void {
    this.#parser.end()
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
      this.#parts.add(stream)
      stream.on('close', () => this.#parts.delete(stream))
      // The parser throws it into the stream of a file, too, where a form ends early.
      stream.on('error', () => undefined)
      // A browser sends a part without a name for a file that was not chosen.
      if (this.isOver || !parts.includes(part) || typeof filename !== 'string' || filename === '') stream.resume()
      else this.#receive(stream, filename)
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

  #receive(stream: Readable, name: string): void {
    const sink = this.newSink(name)
    stream.on('data', (bytes: Uint8Array) => sink.append(bytes))
    stream.on('end', () => sink.end())
  }
}

/** A body that is one file. */
class ReceivedBody extends ReceivedFiles {
  readonly #sink: SpoolSink

  constructor(form: FilesForm, { query }: FormHead, place: SpoolPlace, owner: FormOwner) {
    super(form, query, place, owner)
    this.#sink = this.newSink('')
  }

  protected take(chunk: Uint8Array): void {
    this.#sink.append(chunk)
  }

  protected hasTaken(): boolean {
    return true
  }

  protected finish(): void {
    this.#sink.end()
    this.complete()
  }

  protected stop(): void {
    // Nothing beside the file, which is removed.
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
