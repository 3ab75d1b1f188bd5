/** The methods of documents that are written by hand: those with headers or streams as their answers. */
import { type Change, changesOf } from './changes.js'
import {
  type AddInput,
  type Document,
  type DocumentsMethods,
  type ExportInput,
  type ImportWikiAnswer,
  type ImportWikiInput,
  ROUTES,
  type SearchInput,
  type UploadAnswer,
  type UploadInput,
  type WatchChangesInput,
} from './generated.js'
import { linesOf } from './lines.js'
import type { CallOptions } from './options.js'
import type { Input } from './route.js'
import type { Transport } from './transport.js'

export interface DocumentPage {
  readonly documents: readonly Document[]
  /** Number of matching documents, before pagination. */
  readonly total: number
  /** Documents were left out because of the token budget of the collection. */
  readonly isTruncated: boolean
}

export interface UploadFile {
  /** With its extension, which says the format. */
  readonly name: string
  readonly content: Blob | Uint8Array<ArrayBuffer> | string
}

export interface Documents extends DocumentsMethods {
  /** Lists documents by metadata, sorted and paged. `POST /v1/search` */
  search(input: SearchInput, options?: CallOptions): Promise<DocumentPage>
  /** Writes files as documents. One answers what it became, several the counts. `POST /v1/upload` */
  upload(files: UploadFile | readonly UploadFile[], input: UploadInput, options?: CallOptions): Promise<UploadAnswer>
  /** Imports the dump of a wiki. `POST /v1/import-wiki` */
  importWiki(dump: UploadFile, input: ImportWikiInput, options?: CallOptions): Promise<ImportWikiAnswer>
  /** All documents of a collection, one after the other while the server reads them. `POST /v1/export` */
  export(input: Omit<ExportInput, 'format'>, options?: CallOptions): AsyncGenerator<Document, void, undefined>
  /**
   * What happens to documents and jobs from now on, or behind `since`, without end. A stream that breaks off
   * is resumed. `GET /v1/events`
   */
  changes(input?: WatchChangesInput, options?: CallOptions): AsyncGenerator<Change, void, undefined>
  /** A ZIP file with a markdown file for each document, as a stream of bytes. `POST /v1/export` */
  exportArchive(input: Omit<ExportInput, 'format'>, options?: CallOptions): Promise<ReadableStream<Uint8Array>>
}

export function documentsOf(transport: Transport, methods: DocumentsMethods): Documents {
  return {
    ...methods,
    // Without a revision, a second write of the same content changes nothing.
    add: (input: AddInput, options: CallOptions = {}) =>
      methods.add(input, { ...options, isRepeatable: options.isRepeatable ?? input.skipRevision === true }),
    async search(input, options) {
      const { body, headers } = await transport.callWithHeaders(ROUTES.search, input as unknown as Input, options)
      const documents = body as readonly Document[]
      return {
        documents,
        total: Number(headers.get('X-Total-Count') ?? documents.length),
        isTruncated: headers.get('X-Context-Truncated') === '1',
      }
    },
    upload: async (files, input, options) => (await transport.call(ROUTES.upload, formOf(files, input), options)) as UploadAnswer,
    importWiki: async (dump, input, options) => (await transport.call(ROUTES.importWiki, formOf(dump, input), options)) as ImportWikiAnswer,
    async *export(input, options) {
      yield* linesOf<Document>(await transport.open(ROUTES.export, { ...input, format: 'ndjson' }, options))
    },
    changes: (input = {}, options) => changesOf(transport, input, options),
    async exportArchive(input, options) {
      const { response, limit } = await transport.open(ROUTES.export, { ...input, format: 'zip' }, options)
      return bytesOf(response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>, limit)
    },
  }
}

function formOf(files: UploadFile | readonly UploadFile[], input: UploadInput): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(input))
    if (value !== undefined && value !== null) form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  const several: readonly UploadFile[] = 'name' in files ? [files] : files
  for (const { name, content } of several) form.append('files[]', content instanceof Blob ? content : new Blob([content]), name)
  return form
}

function bytesOf(reader: ReadableStreamDefaultReader<Uint8Array>, limit: Awaited<ReturnType<Transport['open']>>['limit']) {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          limit.start()
          const { done, value } = await reader.read()
          limit.pause()
          if (!done) return controller.enqueue(value)
          limit.end()
          controller.close()
        } catch (cause) {
          const error = limit.errorFor(cause)
          limit.end(false)
          throw error
        }
      },
      cancel: () => limit.end(false),
    },
    // Nothing is read before it is asked for.
    { highWaterMark: 0 },
  )
}
