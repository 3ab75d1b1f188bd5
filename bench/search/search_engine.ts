/**
 * Question: how many top-10 searches per second does one thread of the engine answer, by class of query?
 * Compared with, in the same run: Lucene 9.12 and Tantivy 0.27 (Rust). Engine level, no HTTP, one core. Each
 * engine is a separate process (peer_process.ts), loaded, merged into one segment and warmed up. The engines
 * are then measured in turn: ours, Lucene, Tantivy, ours, ...; medians of 5 slices of whole passes. All three
 * analyse the queries beforehand. Ours runs the service's own plans on the service's own analysis: natively
 * (native/bench) and as a lane does (N-API: encode the plan, search, decode the hits).
 *   `top`: the best ten as the engine's own document numbers
 *   `keys`: the peers also read the stored key of each, which a caller needs who addresses documents by key
 *   `exact`: all matches are counted, too, which prevents skipping
 * Differences: our index also has the metadata fields; Tantivy's `en_stem` keeps stop words. Words with edits
 * and patterns (fuzzy1, fuzzy2, wild) are scored by BM25 in ours. Lucene scores the 50 best words of a fuzzy
 * query and gives every match of a pattern the same score. Tantivy gives the same score to all matches of
 * both. With equal scores an engine may stop early.
 * Corpus: md50k, queries/md.json. Run: npm run bench -- search-engine [-- CLASS,CLASS...] [SLICES]
 * (MDS_BENCH_DOCUMENTS=n for a smaller corpus).
 * Aim: geometric mean at least 1.0 x Tantivy and 1.5 x Lucene, no class under 0.7 x the better. Last result:
 * bench/README.md.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAnalyzer } from '../../src/engine/text/analyzer.js'
import { PROJECT_ROOT } from '../../test/fault/shim/shim_build.js'
import { type CorpusDocument, readLines, sharedPath } from '../data/corpora.js'
import { CLASSES, queriesPath, type QueryClass } from '../data/query_classes.js'
import { describePinning } from '../measure/pinning.js'
import { type Measurement, Report } from '../measure/report.js'
import { geometricMean, medianBy } from '../measure/statistics.js'
import { writeBatches, writePlans } from '../peers/engine_input.js'
import { PeerProcess, type Timing, type Wanted } from '../peers/peer_process.js'
import { CACHE, engineBenchProgram, lucenePeerClassPath, sourceHash, tantivyPeer } from '../peers/peers.js'

const SLICE_SECONDS = 0.1
/** The JVM compiles hot code. The others need only one pass, which every measurement begins with. */
const WARM_UP_SECONDS = { Lucene: 0.7, 'N-API': 0.3 } as Readonly<Record<string, number>>
const PEER_COLUMNS = ['top', 'keys', 'exact'] as const
const OUR_COLUMNS: Readonly<Record<string, readonly Wanted[]>> = { ours: ['top', 'exact'], 'N-API': ['top'] }
/**
 * The column of ours that each peer column is compared with. Our hits already identify their documents, so
 * there is no key to look up.
 */
const OURS_FOR = { top: 'top', keys: 'top', exact: 'exact' } as const
const slices = Number(process.argv[3] ?? 5)
const chosen = CLASSES.filter((kind) => process.argv[2]?.split(',').includes(kind) ?? true)
const documentsMax = Number(process.env['MDS_BENCH_DOCUMENTS'] ?? Number.POSITIVE_INFINITY)

const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-search-'))
const report = new Report()

interface Column {
  readonly peer: PeerProcess
  readonly wanted: Wanted
}

/** A peer's index is kept between runs while its program and the corpus are unchanged. */
async function openPeer(peer: PeerProcess, directory: string, sources: string, documents: number): Promise<PeerProcess> {
  const mark = path.join(directory, '../', `${path.basename(directory)}.mark`)
  const wanted = `${documents} ${sourceHash(path.join(PROJECT_ROOT, sources))}`
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) {
    await peer.open()
    return peer
  }
  report.add({ engine: peer.name, ...(await peer.index()) })
  writeFileSync(mark, wanted)
  return peer
}

