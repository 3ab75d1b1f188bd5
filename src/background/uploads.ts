/**
 * Uploaded files: converted by a process where they are not text, then stored by a lane, one after another.
 * Each file of several is answered by itself. The files lie in the data directory while that goes on, and
 * whoever put them there removes them. Front-end thread only.
 */
import { rm } from 'node:fs/promises'
import { type Principal, SYSTEM } from '../access/principal.js'
import { keyOfFile, readWholeSealed, writeWholeSealed } from '../base/sealed_files.js'
import { newSpoolName, spoolPath } from '../base/spool_files.js'
import type { Config } from '../config/config.js'
import { ConversionRefused } from '../conversion/conversion_refused.js'
import { successOf } from '../dispatch/answers/answers.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { ask } from '../dispatch/inner_request.js'
import type { Io } from '../dispatch/io.js'
import { badRequest, ServiceError, serviceError } from '../errors.js'
import { MIB } from '../limits/units.js'
import { findUploaded, storeUpload, upload as uploadRow } from '../operations/documents/upload.js'
import { type Fact, factOf, type OutgoingAnswer, textOf } from '../wire/answer.js'
import type { RefusedFile, Upload, UploadedFile } from '../wire/messages/upload_messages.js'
import type { Converters } from './converters.js'

/** Uploads whose files are being converted and stored. One holds a file of text, or what a converter made. */
const UPLOADS_UNDER_WAY_MAX = 16
/** Bytes of documents in the answer to several files. */
const UPLOAD_ANSWER_BYTES_MAX = 64 * MIB

/** What one file became. */
interface Stored {
  readonly outcome: 'added' | 'updated' | 'skipped'
  readonly json: Buffer
}

/** On whose behalf files are stored. */
interface Asking {
  readonly principal: Principal
  /** Nobody waits for the answer any more. */
  readonly hasLeft: () => boolean
}

/** The data directory, and with what files in it are sealed. */
type UploadConfig = Pick<Config, 'path' | 'encryption'>

export function serveUploads(dispatcher: Dispatcher, converters: Converters, config: UploadConfig): void {
  const uploads = new Uploads(dispatcher, converters, config)
  dispatcher.onIo(uploadRow, uploads.run)
}

class Uploads {
  #underWay = 0

  constructor(
    readonly dispatcher: Dispatcher,
    readonly converters: Converters,
    readonly config: UploadConfig,
  ) {}

  readonly run: Io<Upload> = async (upload, { principal: { name }, clientAddress }) => {
    if (this.#underWay >= UPLOADS_UNDER_WAY_MAX) throw serviceError('overloaded')
    this.#underWay += 1
    try {
      // As the server itself, on behalf of whoever asked: the lane has checked the rights.
      const asking = { principal: { ...SYSTEM, name }, hasLeft: () => clientAddress() === null }
      const [first, ...others] = upload.files
      if (first === undefined) throw new Error('an upload without files')
      return others.length === 0 ? await this.#single(upload, first, asking) : await this.#several(upload, asking)
    } finally {
      this.#underWay -= 1
    }
  }

  async #single(upload: Upload, file: UploadedFile | RefusedFile, asking: Asking): Promise<OutgoingAnswer> {
    const { json } = await this.#stored(upload, file, asking)
    return successOf(json)
  }

  /** A file that is refused does not keep the others from being stored. */
  async #several(upload: Upload, asking: Asking): Promise<OutgoingAnswer> {
    const counts = { added: 0, updated: 0, skipped: 0 }
    const errors: string[] = []
    const results: Buffer[] = []
    let bytes = 0
    for (const file of upload.files) {
      try {
        const { outcome, json } = await this.#stored(upload, file, asking)
        counts[outcome] += 1
        bytes += json.length
        if (bytes <= UPLOAD_ANSWER_BYTES_MAX) results.push(json)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        errors.push(`${file.name}: ${error.message}`)
      }
    }
    const { skipped, ...written } = counts
    const named = upload.profile === null ? {} : { profile: upload.profile }
    const head = { ...written, failed: errors.length, ...named, ...(skipped === 0 ? {} : { skipped }), errors }
    const body = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"results":[`), ...joined(results), Buffer.from(']}')]
    return successOf(Buffer.concat(body))
  }

  /** @throws ServiceError if the file is refused, or if nobody waits for the answer: its file is gone then */
  async #stored(upload: Upload, file: UploadedFile | RefusedFile, { principal, hasLeft }: Asking): Promise<Stored> {
    if ('code' in file) throw new ServiceError(file.code, file.text)
    const { collection, lang, meta, ttl, profile, flags } = upload
    const { name, key, format } = file
    const content = await this.#contentOf(file, flags.textOnly).catch((error: unknown) => {
      throw hasLeft() ? serviceError('deadline') : error
    })
    if (hasLeft()) throw serviceError('deadline')
    const asked = { collection, lang, key, name, meta, content }
    const named = profile === null || upload.files.length > 1 ? {} : { profile }
    const head = { key, format: format.name, converted: format.kind !== 'stored', ...named }
    if (flags.skipDuplicates) {
      const found = requireSuccess(await ask(this.dispatcher, findUploaded, asked, principal))
      if (found.body.length > 0) return { outcome: 'skipped', json: resultOf(head, found) }
    }
    const answer = requireSuccess(await ask(this.dispatcher, storeUpload, { ...asked, ttl, flags }, principal))
    return { outcome: factOf(answer.facts, 'outcome') === 'added' ? 'added' : 'updated', json: resultOf(head, answer) }
  }

  /** Of a converted format its text, of any other one the file. */
  async #contentOf({ format, spooled, content }: UploadedFile, textOnly: boolean): Promise<Uint8Array> {
    if (format.kind !== 'converted' && content !== undefined) return content
    const { path: directory, encryption } = this.config
    const path = spoolPath(directory, spooled ?? newSpoolName())
    try {
      if (content !== undefined) await writeWholeSealed(path, content, encryption)
      const key = await keyOfFile(path, encryption)
      if (format.kind !== 'converted') return await readWholeSealed(path, key)
      const pool = await this.converters.pool()
      return Buffer.from((await pool.convert({ path, key, format: format.name, textOnly })).markdown)
    } catch (error) {
      throw error instanceof ConversionRefused ? refusalOf(error) : error
    } finally {
      if (content !== undefined) await rm(path, { force: true })
    }
  }
}

function refusalOf({ reason, message }: ConversionRefused): ServiceError {
  if (reason === 'busy') return serviceError('overloaded')
  return reason === 'tooLarge'
    ? new ServiceError('fileTooLarge', `file too large: ${message}`)
    : badRequest(`conversion failed: ${message}`)
}

function requireSuccess(answer: OutgoingAnswer): OutgoingAnswer {
  if (answer.code === null) return answer
  throw new ServiceError(answer.code, (JSON.parse(textOf(answer)) as { readonly error: string }).error)
}

/** The JSON of one file: its document is copied as the lane wrote it. */
function resultOf(head: object, { body, facts }: OutgoingAnswer): Buffer {
  const warnings = facts.filter((_, at) => at % 2 === 1 && facts[at - 1] === ('warning' satisfies Fact))
  const end = warnings.length === 0 ? '}' : `,"warnings":${JSON.stringify(warnings)}}`
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(head).slice(0, -1)},"document":`),
    typeof body === 'string' ? Buffer.from(body) : body,
    Buffer.from(end),
  ])
}

function joined(parts: readonly Buffer[]): Buffer[] {
  const comma = Buffer.from(',')
  return parts.flatMap((part, at) => (at === 0 ? [part] : [comma, part]))
}
