/**
 * An import source for NDJSON files, with or without gzip. Each line is one `{key, lang, meta, contentMd}`,
 * with `expiresAt`, `addedAt` and `updatedAt` if it comes from an export; other fields are ignored. Gzip is
 * detected by the first two bytes, not by the name. A position is a line number. Only one line is in memory
 * at a time.
 */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createGunzip } from 'node:zlib'
import { BODY_BYTES_DEFAULT } from '../../limits/documents.js'
import type { ImportDocument, ImportSource, SourceItem } from '../files/document.js'
import { documentItem, SourceError } from '../files/document.js'
import { decodeUtf8 } from '../files/document_file.js'
import type { Line } from '../files/line_splitter.js'
import { splitLines } from '../files/line_splitter.js'

/** Bytes of one NDJSON line: what fits in a request body with its frame. */
const IMPORT_LINE_BYTES_MAX = BODY_BYTES_DEFAULT - 1024

const READ_BYTES = 256 * 1024

export async function openNdjson(path: string, options: { readonly lang: string }): Promise<ImportSource> {
  const { size, mtimeMs, isGzip } = await inspect(path)
  return {
    total: size,
    fingerprint: `ndjson ${resolve(path)} ${size} ${mtimeMs}`,
    async *items(after) {
      const firstNew = after === undefined ? 1 : Number(after.position) + 1
      const file = createReadStream(path, { highWaterMark: READ_BYTES })
      try {
        for await (const line of splitLines(isGzip ? gunzip(file) : file, IMPORT_LINE_BYTES_MAX)) {
          if (line.number >= firstNew && line.bytes?.length !== 0) yield parseLine(line, file.bytesRead, options.lang)
        }
      } catch (cause) {
        throw new SourceError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
      } finally {
        file.destroy()
      }
    },
  }
}

async function inspect(path: string): Promise<{ size: number; mtimeMs: number; isGzip: boolean }> {
  const file = await open(path).catch((cause: unknown) => {
    throw new SourceError(`cannot open ${path}`, { cause })
  })
  try {
    const { size, mtimeMs } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return { size, mtimeMs, isGzip: bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b }
  } finally {
    await file.close()
  }
}

/**
 * `pipe` forwards no errors, but the reader of the gunzip stream must get a failed read as well as a
 * truncated archive.
 */
function gunzip(file: ReturnType<typeof createReadStream>): AsyncIterable<Buffer> {
  const stream = createGunzip({ chunkSize: READ_BYTES })
  file.on('error', (error) => stream.destroy(error))
  return file.pipe(stream)
}

function parseLine(line: Line, consumed: number, lang: string): SourceItem {
  const origin = { name: `line ${line.number}`, position: String(line.number), consumed }
  const problem = (text: string): SourceItem => ({ kind: 'problem', ...origin, problem: text })
  if (line.bytes === undefined) return problem(`longer than ${IMPORT_LINE_BYTES_MAX} bytes`)
  const text = decodeUtf8(line.bytes)
  if (text === undefined) return problem('not valid UTF-8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return problem(`invalid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  const document = readDocument(value, lang)
  return typeof document === 'string' ? problem(document) : documentItem(document, origin)
}

/**
 * Returns the document, or a description of the problem. Bounds and metadata are validated by the server,
 * which reports errors per document.
 */
function readDocument(value: unknown, langDefault: string): ImportDocument | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not a JSON object'
  const { key, lang = langDefault, meta = {}, contentMd, expiresAt, addedAt, updatedAt } = value as Record<string, unknown>
  if (typeof key !== 'string' || key === '') return 'key: a text is required'
  if (typeof lang !== 'string') return 'lang: must be a text'
  if (typeof contentMd !== 'string') return 'contentMd: a text is required'
  if (meta !== null && (typeof meta !== 'object' || (Array.isArray(meta) && meta.length > 0)))
    return 'meta: must be an object of lists of texts'
  return { key, lang, meta: (meta ?? {}) as Record<string, unknown>, contentMd, expiresAt, addedAt, updatedAt }
}