async function openPeers(corpus: string, documents: number): Promise<PeerProcess[]> {
  mkdirSync(CACHE, { recursive: true })
  const peers: PeerProcess[] = []
  const classPath = lucenePeerClassPath()
  if (classPath !== null) {
    const directory = path.join(CACHE, 'lucene-index')
    const java = ['-Xmx2g', '-XX:+UseSerialGC', '-cp', classPath, 'LucenePeer', corpus, queriesPath(), directory]
    peers.push(await openPeer(new PeerProcess('Lucene', 'java', java), directory, 'bench/peers/lucene', documents))
  }
  const tantivy = tantivyPeer()
  if (tantivy !== null) {
    const directory = path.join(CACHE, 'tantivy-index')
    const peer = new PeerProcess('Tantivy', tantivy, [corpus, queriesPath(), directory])
    peers.push(await openPeer(peer, directory, 'bench/peers/tantivy', documents))
  }
  return peers
}

async function openOurs(documents: readonly CorpusDocument[]): Promise<PeerProcess[]> {
  const batches = path.join(scratch, 'batches')
  const plans = path.join(scratch, 'plans')
  const analyzer = createAnalyzer()
  writeBatches(batches, analyzer, documents)
  writePlans(plans, analyzer)
  const ours = new PeerProcess('ours', engineBenchProgram(), [batches, plans])
  const script = fileURLToPath(new URL('../peers/engine_process.js', import.meta.url))
  const overNapi = new PeerProcess('N-API', process.execPath, ['--single-threaded-gc', script, 'publish', batches])
  for (const engine of [ours, overNapi]) report.add({ engine: engine.name, ...(await engine.index()) })
  return [ours, overNapi]
}

/** One row of the table: the median of every column, and the ratios of ours to the peers'. */
async function measureClass(kind: QueryClass, columns: readonly Column[]): Promise<Measurement> {
  for (const { peer, wanted } of columns) {
    const warmUp = WARM_UP_SECONDS[peer.name]
    if (warmUp !== undefined) await peer.measure(kind, wanted, warmUp)
  }
  const timings = columns.map((): Timing[] => [])
  for (let slice = 0; slice < slices; slice++) {
    for (const [at, { peer, wanted }] of columns.entries()) timings[at]!.push(await peer.measure(kind, wanted, SLICE_SECONDS))
  }
  const rates = new Map<string, number>()
  const row: Record<string, string | number> = { class: kind }
  for (const [at, { peer, wanted }] of columns.entries()) {
    const timing = medianBy(timings[at]!, ({ perSecond }) => perSecond)
    const name = `${peer.name} ${wanted}`
    rates.set(name, timing.perSecond)
    row[name] = Math.round(timing.perSecond)
    if (wanted === 'top') row[`${peer.name} p50, p99 us`] = `${timing.p50Us.toFixed(0)}, ${timing.p99Us.toFixed(0)}`
    if (wanted === 'exact') row[`${peer.name} matches`] = Math.round(timing.matches)
    console.log(JSON.stringify({ class: kind, engine: peer.name, wanted, ...timing }))
  }
  for (const peer of ['Lucene', 'Tantivy']) {
    for (const wanted of PEER_COLUMNS) {
      const theirs = rates.get(`${peer} ${wanted}`)
      if (theirs !== undefined) row[`/${peer} ${wanted}`] = rates.get(`ours ${OURS_FOR[wanted]}`)! / theirs
    }
  }
  return row
}

function means(rows: readonly Measurement[]): Measurement {
  const ratios = Object.keys(rows[0] ?? {}).filter((name) => name.startsWith('/'))
  return {
    class: 'geometric mean',
    ...Object.fromEntries(ratios.map((name) => [name, geometricMean(rows.map((row) => Number(row[name])))])),
  }
}

const processes: PeerProcess[] = []
try {
  const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'), documentsMax)
  const corpus = path.join(scratch, 'corpus.ndjson')
  writeFileSync(corpus, lines.join('\n'))
  processes.push(...(await openPeers(corpus, lines.length)))
  processes.unshift(...(await openOurs(lines.map((line) => JSON.parse(line) as CorpusDocument))))
  console.log(`${lines.length} documents, ${slices} slices, ${describePinning()}`)
  const columns = processes.flatMap((peer) => (OUR_COLUMNS[peer.name] ?? PEER_COLUMNS).map((wanted): Column => ({ peer, wanted })))
  const rows: Measurement[] = []
  for (const kind of chosen) rows.push(await measureClass(kind, columns))
  const table = new Report()
  for (const row of [...rows, means(rows)]) table.add(row)
  table.table(Object.keys(rows[0] ?? {}))
} finally {
  for (const peer of processes) await peer.end()
  rmSync(scratch, { recursive: true, force: true })
}
