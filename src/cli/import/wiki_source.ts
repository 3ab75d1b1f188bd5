/**
 * An import source for dumps of wikis, plain, gzipped or in bzip2. Recognised by the name or by the first
 * element. A position is the counts of the pages up to an item, so that a continued import has the counters
 * of the whole; it reads the dump from its beginning, but converts only what is new. One page is in memory at
 * a time.
 */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { decompressDump } from '../../conversion/wiki/decompression.js'
import { DumpError } from '../../conversion/wiki/dump_error.js'
import { readDump } from '../../conversion/wiki/dump_reader.js'
import type { WikiCounts } from '../../conversion/wiki/page_document.js'
import { noPages, wikiDocuments } from '../../conversion/wiki/page_document.js'
import type { ImportSource } from '../files/document.js'
import { documentItem, SourceError } from '../files/document.js'

export interface WikiFlags {
  readonly lang: string
  readonly namespaces: readonly number[]
  readonly skipRedirects: boolean
  readonly maxPages: number
}

/** Bytes of a file's beginning that are looked at, decompressed: a declaration, comments and the root. */
const HEAD_BYTES = 4096
/** Bytes of a file that are decompressed for that: a block of bzip2 has 900 KB. */
const HEAD_COMPRESSED_BYTES = 1024 * 1024
const READ_BYTES = 256 * 1024
const NAMED = /\.xml(?:\.bz2|\.gz)?$/i

/** A file that cannot be decompressed is none; the other sources say what is wrong with it. */
export async function isWikiDump(path: string): Promise<boolean> {
  if (NAMED.test(path)) return true
  const head: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of decompressDump(createReadStream(path, { end: HEAD_COMPRESSED_BYTES - 1 }), Infinity)) {
      head.push(chunk)
      bytes += chunk.length
      if (bytes >= HEAD_BYTES) break
    }
  } catch {
    // The end of what was read is within the compressed data.
  }
  // Either byte of UTF-16, and the marks, are left out.
  const text = Buffer.concat(head)
    .subarray(0, HEAD_BYTES)
    .toString('latin1')
    .replace(/[^\x20-\x7e]/g, '')
  return /^ *</.test(text) && /<mediawiki[ >]/.test(text)
}

export async function openWikiDump(path: string, flags: WikiFlags): Promise<ImportSource> {
  const { size, mtimeMs } = await stat(path)
  const { lang, namespaces, skipRedirects, maxPages } = flags
  const counts = noPages()
  return {
    total: size,
    fingerprint: `wiki ${resolve(path)} ${size} ${mtimeMs} ${namespaces.join()} ${skipRedirects} ${maxPages}`,
    summary: () => describeSkipped(counts),
    async *items(after) {
      Object.assign(counts, after === undefined ? noPages() : readPosition(after.position))
      const file = createReadStream(path, { highWaterMark: READ_BYTES })
      const pages = readDump(decompressDump(file, Infinity))
      try {
        for await (const item of wikiDocuments(pages, { lang, namespaces: new Set(namespaces), skipRedirects, maxPages }, counts)) {
          const origin = { name: item.title, position: writePosition(counts), consumed: Math.min(file.bytesRead, size) }
          yield 'document' in item ? documentItem(item.document, origin) : { kind: 'problem', ...origin, problem: item.problem }
        }
      } catch (cause) {
        const isFault = cause instanceof DumpError || (cause instanceof Error && 'syscall' in cause)
        throw isFault ? new SourceError(`${path}, behind page ${counts.pages}: ${cause.message}`) : cause
      } finally {
        file.destroy()
      }
    },
  }
}

/** What the resume state keeps, and shows: `page 12: 7 imported, 0 failed, ...`. */
function writePosition({ pages, imported, failed, otherNamespace, redirects, empty }: WikiCounts): string {
  return `page ${pages}: ${imported} imported, ${failed} failed, ${otherNamespace} of other namespaces, ${redirects} redirects, ${empty} empty`
}

function readPosition(position: string): WikiCounts {
  const [pages = 0, imported = 0, failed = 0, otherNamespace = 0, redirects = 0, empty = 0] = [...position.matchAll(/\d+/g)].map(Number)
  return { pages, imported, failed, otherNamespace, redirects, empty }
}

function describeSkipped({ pages, otherNamespace, redirects, empty }: WikiCounts): string {
  const skipped = otherNamespace + redirects + empty
  return `${skipped} of ${pages} pages skipped: ${otherNamespace} of other namespaces, ${redirects} redirects, ${empty} empty`
}
