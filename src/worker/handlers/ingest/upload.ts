/**
 * Uploads on the lanes: a request is checked before any of its files is converted, and each file is prepared
 * like any document when the front end has its text (src/background/uploads.ts).
 */
import { keyOfFile } from '../../../conversion/file_key.js'
import { formatOf, uploadFacts } from '../../../conversion/formats.js'
import { readFrontmatter } from '../../../conversion/frontmatter.js'
import { decodeText, fenced, isBinary } from '../../../conversion/text_files.js'
import type { Command } from '../../../domain/commands.js'
import { checkIdentity, requirePlainName } from '../../../domain/documents/identity.js'
import { parseMetadata, requireText } from '../../../domain/documents/metadata.js'
import { findDuplicates } from '../../../domain/ingest/duplicates.js'
import { ingestFlags } from '../../../domain/ingest/ingest_options.js'
import { findDocument } from '../../../domain/writes/changes.js'
import { type Draft, enriched } from '../../../domain/writes/enrichment.js'
import { checkTtl, prepareDocument } from '../../../domain/writes/preparation.js'
import { badRequest, CATALOGUE, ServiceError, serviceError } from '../../../errors.js'
import { DOCUMENT_BYTES_MAX } from '../../../limits/documents.js'
import {
  findUploaded as findRow,
  storeUpload as storeRow,
  upload as uploadRow,
  UPLOAD_FILE_BYTES_DEFAULT,
  UPLOAD_FILE_BYTES_MAX,
} from '../../../operations/documents/upload.js'
import type { InputOf } from '../../../operations/row/operation.js'
import type { ReceivedFile } from '../../../operations/row/received_files.js'
import type { Answer } from '../../../wire/answer.js'
import type { StoreFirst } from '../../../wire/messages/messages.js'
import type { RefusedFile, Upload, UploadedFile, UploadFlags } from '../../../wire/messages/upload_messages.js'
import { type BoundHandler, io, type LaneContext, prepare, read } from '../../request/handler.js'
import { commandOf } from '../../request/storage.js'
import { rulesOf } from '../documents.js'

function check(_lane: LaneContext, input: InputOf<typeof uploadRow>): Upload {
  const { collection, lang, key = '', meta = {}, ttl = 0, maxSize = 0, files, profile, ...given } = input
  if (files.length === 0) throw serviceError('missingFields', 'A part `file` or `files[]` with a file name is expected.')
  if (key !== '' && files.length > 1) throw badRequest(`invalid key: it names one document, and ${files.length} files came`)
  requirePlainName('collection', collection)
  requirePlainName('lang', lang)
  checkTtl(ttl)
  requireText(undefined, meta)
  parseMetadata(meta)
  const { flags } = ingestFlags({ ...(profile === undefined ? {} : { profile }), ...given })
  const bytesMax = maxSize === 0 ? UPLOAD_FILE_BYTES_DEFAULT : Math.min(maxSize, UPLOAD_FILE_BYTES_MAX)
  const asked = { collection, lang, meta, ttl, profile: profile ?? null, flags }
  return { ...asked, files: files.map((file) => checkFile(file, { key, lang, bytesMax })) }
}

/** Other files of the request go on without one that is refused. */
function checkFile(
  file: ReceivedFile,
  { key: given, lang, bytesMax }: { readonly key: string; readonly lang: string; readonly bytesMax: number },
): UploadedFile | RefusedFile {
  const { name, bytes, spooled } = file
  const refused = (code: RefusedFile['code'], text: string): RefusedFile => ({ name, code, text })
  const format = formatOf(name)
  if (format === undefined) return refused('unsupportedFormat', `${CATALOGUE.unsupportedFormat.text}: ${extensionOf(name)}`)
  if (bytes > bytesMax) return refused('fileTooLarge', `file too large: ${bytes} bytes, at most ${bytesMax} are allowed`)
  if (format.kind !== 'converted' && bytes > TEXT_FILE_BYTES_MAX)
    return refused('fileTooLarge', `file too large: ${bytes} bytes of text, at most ${DOCUMENT_BYTES_MAX} are allowed`)
  const key = given === '' ? keyOfFile(name) : given
  if (key === '') return refused('invalid', 'cannot derive key from the file name; provide key explicitly')
  try {
    checkIdentity(key, lang)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return refused('invalid', error.message)
  }
  if (spooled !== undefined) return { name, key, format, spooled }
  return { name, key, format, content: Buffer.from(file.content ?? '', 'base64') }
}

/** Bytes of a file of text: in UTF-16 it may be twice as long as its document. It is in memory as a whole. */
const TEXT_FILE_BYTES_MAX = 2 * DOCUMENT_BYTES_MAX
/** Bytes of an extension that an error text shows. */
const EXTENSION_SHOWN_MAX = 32

function extensionOf(name: string): string {
  const at = name.lastIndexOf('.')
  return at === -1 ? 'the name has no extension' : name.slice(at, at + EXTENSION_SHOWN_MAX)
}

type FileInput = Pick<InputOf<typeof storeRow>, 'name' | 'content' | 'meta'>

/**
 * @param content of a converted format what the converter made, of any other one the file
 * @throws ServiceError 400, and 413 for a text that is longer than a document may be
 */
function draftOf({ name, content, meta = {} }: FileInput, warnings: string[]): Draft {
  const format = formatOf(name)
  if (format === undefined) throw serviceError('unsupportedFormat')
  if (format.kind !== 'converted' && isBinary(content)) throw badRequest('conversion failed: binary data, no text')
  const text = decodeText(content)
  const contentMd = format.kind === 'wrapped' ? fenced(text, format.name) : text
  const bytes = Buffer.byteLength(contentMd)
  if (bytes > DOCUMENT_BYTES_MAX)
    throw new ServiceError('fileTooLarge', `file too large: its text has ${bytes} bytes, at most ${DOCUMENT_BYTES_MAX} are allowed`)
  const stored = format.kind === 'stored' ? { frontmatter: readFrontmatter, warn: (text: string) => void warnings.push(text) } : {}
  return { contentMd, meta, injected: uploadFacts(name, format), ...stored }
}

function store(lane: LaneContext, input: InputOf<typeof storeRow>): Command | StoreFirst {
  const { collection, key, lang, ttl } = input
  const { saveRevision, skipFts, skipEmbeddings, skipWebhooks } = input.flags as unknown as UploadFlags
  const warnings: string[] = []
  const draft = draftOf(input, warnings)
  const wishes = { saveRevision, skipsFullText: skipFts, skipsEmbedding: skipEmbeddings, skipsWebhooks: skipWebhooks, answered: true }
  const document = prepareDocument(lane, { key, lang, ttl, rules: rulesOf(lane, collection), ...draft, ...wishes })
  return commandOf(lane, { kind: 'add', collection, document, warnings })
}

/** The stored document; empty if it has another text, or is not there. */
function find(lane: LaneContext, input: InputOf<typeof findRow>): Answer {
  const { collection, key, lang } = input
  const { contentMd } = enriched(draftOf(input, []))
  return lane.store.read((view) => {
    const [isDuplicate] = findDuplicates(view, view.collection(collection)?.id, [{ key, lang, contentMd }])
    if (isDuplicate !== true) return { body: '' }
    const out = lane.out.begin()
    view.writeDocument(findDocument(view, collection, key, lang), out, true)
    return { body: out.view() }
  })
}

export const uploadHandlers: readonly BoundHandler[] = [io(uploadRow, check), prepare(storeRow, store), read(findRow, find)]
