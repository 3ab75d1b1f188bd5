/**
 * Question: how many MB per second does one thread split into chunks, the copy into the module included?
 * Prose is split by the structure of markdown, code by its brackets.
 * Compared with, in the same run: splitting the same text at blank lines in JavaScript and joining paragraphs
 * up to the budget, the minimum work of a prose chunker.
 * Corpus: md10k, the first 10 000 documents of md50k, for prose; the project's own TypeScript, one text per
 * file, for code.
 * Run: npm run bench -- chunks. Processor time is used because benches share machines. Last result:
 * bench/README.md.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type ChunkMode, createChunker } from '../../src/engine/text/chunker.js'
import { readDocuments, sharedPath } from '../data/corpora.js'
import { median } from '../measure/statistics.js'

const PASSES = 5
const DOCUMENTS = 10_000
const BUDGET = 1500

const sources = path.join(import.meta.dirname, '../../../src')
const prose = (await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)).map(({ contentMd }) => Buffer.from(contentMd))
const code = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(path.join(sources, name)))
const chunker = createChunker()

interface Rate {
  readonly mbPerSecond: number
  readonly chunks: number
}

/** Median of the passes over all texts. `work` returns the number of chunks. */
function measure(texts: readonly Buffer[], work: (text: Buffer) => number): Rate {
  const bytes = texts.reduce((sum, text) => sum + text.length, 0)
  let chunks = 0
  const rates = Array.from({ length: PASSES }, () => {
    const cpu = process.cpuUsage()
    chunks = texts.reduce((sum, text) => sum + work(text), 0)
    const { user, system } = process.cpuUsage(cpu)
    return bytes / (user + system)
  })
  return { mbPerSecond: median(rates), chunks }
}

function countParagraphs(text: Buffer): number {
  let chunks = 0
  let fill = Number.POSITIVE_INFINITY
  for (const { length } of text.toString().split(/\n\s*\n/)) {
    if (fill + length > BUDGET) {
      chunks += 1
      fill = 0
    }
    fill += length
  }
  return chunks
}

const cut = (mode: ChunkMode) => (text: Buffer) => chunker.chunk(text, mode, BUDGET, 0).length / 2
console.log(
  JSON.stringify(
    {
      prose: measure(prose, cut('prose')),
      code: measure(code, cut('code')),
      proseAsCode: measure(prose, cut('code')),
      split: measure(prose, countParagraphs),
    },
    null,
    2,
  ),
)
