/** A reader thread of torn_reads_run.ts. Reads until it is told to stop, then reports. */
import assert from 'node:assert/strict'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import type { DocumentSource } from '../../../src/base/document_source.js'
import { openDocuments } from '../../../src/engine/document_reader.js'
import { TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../../../src/limits/store.js'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'
import { emptyKeyring } from '../../../src/store/sealing/keyring.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { Random } from '../../harness/random.js'

export const COLLECTION = 'torn'
export const DOCUMENTS = 3_000
const READS_A_TURN = 500
/** The store is closed and opened again after this many turns. */
const TURNS_A_STORE = 400
const CACHE_BYTES = 1 << 20

export interface ReaderStart {
  readonly generationPath: string
  /** By number of the document: its newest acknowledged version. */
  readonly acknowledged: Int32Array
  /** Not 0: the reader reports and ends. */
  readonly stop: Int32Array
  readonly seed: number
}

export interface ReaderReport {
  readonly natively: number
  /** Reads that the native reader left to the rows. */
  readonly byRows: number
  /** Documents of pages, which may come from the cache. */
  readonly inPages: number
  readonly stores: number
}

export function keyOf(number: number): string {
  return `Document-${number}`
}

/** Number and version, repeated: of any part of it, one can say which version it belongs to. */
export function textOf(number: number, version: number, repeats: number): string {
  return `${number} ${version}\n`.repeat(repeats + 1)
}

/** @throws AssertionError unless the JSON is one version of the document, and not older than `versionMin` */
function checkWhole(json: Uint8Array, number: number, versionMin: number): void {
  const { key, contentMd } = JSON.parse(Buffer.from(json).toString()) as { readonly key: string; readonly contentMd: string }
  assert.equal(key, keyOf(number))
  const [line] = contentMd.split('\n', 1)
  const [of, version] = (line ?? '').split(' ').map(Number)
  assert.equal(of, number)
  assert.ok((version ?? 0) >= versionMin, `version ${version}, ${versionMin} was acknowledged`)
  assert.equal(contentMd, `${line}\n`.repeat(contentMd.length / ((line ?? '').length + 1)), 'one version')
}

async function readUntilStopped({ generationPath, acknowledged, stop, seed }: ReaderStart): Promise<ReaderReport> {
  const random = new Random(seed)
  const out = new ByteWriter()
  const report = { natively: 0, byRows: 0, inPages: 0, stores: 0 }
  const openSource = (path: string): DocumentSource => openDocuments(path, { mapBytes: TRUTH_MAP_BYTES, readersMin: TRUTH_READERS_MAX })
  const readOne = (store: TruthStore, collection: number): void => {
    const number = random.below(DOCUMENTS)
    const versionMin = Atomics.load(acknowledged, number)
    store.read((view) => {
      if (view.appendSpelled(collection, keyOf(number), 'en', out.begin()) === undefined) {
        const head = view.find(collection, keyOf(number), 'en')
        assert.ok(head)
        view.writeDocument(head, out.begin(), true)
        report.byRows++
      } else report.natively++
    })
    checkWhole(out.view(), number, versionMin)
  }
  const readPage = (store: TruthStore, collection: number): void => {
    const first = random.below(DOCUMENTS - 10)
    const versionsMin = acknowledged.slice(first, first + 10)
    store.read((view) => {
      view.expect(
        collection,
        Array.from(versionsMin, (_, index) => ({ docid: first + index + 1 })),
      )
      for (const [index, versionMin] of versionsMin.entries()) {
        const document = view.document(collection, first + index + 1)
        assert.ok(document)
        checkWhole(document.json, first + index, versionMin)
        report.inPages++
      }
    })
  }
  while (Atomics.load(stop, 0) === 0) {
    const store = new TruthStore(generationPath, CACHE_BYTES, emptyKeyring(), undefined, false, openSource)
    const collection = store.read((view) => view.collection(COLLECTION))?.id ?? 0
    report.stores++
    for (let turn = 0; turn < TURNS_A_STORE && Atomics.load(stop, 0) === 0; turn++) {
      for (let read = 0; read < READS_A_TURN; read++) readOne(store, collection)
      for (let page = 0; page < READS_A_TURN / 20; page++) readPage(store, collection)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await store.close()
  }
  return report
}

if (!isMainThread) parentPort?.postMessage(await readUntilStopped(workerData as ReaderStart))
