/**
 * Writes a collection's history as a stream for `git fast-import`: first every state of every document as a
 * blob, in the order of the server's responses, then one commit per state, in the order of time. Only the
 * contents of a few documents are in memory; of each state, only its time, its document and its number are
 * kept. The same history yields the same commits, byte for byte: names and texts are fixed, and times are
 * those of the states.
 */
import { createHash } from 'node:crypto'
import { ANSWER_BYTES_MAX } from '../../limits/documents.js'
import { AnswerError, request, sendForBytes } from '../client.js'
import { writeExportedFile } from '../files/exported_file.js'
import { splitLines } from '../files/line_splitter.js'
import { pathOf, quotedPath } from './git_paths.js'

/** Documents whose histories are requested at once. Each answer may have 256 MB, most have some KB. */
const GIT_EXPORT_DOCUMENTS_AT_ONCE = 8
/** States of one export. Each takes some 100 B until they are sorted, and each document as much. */
const GIT_EXPORT_STATES_MAX = 10_000_000

const PERSON = 'Markdown Document Service <mds@localhost>'
const BRANCH = 'refs/heads/main'
const LINE_END = Buffer.from('\n')

type Meta = Readonly<Record<string, readonly string[]>>

interface StoredState {
  readonly meta: Meta
  readonly contentMd: string
}

interface StoredDocument extends StoredState {
  readonly key: string
  readonly lang: string
  readonly updatedAt: number
}

/** The data kept of a listed document. */
interface ListedDocument {
  readonly key: string
  readonly lang: string
  readonly updatedAt: number
  readonly digest: string
}

interface ListedRevision extends StoredState {
  readonly timestamp: number
  readonly revision: number
}

/** One state of a document. The number of its blob is its position in the list. */
interface State {
  readonly time: number
  readonly document: number
  /** Null for a current state that does not count as a revision. */
  readonly revision: number | null
}

export interface ExportedHistory {
  readonly documents: number
  readonly commits: number
}

/**
 * Yields the pieces of the stream in order, and returns the counts.
 * @throws AnswerError, ConnectionError
 */
export async function* gitStream(url: string, collection: string): AsyncGenerator<string | Buffer, ExportedHistory> {
  const documents: ListedDocument[] = []
  for await (const document of listDocuments(url, collection)) documents.push(document)
  const states: State[] = []
  yield 'feature done\n'
  for (let first = 0; first < documents.length; first += GIT_EXPORT_DOCUMENTS_AT_ONCE) {
    const few = documents.slice(first, first + GIT_EXPORT_DOCUMENTS_AT_ONCE)
    const histories = await Promise.all(few.map((document) => statesOf(url, collection, document)))
    for (const [index, history] of histories.entries()) {
      for (const { time, revision, file } of history) {
        states.push({ time, document: first + index, revision })
        if (states.length > GIT_EXPORT_STATES_MAX) throw new AnswerError(200, `more than ${GIT_EXPORT_STATES_MAX} revisions`)
        yield Buffer.concat([Buffer.from(`blob\nmark :${states.length}\ndata ${file.length}\n`), file, LINE_END])
      }
    }
  }
  yield* commits(documents, states)
  yield 'done\n'
  return { documents: documents.length, commits: states.length }
}

interface FileOfState {
  readonly time: number
  readonly revision: number | null
  readonly file: Buffer
}

/** Oldest first. */
async function statesOf(url: string, collection: string, listed: ListedDocument): Promise<readonly FileOfState[]> {
  const { key, lang } = listed
  const answer = await unlessGone(request(url, 'POST', '/v1/revisions', { collection, key, lang }))
  const { revisions } = (answer ?? { revisions: [] }) as { readonly revisions: readonly ListedRevision[] }
  const fileOf = ({ meta, contentMd }: StoredState): Buffer => Buffer.from(writeExportedFile({ key, lang, meta, contentMd }))
  const states = revisions.map((state): FileOfState => ({ time: state.timestamp, revision: state.revision, file: fileOf(state) })).reverse()
  const newest = revisions[0]
  if (newest !== undefined && digestOf(newest) === listed.digest) return states
  // The current state does not count as a revision, or has changed since the listing.
  const present = (await unlessGone(request(url, 'POST', '/v1/get', { collection, key, lang }))) as StoredDocument | undefined
  if (present === undefined || (newest !== undefined && digestOf(newest) === digestOf(present))) return states
  return [...states, { time: present.updatedAt, revision: null, file: fileOf(present) }]
}

/** Returns undefined if the document, and with it its history, was deleted since the listing. */
async function unlessGone(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return undefined
    throw error
  }
}

/**
 * Ordered by time. Within one second, ordered by document and revision, which is the order of the blob
 * numbers.
 */
function* commits(documents: readonly ListedDocument[], states: readonly State[]): Generator<string | Buffer> {
  const order = Uint32Array.from(states.keys()).sort((one, other) => timeOf(states, one) - timeOf(states, other) || one - other)
  for (const index of order) {
    const { time, document, revision } = states[index] as State
    const { key, lang } = documents[document] as ListedDocument
    const message = Buffer.from(`${oneLine(key)} (${oneLine(lang)}): ${revision === null ? 'present state' : `revision ${revision}`}\n`)
    const head = `commit ${BRANCH}\nauthor ${PERSON} ${time} +0000\ncommitter ${PERSON} ${time} +0000\ndata ${message.length}\n`
    yield Buffer.concat([Buffer.from(head), message, Buffer.from(`M 100644 :${index + 1} ${quotedPath(pathOf(key, lang))}\n\n`)])
  }
}

function timeOf(states: readonly State[], index: number): number {
  return (states[index] as State).time
}

function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]/g, ' ')
}

/**
 * Lists the documents of a collection, in any number. `/v1/export` streams them, and only one line at a time
 * is in memory.
 * @throws AnswerError, ConnectionError
 */
async function* listDocuments(url: string, collection: string): AsyncGenerator<ListedDocument> {
  const bytes = sendForBytes(url, '/v1/export', JSON.stringify({ collection, format: 'ndjson' }))
  for await (const line of splitLines(bytes, ANSWER_BYTES_MAX)) {
    if (line.bytes === undefined) throw new AnswerError(200, `line ${line.number} of the export is larger than ${ANSWER_BYTES_MAX} bytes`)
    if (line.bytes.length === 0) continue
    const document = JSON.parse(line.bytes.toString('utf8')) as StoredDocument
    yield { key: document.key, lang: document.lang, updatedAt: document.updatedAt, digest: digestOf(document) }
  }
}

/** Equal for equal metadata and content. */
function digestOf({ meta, contentMd }: StoredState): string {
  return createHash('sha256')
    .update(JSON.stringify([meta, contentMd]))
    .digest('base64')
}
