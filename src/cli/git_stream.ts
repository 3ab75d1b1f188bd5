/**
 * A collection's history as a stream for `git fast-import`: first every state of every document as a blob, in
 * the order in which the server gives them, then one commit a state, in the order of time. So no content is
 * held but those of a few documents; of a state remain its time, its place and its number. The same history
 * gives the same commits, byte for byte: names and texts are fixed, times are the states' own.
 */
import { GIT_EXPORT_DOCUMENTS_AT_ONCE, GIT_EXPORT_STATES_MAX } from '../limits/cli.js'
import { AnswerError, request } from './client.js'
import { digestOf, listDocuments, type ListedDocument, type StoredDocument, type StoredState } from './collection_documents.js'
import { writeExportedFile } from './exported_file.js'
import { pathOf, quotedPath } from './git_paths.js'

const PERSON = 'Markdown Document Service <mds@localhost>'
const BRANCH = 'refs/heads/main'
const LINE_END = Buffer.from('\n')

interface ListedRevision extends StoredState {
  readonly timestamp: number
  readonly revision: number
}

/** One state: where it goes in time, and what it is of. Its blob's number is its place in the list. */
interface State {
  readonly time: number
  readonly document: number
  /** Null for a present state that does not count as a revision. */
  readonly revision: number | null
}

export interface ExportedHistory {
  readonly documents: number
  readonly commits: number
}

/** The pieces of the stream, in order; what it held is returned. @throws AnswerError, ConnectionError */
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
  // The present state does not count as a revision, or has changed since it was listed.
  const present = (await unlessGone(request(url, 'POST', '/v1/get', { collection, key, lang }))) as StoredDocument | undefined
  if (present === undefined || (newest !== undefined && digestOf(newest) === digestOf(present))) return states
  return [...states, { time: present.updatedAt, revision: null, file: fileOf(present) }]
}

/** A document that was deleted since it was listed took its history with it. */
async function unlessGone(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return undefined
    throw error
  }
}

/** By time; of one second by document and revision, in which order the blobs were numbered. */
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
