/**
 * The process that reads the dump of a wiki for a server: it decompresses, parses and converts, and writes
 * batches of documents to descriptor 3 as fast as the server takes them. It ends with its task, and with its
 * parent. Its memory does not depend on the dump. Started by src/background/wiki/dump_process.ts.
 */
import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { DamagedFile, readSealed } from '../base/sealed_files.js'
import { decompressDump } from '../conversion/wiki/decompression.js'
import { DumpError } from '../conversion/wiki/dump_error.js'
import {
  DUMP_FRAMES_DESCRIPTOR,
  type DumpEnd,
  type DumpTask,
  endFrame,
  PAGE_BATCH_BYTES_WANTED,
  pagesFrame,
} from '../conversion/wiki/dump_frames.js'
import { readDump } from '../conversion/wiki/dump_reader.js'
import { PageBatchWriter } from '../conversion/wiki/page_batches.js'
import type { WikiPage } from '../conversion/wiki/page_builder.js'
import { noPages, type WikiCounts, wikiDocuments, type WikiItem } from '../conversion/wiki/page_document.js'
import { DOCUMENT_BYTES_MAX } from '../limits/documents.js'
import { MIB } from '../limits/units.js'

/** Bytes of batches that wait for the server: it stores one while the next two are made. */
const UNSENT_BYTES = 8 * MIB
/** Pages that were left out are told at least this often, so that a job that is resumed passes over them. */
const PAGES_UNTOLD_MAX = 10_000

const frames = createWriteStream('', { fd: DUMP_FRAMES_DESCRIPTOR, highWaterMark: UNSENT_BYTES })
// The parent has ended.
frames.on('error', () => process.exit(0))

async function send(frame: Buffer): Promise<void> {
  if (!frames.write(frame)) await once(frames, 'drain')
}

class Batches {
  readonly #batch = new PageBatchWriter()
  /** What was told already. */
  #pages: number
  #skipped = 0

  constructor(
    readonly counts: WikiCounts,
    readonly documentsMax: number,
  ) {
    this.#pages = counts.pages
  }

  async add(item: WikiItem): Promise<void> {
    const [pages, skipped] = this.#untold()
    const { title } = item
    if ('problem' in item) this.#batch.problem(pages, skipped, title, item.problem)
    else if (Buffer.byteLength(item.document.contentMd) > DOCUMENT_BYTES_MAX)
      this.#batch.problem(pages, skipped, title, 'its text is longer than a document may be')
    else this.#batch.document(pages, skipped, title, item.document)
    if (this.#batch.documents >= this.documentsMax || this.#batch.bytes >= PAGE_BATCH_BYTES_WANTED) await this.flush()
  }

  async *watched(pages: AsyncIterable<WikiPage>): AsyncGenerator<WikiPage> {
    for await (const page of pages) {
      // All pages before it are counted.
      if (this.counts.pages - this.#pages >= PAGES_UNTOLD_MAX) await this.flush()
      yield page
    }
  }

  async flush(): Promise<void> {
    const [pages, skipped] = this.#untold()
    if (pages > 0) this.#batch.gap(pages, skipped)
    if (this.#batch.bytes > 0) await send(pagesFrame(this.#batch.take()))
  }

  #untold(): readonly [pages: number, skipped: number] {
    const { pages, otherNamespace, redirects, empty } = this.counts
    const skipped = otherNamespace + redirects + empty
    const untold = [pages - this.#pages, skipped - this.#skipped] as const
    this.#pages = pages
    this.#skipped = skipped
    return untold
  }
}

async function read({ path, key, namespaces, skipRedirects, batchDocuments, after, bytesMax }: DumpTask): Promise<void> {
  const counts = { ...noPages(), pages: after }
  const batches = new Batches(counts, batchDocuments)
  // Neither the language nor the number of pages is a matter of this process.
  const options = { lang: '', namespaces: new Set(namespaces), skipRedirects, maxPages: 0 }
  let end: DumpEnd = { fault: '', message: '' }
  try {
    const pages = batches.watched(readDump(decompressDump(readSealed(path, key), bytesMax)))
    for await (const item of wikiDocuments(pages, options, counts)) await batches.add(item)
  } catch (error) {
    end = endOf(error)
  }
  await batches.flush()
  await send(endFrame(end))
  frames.end(() => process.exit(0))
}

/** @throws what is no fault of the dump or of its file */
function endOf(error: unknown): DumpEnd {
  if (error instanceof DumpError) return { fault: error.fault, message: error.message }
  if (error instanceof DamagedFile || (error instanceof Error && 'syscall' in error)) return { fault: 'unreadable', message: error.message }
  throw error
}

const tasks = createInterface({ input: process.stdin })
tasks.once('line', (line) => void read(JSON.parse(line) as DumpTask))
// The parent has closed the pipe, or has ended.
tasks.once('close', () => process.exit(0))
