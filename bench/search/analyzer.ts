/**
 * Question: how many MB of markdown per second does one thread analyse, from UTF-8 to packed tokens (stemmed
 * English)?
 * Compared with, in the same run: copying the same bytes through a JavaScript string and splitting at
 * characters that are neither letters nor digits, without markup rules, stop words or stems.
 * Corpus: md10k, the first 10 000 documents of md50k. Run: node dist/bench/search/analyzer.js.
 * Aim: 60 MB/s of CPU time. CPU time is used because benches share machines; wall time is reported beside it.
 * Last result, 2 shared cores, Node 20.20: 145 MB/s of CPU time after a first pass of 105, see
 * docs/decisions/search/text-analysis.md.
 */
import { createAnalyzer } from '../../src/engine/text/analyzer.js'
import { readDocuments, sharedPath } from '../data/corpora.js'

const PASSES = 7
const DOCUMENTS = 10_000

const texts = (await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)).map(({ contentMd }) => Buffer.from(contentMd))
const bytes = texts.reduce((sum, text) => sum + text.length, 0)
const analyzer = createAnalyzer()

interface Pass {
  readonly cpuMbPerSecond: number
  readonly wallMbPerSecond: number
  readonly result: number
}

/** Measures one pass over all texts. `work` returns a number that depends on its whole result. */
function measure(work: (text: Buffer) => number): Pass {
  const cpu = process.cpuUsage()
  const begin = performance.now()
  const result = texts.reduce((sum, text) => sum + work(text), 0)
  const wallMs = performance.now() - begin
  const { user, system } = process.cpuUsage(cpu)
  return { cpuMbPerSecond: bytes / (user + system), wallMbPerSecond: bytes / 1000 / wallMs, result }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

const passes = Array.from({ length: PASSES }, () =>
  measure((text) => analyzer.analyze(text, { language: 'en', stem: true, markdown: true }).length),
)
const naive = Array.from({ length: 3 }, () =>
  measure(
    (text) =>
      text
        .toString()
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u).length,
  ),
)
const warm = median(passes.slice(1).map(({ cpuMbPerSecond }) => cpuMbPerSecond))
console.log(
  JSON.stringify({
    what: 'analyzer, md10k, one thread',
    megabytes: bytes / 1e6,
    coldCpuMbPerSecond: passes[0]?.cpuMbPerSecond,
    warmCpuMbPerSecond: warm,
    warmWallMbPerSecond: median(passes.slice(1).map(({ wallMbPerSecond }) => wallMbPerSecond)),
    packedBytesPerByte: (passes[0]?.result ?? 0) / bytes,
    ratioToSplit: warm / median(naive.map(({ cpuMbPerSecond }) => cpuMbPerSecond)),
    memoryBytes: analyzer.memoryBytes(),
  }),
)
