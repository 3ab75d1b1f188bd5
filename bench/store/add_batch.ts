/**
 * Question: how many documents per second does add-batch of 500 accept over HTTP, durable and searchable when
 * answered?
 * Compared with, in the same run: Lucene 9.12 indexing the same documents from memory on one core (no HTTP,
 * no stored body, one commit at the end).
 * Corpus: md50k, 51 318 documents, 248 MB. Run: npm run bench -- add-batch.
 * Aim: at least Lucene's rate. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { readLines, sharedPath } from '../data/corpora.js'
import { postBytes } from '../measure/connection.js'
import { runLoad } from '../measure/load.js'
import { cpuSeconds } from '../measure/process_cpu.js'
import { Report } from '../measure/report.js'
import { luceneClassPath, runPeer } from '../peers/peers.js'

const BATCH_DOCUMENTS = 500
/** Longer than any run; a run ends when the batches are exhausted. */
const SECONDS_MAX = 600

const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'))
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-batch-'))
const report = new Report()

async function measure(connections: number): Promise<number> {
  const batches: Buffer[] = []
  for (let begin = 0; begin < lines.length; begin += BATCH_DOCUMENTS) {
    batches.push(
      postBytes('/v1/add-batch', `{"collection":"bench","documents":[${lines.slice(begin, begin + BATCH_DOCUMENTS).join(',')}]}`),
    )
  }
  const server = await ServerProcess.start(path.join(scratch, `db-${connections}`))
  try {
    const cpuBefore = cpuSeconds(server.pid)
    const result = await runLoad(server.port, connections, SECONDS_MAX, (n) => batches[n] ?? null)
    const documentsPerSecond = (result.perSecond * lines.length) / batches.length
    const cpuUsPerDocument = ((cpuSeconds(server.pid) - cpuBefore) * 1e6) / lines.length
    report.add({ what: 'add-batch of 500', connections, documentsPerSecond, cpuUsPerDocument, p50Ms: result.p50Ms, p99Ms: result.p99Ms })
    return documentsPerSecond
  } finally {
    await server.kill()
  }
}

try {
  const corpus = path.join(scratch, 'corpus.ndjson')
  const queries = path.join(scratch, 'none.json')
  writeFileSync(corpus, lines.join('\n'))
  writeFileSync(queries, '{}')
  const classPath = luceneClassPath()
  const index = path.join(scratch, 'lucene')
  const [lucene] =
    (classPath === null
      ? null
      : runPeer('Lucene', '0', 'java', ['-Xmx2g', '-XX:+UseSerialGC', '-cp', classPath, 'LB', corpus, queries, index])) ?? []
  if (lucene !== undefined) report.add({ what: 'Lucene, one core', documentsPerSecond: Number(lucene['docs_s']) })
  for (const connections of [1, 2]) {
    const rate = await measure(connections)
    if (lucene !== undefined) report.add({ what: 'add-batch / Lucene', connections, ratio: rate / Number(lucene['docs_s']) })
  }
  report.table(['what', 'connections', 'documentsPerSecond', 'cpuUsPerDocument', 'p50Ms', 'p99Ms', 'ratio'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
