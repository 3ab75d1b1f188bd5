/**
 * Question: what does vector search on one thread cost, at which recall, and in how many bytes per vector?
 * Compared with, in the same run: faiss and hnswlib. Engine level, no HTTP: ours natively
 * (native/bench/vector_bench.cc, all kinds, with filters; flat by several clients on one and two threads
 * each, by the clock), the peers by Python (bench/peers/vector_ann.py; the calls take 1 to 2 us of their
 * time). One after the other on one core. Processor time of the searching thread, which other load on the
 * machine changes little. Recall: the best ten compared with the exact ten.
 * Corpus: vec/win32 (40 000 x 384, 1 000 queries). Run: npm run bench -- vector-search [-- SECONDS].
 * Aims: hnsw at recall .96 and .98 at least 0.9 x the better peer in at most 0.6 of its bytes (aim 1.2 x),
 * built at least at 1.5 x hnswlib's rate, flat at least 1.5 x faiss. Last result: bench/README.md.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PROJECT_ROOT } from '../../test/fault/shim/shim_build.js'
import { sharedPath } from '../data/corpora.js'
import { describePinning, pinned } from '../measure/pinning.js'
import { type Measurement, Report, skip } from '../measure/report.js'
import { peerPython, vectorBenchProgram } from '../peers/peers.js'

const OUTPUT_BYTES_MAX = 16 << 20
const seconds = process.argv[2] ?? '1'
const report = new Report()

function run(peer: string, command: readonly string[], isPinned = true): Measurement[] {
  const [program, ...args] = isPinned ? pinned(command) : command
  const ended = spawnSync(program!, args, { encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX, stdio: ['ignore', 'pipe', 'inherit'] })
  if (ended.status !== 0) throw new Error(`${peer}: exit ${ended.status ?? ended.signal}`)
  const rows = ended.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Measurement => ({ peer, ...(JSON.parse(line) as Measurement) }))
  for (const row of rows) report.add(row)
  return rows
}

/** Searches per second at a recall, interpolated between the two neighbouring measured points. */
function rateAt(rows: readonly Measurement[], peer: string, recall: number): number {
  const points = rows
    .filter((row) => row['step'] === 'search' && row['kind'] === 'hnsw' && row['peer'] === peer && (row['percent'] ?? 100) === 100)
    .map((row): [number, number] => [Number(row['recall']), Number(row['perSecond'])])
    .sort(([a], [b]) => a - b)
  const above = points.findIndex(([at]) => at >= recall)
  if (above < 0) return Number.NaN
  const [lower, upper] = [points[Math.max(0, above - 1)]!, points[above]!]
  if (upper[0] === lower[0]) return upper[1]
  return lower[1] + ((upper[1] - lower[1]) * (recall - lower[0])) / (upper[0] - lower[0])
}

function valueOf(rows: readonly Measurement[], wanted: Measurement, column: string): number {
  return Number(rows.find((row) => Object.entries(wanted).every(([key, value]) => row[key] === value))?.[column] ?? Number.NaN)
}

function ratios(rows: readonly Measurement[]): void {
  const line = (what: string, ratio: number, aim: string) =>
    console.log(`${what.padEnd(60)} ${Number.isFinite(ratio) ? ratio.toFixed(2) : 'not measured'}  (${aim})`)
  for (const recall of [0.96, 0.98]) {
    const [better = Number.NaN] = ['hnswlib', 'faiss']
      .map((peer) => rateAt(rows, peer, recall))
      .filter(Number.isFinite)
      .sort((one, other) => other - one)
    line(`hnsw, searches/s at recall ${recall}, against the better peer`, rateAt(rows, 'ours', recall) / better, 'at least 0.9, aim 1.2')
  }
  const rate = (peer: string, step: string) => valueOf(rows, { peer, step }, 'perSecond')
  line('hnsw, vectors/s built, against hnswlib', rate('ours', 'graph') / rate('hnswlib', 'build'), 'at least 1.5')
  const flat = (peer: string) => valueOf(rows, { peer, step: 'search', kind: 'flat' }, 'perSecond')
  line('flat, searches/s, against faiss IndexFlatIP', flat('ours') / flat('faiss'), 'at least 1.5')
  const ours = valueOf(rows, { peer: 'ours', step: 'bytes' }, 'memory') + valueOf(rows, { peer: 'ours', step: 'bytes' }, 'graph')
  line('bytes in memory a vector, against hnswlib', ours / valueOf(rows, { peer: 'hnswlib', step: 'bytes' }, 'memory'), 'at most 0.6')
}

const documents = sharedPath('corpora/vec/win32.docs.f16.npy')
if (!existsSync(documents)) skip('corpora/vec is not there')
const python = peerPython() ?? skip('no Python with numpy, faiss-cpu and hnswlib')
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-vectors-'))
try {
  const peers = path.join(PROJECT_ROOT, 'bench/peers/vector_ann.py')
  const prepared = execFileSync(python, [peers, 'prepare', documents, sharedPath('corpora/vec/win32.queries.npy'), scratch], { encoding: 'utf8' }) // prettier-ignore
  const { dims } = JSON.parse(prepared) as { dims: number }
  console.log(`one thread, ${describePinning()}`)
  const files = [path.join(scratch, 'documents.f32'), path.join(scratch, 'queries.f32')]
  const ours = (folder: string): string[] => [vectorBenchProgram(), ...files, String(dims), seconds, path.join(scratch, folder)]
  const rows = [
    ...run('ours', ours('vectors')),
    ...run('ours', [...ours('together'), 'together'], false),
    ...run('peers', [python, peers, 'measure', scratch, String(dims), seconds]),
  ]
  report.table([
    'peer',
    'step',
    'kind',
    'expansion',
    'percent',
    'clients',
    'threads',
    'recall',
    'perSecond',
    'p50Us',
    'p99Us',
    'memory',
    'mapped',
    'graph',
    'bytes',
    'seconds',
  ])
  ratios(rows)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
