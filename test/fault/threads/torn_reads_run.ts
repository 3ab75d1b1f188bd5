/**
 * Documents read by the native reader while they are rewritten at full speed and the file grows. This thread
 * writes; each reader thread reads random documents, each read on a snapshot of its own, and opens the store
 * anew every now and then. A document consists of one version, repeated, so a torn one shows. No reader may
 * see a version older than the one that was acknowledged before it asked. At the end the collection's
 * checksums are those of its documents.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { decidePut } from '../../../src/domain/decision.js'
import { openDataDirectory, TRUTH_FILE } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { Random } from '../../harness/random.js'
import { checksumsOf, type HashedDocument, shownChecksums } from '../../harness/store/checksums.js'
import { prepared } from '../../harness/store/store_operations.js'
import { COLLECTION, DOCUMENTS, keyOf, type ReaderReport, type ReaderStart, textOf } from './torn_reads_reader.js'

const READERS = 2
const WRITES_A_GROUP = 16
const BINLOG_BYTES = 8 << 20

export interface TornReads {
  readonly writes: number
  readonly readers: readonly ReaderReport[]
  readonly fileBytes: readonly [before: number, after: number]
}

export async function tornReads(seconds: number, seed: number): Promise<TornReads> {
  const directory = mkdtempSync(join(tmpdir(), 'mds-torn-reads-'))
  const { generationPath } = openDataDirectory(directory)
  const file = join(generationPath, TRUTH_FILE)
  const store = new TruthStore(generationPath)
  const writer = store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  const acknowledged = new Int32Array(new SharedArrayBuffer(4 * DOCUMENTS))
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const random = new Random(seed)
  let writes = 0
  const rewrite = async (numbers: readonly number[]): Promise<void> => {
    const versions = numbers.map((number) => [number, (acknowledged[number] as number) + 1] as const)
    await writer.group(
      () => 1_000,
      (transaction) => {
        for (const [number, version] of versions) {
          const document = prepared(keyOf(number), textOf(number, version, random.below(200)), random.below(4) === 0, null)
          for (const step of decidePut(transaction, COLLECTION, document).steps) transaction.apply(step.entry, step.body)
        }
        transaction.trimBinlog(BINLOG_BYTES, 64)
      },
    )
    for (const [number, version] of versions) Atomics.store(acknowledged, number, version)
    writes += numbers.length
  }
  try {
    for (let begin = 0; begin < DOCUMENTS; begin += 100) await rewrite(Array.from({ length: 100 }, (_, index) => begin + index))
    const before = statSync(file).size
    const readers = Array.from({ length: READERS }, (_, index) =>
      startReader({ generationPath, acknowledged, stop, seed: seed + index + 1 }, stop),
    )
    const end = performance.now() + seconds * 1000
    while (performance.now() < end && Atomics.load(stop, 0) === 0)
      await rewrite([...new Set(Array.from({ length: WRITES_A_GROUP }, () => random.below(DOCUMENTS)))])
    Atomics.store(stop, 0, 1)
    const reports = await Promise.all(readers)
    assertChecksums(store)
    return { writes, readers: reports, fileBytes: [before, statSync(file).size] }
  } finally {
    Atomics.store(stop, 0, 1)
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

function assertChecksums(store: TruthStore): void {
  store.read((view) => {
    const { id } = view.collection(COLLECTION) ?? assert.fail('the collection is gone')
    const documents = [...view.allHeads(id)].map(({ docid }) => {
      const { json } = view.document(id, docid, false) ?? assert.fail(`no document ${docid}`)
      return JSON.parse(Buffer.from(json).toString()) as HashedDocument
    })
    assert.equal(documents.length, DOCUMENTS)
    assert.deepEqual(shownChecksums(view.collectionCounters(id)), checksumsOf(documents))
  })
}

/** A reader that fails stops the others. */
function startReader(start: ReaderStart, stop: Int32Array): Promise<ReaderReport> {
  const worker = new Worker(new URL('./torn_reads_reader.js', import.meta.url), { workerData: start })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', (error) => {
      Atomics.store(stop, 0, 1)
      reject(error)
    })
  })
}
