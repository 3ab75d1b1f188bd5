/**
 * A store that is written to beside one that reads natively, for tests of the native reader of documents. The
 * writer commits at the exact moment that a test needs.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { DocumentSource } from '../../../src/base/document_source.js'
import { decideDelete, decidePut } from '../../../src/domain/decision.js'
import { openDocuments } from '../../../src/engine/document_reader.js'
import { TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../../../src/limits/store.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { emptyKeyring } from '../../../src/store/sealing/keyring.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { prepared } from './store_operations.js'

export const SHAPE = { mapBytes: TRUTH_MAP_BYTES, readersMin: TRUTH_READERS_MAX }
export const CACHE_BYTES = 1 << 20
/** Unix seconds of every write. */
export const WRITTEN_AT = 1_000
const folder = mkdtempSync(join(tmpdir(), 'mds-document-source-'))
after(() => rmSync(folder, { recursive: true, force: true }))

export const directoryOf = (name: string): string => openDataDirectory(join(folder, name)).generationPath

/**
 * A store that is written to, and one that reads natively. `before` and `after` run around the next native
 * read.
 */
export class Bench {
  readonly #writing: TruthStore
  readonly #write: (change: (transaction: WriteTransaction) => void) => void
  readonly reading: TruthStore
  around: { readonly before?: () => void; readonly after?: () => void } = {}
  natively = 0
  /** Calls of the native reader, those that found nothing included, and those for several documents. */
  calls = 0
  pages = 0

  constructor(name: string, keyring = emptyKeyring()) {
    const path = directoryOf(name)
    this.#writing = new TruthStore(path, 0, keyring)
    const writer = this.#writing.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
    // The commit is done when the call returns: `sync` groups are synchronous transactions.
    this.#write = (change) => void writer.group(() => 1_000, change)
    this.put('first')
    this.reading = new TruthStore(path, CACHE_BYTES, keyring, undefined, false, (file) => this.#open(file))
    this.natively = 0
    this.calls = 0
  }

  #open(file: string): DocumentSource {
    const source = openDocuments(file, SHAPE, (documents) => (this.natively += documents))
    const around = (read: () => number): number => {
      const { before, after } = this.around
      this.around = {}
      this.calls++
      before?.()
      const length = read()
      after?.()
      return length
    }
    return {
      ...source,
      read: (...of) => around(() => source.read(...of)),
      find: (...of) => around(() => source.find(...of)),
      readPage: (...of) => {
        this.pages++
        return around(() => source.readPage(...of))
      },
    }
  }

  put(content: string, key = 'a', ttl: number | null = null): void {
    this.#write((transaction) => {
      for (const step of decidePut(transaction, 'blog', prepared(key, content, true, ttl)).steps) transaction.apply(step.entry, step.body)
    })
  }

  /** Documents 1 to `count`. */
  fill(count: number, contentOfDocument = (docid: number): string => `text ${docid}`): void {
    for (let docid = 1; docid <= count; docid++) this.put(contentOfDocument(docid), docid === 1 ? 'a' : `k${docid}`)
  }

  seal(): void {
    this.#write((transaction) => {
      const entry = { lsn: transaction.nextLsn, collection: 1, docid: 0, collectionName: 'blog', isSealed: true, salt: Buffer.alloc(32, 1) }
      transaction.apply({ kind: 'sealing', ...entry }, undefined)
    })
  }

  /** Contents as a page of a new view shows them. @param announced default: the same documents */
  page(docids: readonly number[], announced = docids): (string | undefined)[] {
    const wanted = announced.map((docid) => ({ docid }))
    return this.reading.read((view) => {
      view.expect(1, wanted)
      return docids.map((docid) => contentOf(view.document(1, docid)?.json))
    })
  }

  delete(): void {
    this.#write((transaction) => {
      const head = transaction.view.find(1, 'a', 'en')
      assert.ok(head)
      const { entry, body } = decideDelete(transaction, head)
      transaction.apply(entry, body)
    })
  }

  /** Content of the document as a page of a new view shows it. */
  shown(): string | undefined {
    return this.reading.read((view) => contentOf(view.document(1, 1)?.json))
  }

  async close(): Promise<void> {
    await this.reading.close()
    await this.#writing.close()
  }
}

export function contentOf(json: Uint8Array | undefined): string | undefined {
  return json === undefined ? undefined : (JSON.parse(Buffer.from(json).toString()) as { readonly contentMd: string }).contentMd
}
