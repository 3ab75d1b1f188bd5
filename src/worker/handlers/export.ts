/**
 * Exports of collections, in parts: NDJSON copied from stored bytes, ZIP with one file per document. Runs on
 * the bulk lane. Only these streams persist between two parts.
 */
import { tmpdir } from 'node:os'
import { EntryNames } from '../../domain/export/entry_names.js'
import type { DocumentForm } from '../../domain/export/pages.js'
import { ExportPages } from '../../domain/export/pages.js'
import { ZipWriter } from '../../domain/export/zip_writer.js'
import { parseFilters } from '../../domain/search/filters.js'
import { ServiceError, serviceError } from '../../errors.js'
import { EXPORT_PART_BYTES } from '../../limits/documents.js'
import { EXPORT_FORMAT_DEFAULT, exportCollection as exportRow } from '../../operations/documents/export.js'
import type { InputOf } from '../../operations/row/operation.js'
import { unescapeContent } from '../../store/body.js'
import { Spool } from '../../store/files/spool.js'
import { textOfHead } from '../../store/head.js'
import { log } from '../../telemetry/log.js'
import { type AnswerStream, type BoundHandler, type LaneContext, stream } from '../request/handler.js'

function exportCollection(lane: LaneContext, input: InputOf<typeof exportRow>): AnswerStream {
  const { collection, format = EXPORT_FORMAT_DEFAULT } = input
  if (format !== 'ndjson' && format !== 'zip') throw serviceError('unsupportedFormat')
  const pages = new ExportPages(lane.store, collection, parseFilters(input))
  return format === 'ndjson' ? ndjson(lane, pages) : zip(lane, pages)
}

const writeLine: DocumentForm = (view, head, out) => {
  view.writeDocument(head, out, true)
  out.ascii('\n')
}

function ndjson(lane: LaneContext, pages: ExportPages): AnswerStream {
  return {
    contentType: 'application/x-ndjson',
    facts: savedAs(pages.collection, 'ndjson'),
    next: (request) => {
      const out = lane.out.begin()
      const isLast = pages.fill(out, writeLine, request)
      return { bytes: out.view(), isLast }
    },
    close: () => undefined,
  }
}

function zip(lane: LaneContext, pages: ExportPages): AnswerStream {
  const names = new EntryNames()
  const directory = named(() => new Spool(lane.isReadOnly ? tmpdir() : lane.config.path))
  const writer = new ZipWriter(directory)
  const writeFile: DocumentForm = (view, head, out) => {
    const { key, lang } = textOfHead(head)
    // Read before the name is assigned, which happens once: the content may have to be fetched, and then the
    // document is processed again.
    const content = Buffer.from(unescapeContent(view.escapedContent(head)))
    writer.add(out, names.of(key, lang, head.docid), content, head.updatedAt)
  }
  let hasAllFiles = false
  return {
    contentType: 'application/zip',
    facts: savedAs(pages.collection, 'zip'),
    next: (request) => {
      const out = lane.out.begin()
      hasAllFiles ||= named(() => pages.fill(out, writeFile, request))
      let isLast = false
      while (hasAllFiles && !isLast && out.length < EXPORT_PART_BYTES) {
        const bytes = named(() => directory.next())
        isLast = bytes.length === 0
        if (isLast) writer.end(out)
        else out.bytes(bytes)
      }
      return { bytes: out.view(), isLast }
    },
    close: () => directory.close(),
  }
}

/**
 * Reports why the temporary file of the archive's directory failed: the file system may be full or read-only.
 * The report is in the answer, or in the log if the answer has begun.
 */
function named<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (typeof code !== 'string' || typeof syscall !== 'string') throw error
    log.error('an export was given up: its temporary file can not be written', { fault: error })
    throw new ServiceError('exportFailed', `export failed: the temporary file in the data directory can not be written (${code})`)
  }
}

/** The file name under which the client saves the answer. */
function savedAs(collection: string, extension: string): AnswerStream['facts'] {
  return [['fileName', `${collection.replace(/[^A-Za-z0-9._-]/gu, '-')}.${extension}`]]
}

export const exportHandlers: readonly BoundHandler[] = [stream(exportRow, exportCollection)]
