/**
 * Input of our engine in benches, made by the service's own code: index batches from documents (analyzer,
 * index fields, encoder) and search plans from queries (parser, planner, encoder). Benches in Node use it in
 * memory; native/bench, which documents the file layout, reads it from files.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { loadConfig } from '../../src/config/config.js'
import { parseMetadata } from '../../src/domain/documents/metadata.js'
import { indexDocument, type PreparationTools } from '../../src/domain/writes/preparation.js'
import { joinBatch, stampUpsert } from '../../src/engine/search/index_batch.js'
import { encodePlan, NO_POLL_WORD } from '../../src/engine/search/search_plan.js'
import type { Analyzer } from '../../src/engine/types.js'
import type { CorpusDocument } from '../data/corpora.js'
import { CLASSES, planOf, readQueries } from '../data/query_classes.js'

const CONFIG = loadConfig([], {})

export const BENCH_COLLECTION = 1
/** The batch size of `add-batch` and of the importer. */
export const BATCH_DOCUMENTS = 500

/** @param firstDocid docid of the first document; the others follow. LSNs are one higher. */
export function batchOf(analyzer: Analyzer, documents: readonly CorpusDocument[], firstDocid: number): Uint8Array {
  const tools: PreparationTools = { config: CONFIG, analyzer }
  const ops = documents.map(({ key, lang, meta, contentMd }, index) => {
    const op = indexDocument(tools, key, lang, parseMetadata(meta), contentMd)
    const docid = firstDocid + index
    stampUpsert(op, { collection: BENCH_COLLECTION, docid, lsn: BigInt(docid) + 1n, addedAt: docid, updatedAt: docid })
    return op
  })
  return joinBatch(ops, BigInt(firstDocid + documents.length))
}

export function* batchesOf(analyzer: Analyzer, documents: readonly CorpusDocument[]): Generator<Uint8Array> {
  for (let begin = 0; begin < documents.length; begin += BATCH_DOCUMENTS) {
    yield batchOf(analyzer, documents.slice(begin, begin + BATCH_DOCUMENTS), begin)
  }
}

export function writeBatches(file: string, analyzer: Analyzer, documents: readonly CorpusDocument[]): void {
  writeFile(file, (write) => {
    for (const batch of batchesOf(analyzer, documents)) write(counted(batch))
  })
}

/** Classes are named `class/top` and `class/exact`. */
export function writePlans(file: string, analyzer: Analyzer): void {
  const queries = readQueries()
  writeFile(file, (write) => {
    for (const kind of CLASSES) {
      for (const totals of ['top', 'exact'] as const) {
        write(counted(Buffer.from(`${kind}/${totals}`)))
        write(word(queries[kind].length))
        for (const query of queries[kind]) {
          write(counted(encodePlan(planOf(analyzer, BENCH_COLLECTION, kind, query, totals === 'exact'), NO_POLL_WORD)))
        }
      }
    }
  })
}

function writeFile(path: string, fill: (write: (bytes: Uint8Array) => void) => void): void {
  const file = openSync(path, 'w')
  try {
    fill((bytes) => void writeSync(file, bytes))
  } finally {
    closeSync(file)
  }
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function counted(bytes: Uint8Array): Buffer {
  return Buffer.concat([word(bytes.length), bytes])
}

/** Reads the batches of a file that `writeBatches` made. */
export function* readBatches(path: string): Generator<Uint8Array> {
  const file = openSync(path, 'r')
  try {
    const size = Buffer.alloc(4)
    while (readSync(file, size) === size.length) {
      const batch = Buffer.alloc(size.readUInt32LE())
      if (readSync(file, batch) !== batch.length) throw new Error(`${path} is cut short`)
      yield batch
    }
  } finally {
    closeSync(file)
  }
}
