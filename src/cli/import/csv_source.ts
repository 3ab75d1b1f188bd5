/**
 * An import source for CSV, with or without gzip: commas, quotes as in RFC 4180, a first row of names. Each
 * other row is one document (foreign_document.ts); empty cells are no metadata. A position is the number of a
 * row. Few rows are in memory at a time. The parser is loaded where there is a CSV file.
 */
import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import type { ImportSource, ItemOrigin, SourceItem } from '../files/document.js'
import { documentItem, SourceError } from '../files/document.js'
import { foreignDocument } from '../files/foreign_document.js'
import type { RecordOptions } from './json_records.js'
import { gunzip, IMPORT_LINE_BYTES_MAX, inspect } from './ndjson_source.js'

interface Row {
  readonly record: readonly string[]
  /** `lines` is the last line of the row, `empty_lines` the number of those that are left out, up to it. */
  readonly info: { readonly lines: number; readonly empty_lines: number }
}

const NAME = /\.csv(?:\.gz)?$/i
const require = createRequire(import.meta.url)

export const isCsv = (path: string): boolean => NAME.test(path)

export async function openCsv(path: string, options: RecordOptions): Promise<ImportSource> {
  const { size, mtimeMs, isGzip } = await inspect(path)
  return {
    total: size,
    fingerprint: `csv ${resolve(path)} ${size} ${mtimeMs}`,
    async *items(after) {
      const file = createReadStream(path)
      let names: readonly string[] | undefined
      let number = 0
      let before = { lines: 0, empty_lines: 0 }
      try {
        for await (const { record, info } of rowsOf(isGzip ? gunzip(file) : file)) {
          const line = before.lines + info.empty_lines - before.empty_lines + 1
          before = info
          if (names === undefined) names = checkedNames(record)
          else if (++number > Number(after?.position ?? 0)) {
            const origin = { name: `row ${number} in line ${line}`, position: String(number), consumed: file.bytesRead }
            yield rowItem(record, names, origin, options)
          }
        }
      } catch (cause) {
        throw new SourceError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
      } finally {
        file.destroy()
      }
    },
  }
}

function rowsOf(bytes: AsyncIterable<Buffer>): AsyncIterable<Row> {
  const { parse } = require('csv-parse') as typeof import('csv-parse')
  const parser = parse({ bom: true, info: true, relax_column_count: true, skip_empty_lines: true, max_record_size: IMPORT_LINE_BYTES_MAX })
  const text = Readable.from(decoded(bytes))
  text.on('error', (error) => parser.destroy(error))
  return text.pipe(parser) as AsyncIterable<Row>
}

/** @throws TypeError where the bytes are not UTF-8 */
async function* decoded(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

function checkedNames(names: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  const twice = names.find((name) => seen.size === seen.add(name).size)
  if (twice !== undefined) throw new Error(`two columns have the name ${JSON.stringify(twice)}`)
  return names
}

function rowItem(cells: readonly string[], names: readonly string[], origin: ItemOrigin, options: RecordOptions): SourceItem {
  if (cells.length !== names.length) return { kind: 'problem', ...origin, problem: `${cells.length} cells for ${names.length} columns` }
  const { contentField = 'content' } = options
  const entries = names.map((name, index) => [name, cells[index]] as const)
  // An empty text is a document without words, which is no mistake.
  const document = foreignDocument(Object.fromEntries(entries.filter(([name, cell]) => cell !== '' || name === contentField)), options)
  return typeof document === 'string' ? { kind: 'problem', ...origin, problem: document } : documentItem(document, origin)
}
