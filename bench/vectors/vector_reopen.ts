/**
 * Question: how long does a process take from its start to its first vector search, with the files and the
 * graph of 100 000 vectors of 384 numbers on disk?
 * Engine level, no HTTP: open the directory (every checksum is computed), compare with the stamps in truth,
 * run one hnsw search. Each run is a new process, once with the files in the page cache of the system and
 * once without (dropped by `dd oflag=nocache`, if available). Wall-clock time. Vectors are drawn around
 * centres, as real embeddings are distributed.
 * Run: npm run bench -- vector-reopen [-- VECTORS] [ROUNDS]. Aim: under 1 s with 100 000. Last result:
 * bench/README.md.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { encodeVectorBatch, encodeVectorStamps } from '../../src/engine/vectors/vector_bytes.js'
import { openVectorEngine } from '../../src/engine/vectors/vector_engine.js'
import type { VectorChange } from '../../src/engine/vectors/vector_types.js'
import { Random } from '../../test/harness/random.js'
import { type Measurement, Report } from '../measure/report.js'

const DIMENSIONS = 384
const CENTRES = 200
const BATCH = 1000
const COLLECTION = 1
const ROUNDS = 5
/** Vectors too few to be stored are passed again at a start. */
const UNSTORED_SHARE = 64
const SELF = fileURLToPath(import.meta.url)

/** One epoch, in which LSNs up to the number of vectors were assigned. */
function historyOf(count: number): Uint8Array {
  const history = Buffer.alloc(24, 7)
  history.writeBigUInt64LE(BigInt(count), 16)
  return history
}

/** Draws vectors of length 1. */
function drawer(random: Random): () => Float32Array {
  const unit = (base: Float32Array, spread: number): Float32Array => {
    const drawn = base.map((value) => value + spread * (random.next() + random.next() + random.next() - 1.5))
    const length = Math.hypot(...drawn)
    return drawn.map((value) => value / length)
  }
  const centres = Array.from({ length: CENTRES }, () => unit(new Float32Array(DIMENSIONS), 1))
  return () => unit(random.pick(centres), 2 / Math.sqrt(DIMENSIONS))
}

function fill(directory: string, count: number): Measurement {
  const engine = openVectorEngine()
  engine.open(directory, historyOf(count))
  const draw = drawer(new Random(1))
  const begun = performance.now()
  for (let from = 0; from < count; from += BATCH) {
    const changes = Array.from({ length: BATCH }, (_, at): VectorChange => {
      const docid = from + at
      return { kind: 'set', collection: COLLECTION, docid, lsn: BigInt(docid + 1), dimensions: DIMENSIONS, vectors: draw() }
    })
    engine.apply(encodeVectorBatch(changes))
  }
  engine.settle()
  return { step: 'fill', seconds: (performance.now() - begun) / 1000, graphSlots: engine.stats()[0]?.graphSlots ?? 0 }
}

function reopen(directory: string, count: number): Measurement {
  const draw = drawer(new Random(2))
  const query = draw()
  const spare = Array.from({ length: count / UNSTORED_SHARE }, draw)
  const stamps = encodeVectorStamps(
    Array.from({ length: count }, (_, docid) => ({ collection: COLLECTION, docid, lsn: BigInt(docid + 1), dimensions: DIMENSIONS })),
  )
  const engine = openVectorEngine()
  const begun = performance.now()
  const damage = engine.open(directory, historyOf(count))
  const opened = performance.now()
  const lacking = engine.compare(stamps)
  const compared = performance.now()
  const given = spare.slice(0, lacking.length / 2).map((vectors, at): VectorChange => {
    const docid = lacking[at * 2 + 1] ?? 0
    return { kind: 'set', collection: COLLECTION, docid, lsn: BigInt(docid + 1), dimensions: DIMENSIONS, vectors }
  })
  engine.apply(encodeVectorBatch(given))
  const loaded = performance.now()
  const request = { collection: COLLECTION, query, k: 10, threshold: -1, metric: 'cosine', algorithm: 'hnsw', oversample: 1, quantization: 'float32' } as const // prettier-ignore
  const { hits } = engine.search(request)
  const answered = performance.now()
  const [set] = engine.stats()
  if (damage.length > 0 || hits.length !== 10 || set?.documents !== count || set.graphSlots === 0)
    throw new Error(`not as it was stored: ${damage.join('; ')}`)
  return { openMs: opened - begun, compareMs: compared - opened, graphSlots: set.graphSlots, lacking: given.length, loadMs: loaded - compared, searchMs: answered - loaded, firstAnswerMs: answered - begun, memoryMb: process.memoryUsage.rss() / 2 ** 20 } // prettier-ignore
}

function inProcess(step: 'fill' | 'reopen', directory: string, count: number): Measurement {
  const ended = spawnSync(process.execPath, [SELF, step, directory, String(count)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (ended.status !== 0) throw new Error(`${step}: exit ${ended.status ?? ended.signal}`)
  return JSON.parse(ended.stdout) as Measurement
}

/** False if the cache cannot be dropped. */
function dropFromCache(directory: string): boolean {
  return readdirSync(directory).every(
    (name) => spawnSync('dd', [`of=${path.join(directory, name)}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0']).status === 0,
  )
}

function measure(count: number, rounds: number): void {
  const report = new Report()
  const directory = path.join(mkdtempSync(path.join(tmpdir(), 'mds-bench-reopen-')), 'vectors')
  try {
    report.add({ vectors: count, ...inProcess('fill', directory, count) })
    const bytes = readdirSync(directory).reduce((sum, name) => sum + statSync(path.join(directory, name)).size, 0)
    for (let round = 0; round < rounds; round++) {
      for (const step of ['warm', 'cold']) {
        if (step === 'cold' && !dropFromCache(directory)) continue
        report.add({ step, vectors: count, fileMb: bytes / 2 ** 20, ...inProcess('reopen', directory, count) })
      }
    }
    report.table([
      'step',
      'vectors',
      'fileMb',
      'openMs',
      'compareMs',
      'lacking',
      'loadMs',
      'searchMs',
      'firstAnswerMs',
      'memoryMb',
      'seconds',
      'graphSlots',
    ])
  } finally {
    rmSync(path.dirname(directory), { recursive: true, force: true })
  }
}

const [first, second, third] = process.argv.slice(2)
if (first === 'fill' || first === 'reopen') {
  const run = first === 'fill' ? fill : reopen
  process.stdout.write(JSON.stringify(run(second ?? '', Number(third))))
} else measure(Number(first ?? 100_000), Number(second ?? ROUNDS))
