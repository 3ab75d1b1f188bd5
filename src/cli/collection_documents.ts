/**
 * Lists the documents of a collection, as streamed by `/v1/export`, in any number. Only one line at a time
 * and the identity of each document are in memory.
 */
import { createHash } from 'node:crypto'
import { ANSWER_BYTES_MAX } from '../limits/answers.js'
import { AnswerError, sendForBytes } from './client.js'
import { splitLines } from './line_splitter.js'

export type Meta = Readonly<Record<string, readonly string[]>>

export interface StoredState {
  readonly meta: Meta
  readonly contentMd: string
}

export interface StoredDocument extends StoredState {
  readonly key: string
  readonly lang: string
  readonly updatedAt: number
}

/** The data kept of a listed document. */
export interface ListedDocument {
  readonly key: string
  readonly lang: string
  readonly updatedAt: number
  readonly digest: string
}

/** @throws AnswerError, ConnectionError */
export async function* listDocuments(url: string, collection: string): AsyncGenerator<ListedDocument> {
  const bytes = sendForBytes(url, '/v1/export', JSON.stringify({ collection, format: 'ndjson' }))
  for await (const line of splitLines(bytes, ANSWER_BYTES_MAX)) {
    if (line.bytes === undefined) throw new AnswerError(200, `line ${line.number} of the export is larger than ${ANSWER_BYTES_MAX} bytes`)
    if (line.bytes.length === 0) continue
    const document = JSON.parse(line.bytes.toString('utf8')) as StoredDocument
    yield { key: document.key, lang: document.lang, updatedAt: document.updatedAt, digest: digestOf(document) }
  }
}

/** Equal for equal metadata and content. */
export function digestOf({ meta, contentMd }: StoredState): string {
  return createHash('sha256')
    .update(JSON.stringify([meta, contentMd]))
    .digest('base64')
}
