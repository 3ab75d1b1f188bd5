/**
 * Question: how many documents per second does one core index, text analysis and merges included?
 * Compared with, in the same run: Tantivy 0.27 (Rust, one thread) and Lucene 9.12. No HTTP and no store:
 * documents are in memory before the clock starts, and it stops when all are searchable.
 * Ours: analyzer (WASM) and engine in one Node process, batches of 500; content and every metadata key are
 * indexed, markup is left out. Peers: content and key. Each engine is a separate process pinned to one core,
 * so that the work of its background threads counts. Rounds are interleaved, the median counts. Processor
 * time is reported, too, because benches share machines.
 * Corpus: md50k. Run: npm run bench -- indexing [-- DOCUMENTS] [ROUNDS].
 * Aim: at least Tantivy's rate. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CorpusDocument, readLines, sharedPath } from '../data/corpora.js'
import { queriesPath } from '../data/query_classes.js'
import { describePinning } from '../measure/pinning.js'
import { cpuSeconds } from '../measure/process_cpu.js'
import { Report } from '../measure/report.js'
import { medianBy } from '../measure/statistics.js'
import { type Indexing, PeerProcess } from '../peers/peer_process.js'
import { lucenePeerClassPath, tantivyPeer } from '../peers/peers.js'

const documents = Number(process.argv[2] ?? Number.POSITIVE_INFINITY)
const rounds = Number(process.argv[3] ?? 3)
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-indexing-'))
const corpus = path.join(scratch, 'corpus.ndjson')
const report = new Report()

interface Run extends Indexing {
  readonly cpuSeconds: number
}

/**
 * Starts a new process for each run, so that memory contents and JIT code of an earlier round do not help.
 */
async function measure(name: string, command: string, args: readonly string[]): Promise<Run> {
  const engine = new PeerProcess(name, command, args)
  try {
    const indexing = await engine.index()
    const run = { ...indexing, cpuSeconds: cpuSeconds(engine.pid) }
    console.log(JSON.stringify({ engine: name, ...run }))
    return run
  } finally {
    await engine.end()
  }
}

function engines(): readonly (readonly [name: string, command: string, args: readonly string[]])[] {
  const script = fileURLToPath(new URL('../peers/engine_process.js', import.meta.url))
  const classPath = lucenePeerClassPath()
  const tantivy = tantivyPeer()
  const inputs = [corpus, queriesPath()]
  return [
    ['ours', process.execPath, ['--single-threaded-gc', script, 'analyse', corpus]],
    ...(classPath === null
      ? []
      : ([
          ['Lucene', 'java', ['-Xmx2g', '-XX:+UseSerialGC', '-cp', classPath, 'LucenePeer', ...inputs, path.join(scratch, 'lucene')]],
        ] as const)),
    ...(tantivy === null ? [] : ([['Tantivy', tantivy, [...inputs, path.join(scratch, 'tantivy')]]] as const)),
  ]
}

try {
  const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'), documents)
  writeFileSync(corpus, lines.join('\n'))
  const megabytes = lines.reduce((sum, line) => sum + Buffer.byteLength((JSON.parse(line) as CorpusDocument).contentMd), 0) / 1e6
  const found = engines()
  console.log(`${lines.length} documents, ${Math.round(megabytes)} MB of content, ${rounds} rounds, ${describePinning()}`)
  const runs = found.map((): Run[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, [name, command, args]] of found.entries()) runs[at]!.push(await measure(name, command, args))
  }
  const rates = new Map<string, number>()
  for (const [at, [engine]] of found.entries()) {
    const run = medianBy(runs[at]!, ({ seconds }) => seconds)
    rates.set(engine, lines.length / run.seconds)
    report.add({
      engine,
      documentsPerSecond: Math.round(lines.length / run.seconds),
      megabytesPerSecond: megabytes / run.seconds,
      mergeSeconds: run.mergeSeconds,
      cpuSecondsInAll: run.cpuSeconds,
      indexShare: run.bytes / megabytes / 1e6,
    })
  }
  for (const [engine, rate] of rates) if (engine !== 'ours') report.add({ engine: `ours / ${engine}`, ratio: rates.get('ours')! / rate })
  report.table(['engine', 'documentsPerSecond', 'megabytesPerSecond', 'mergeSeconds', 'cpuSecondsInAll', 'indexShare', 'ratio'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
