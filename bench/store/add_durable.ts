/**
 * Question: how many durable adds per second, each acknowledged after the flush, with metadata, a revision
 * and full-text, on 1 and on 64 connections?
 * Compared with, in the same run: PostgreSQL (unique key, jsonb, generated tsvector with GIN, default
 * durability) by pgbench, and bare lmdb-js with `flushed` on one connection.
 * Corpus: the first 10 000 documents of md50k, 4.8 KB on average; each add has a new key.
 * Flushes: fdatasync calls on the data files, counted by the power-cut shim in a separate run that is not
 * timed.
 * Run: npm run bench -- add-durable.
 * Aims: 1.5 x PostgreSQL at 64, 0.6 x lmdb-js at 1, fewer than one flush per 8 adds at 64. Last result:
 * bench/README.md.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readIoLog } from '../../test/fault/power_cut/io_log.js'
import { buildShim } from '../../test/fault/shim/shim_build.js'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { type CorpusDocument, readLines, sharedPath } from '../data/corpora.js'
import { postBytes } from '../measure/connection.js'
import { type LoadResult, runLoad } from '../measure/load.js'
import { cpuSeconds } from '../measure/process_cpu.js'
import { Report } from '../measure/report.js'
import { peerPython, runPeer } from '../peers/peers.js'

const DOCUMENTS = 10_000
const SECONDS = 6
// Lasts until the hot paths are compiled: a single client needs some thousand requests for that.
const WARM_UP_SECONDS = 8
const FLUSH_COUNT_SECONDS = 2
const COLUMNS = ['what', 'connections', 'perSecond', 'p50Ms', 'p99Ms', 'cpuUsPerAdd', 'addsPerFlush', 'ratio']

const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)
const documents = lines.map((line) => JSON.parse(line) as CorpusDocument)
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-add-'))
const corpus = path.join(scratch, 'corpus.ndjson')
writeFileSync(corpus, lines.join('\n'))
const report = new Report()
let keys = 0

/** A new key each time, so that every add is an insert. */
function nextAdd(): Buffer {
  const document = documents[keys % documents.length]!
  return postBytes('/v1/add', JSON.stringify({ ...document, collection: 'bench', key: `${document.key}/${keys++}` }))
}

async function measureAdds(connections: number): Promise<LoadResult & { readonly cpuUsPerAdd: number }> {
  const server = await ServerProcess.start(path.join(scratch, `db-${connections}`))
  try {
    await runLoad(server.port, connections, WARM_UP_SECONDS, nextAdd)
    const cpuBefore = cpuSeconds(server.pid)
    const result = await runLoad(server.port, connections, SECONDS, nextAdd)
    return { ...result, cpuUsPerAdd: ((cpuSeconds(server.pid) - cpuBefore) * 1e6) / result.requests }
  } finally {
    await server.kill()
  }
}

/** Adds per fdatasync of the truth env. The shim logs every call, so nothing of this run is timed. */
async function measureFlushes(connections: number): Promise<number> {
  const directory = path.join(scratch, `flushes-${connections}`)
  const log = path.join(scratch, `flushes-${connections}.log`)
  mkdirSync(directory)
  const server = await ServerProcess.start(directory, { LD_PRELOAD: buildShim('powercut'), MDS_FAULT_DIR: directory, MDS_FAULT_LOG: log })
  const { requests } = await runLoad(server.port, connections, FLUSH_COUNT_SECONDS, nextAdd).finally(() => server.kill())
  const records = readIoLog(log)
  const truth = new Set(records.flatMap((record) => (record.kind === 'open' && record.path.endsWith('truth.mdb') ? [record.file] : [])))
  return requests / records.filter((record) => record.kind === 'flush-end' && truth.has(record.file)).length
}

try {
  const bare = new Map<number, number>()
  for (const indexKeys of [0, 10]) {
    const directory = path.join(scratch, `lmdb-${indexKeys}`)
    mkdirSync(directory)
    const [row] =
      runPeer('lmdb-js', '0,1', process.execPath, [
        fileURLToPath(new URL('../peers/lmdb_put.js', import.meta.url)),
        corpus,
        directory,
        String(SECONDS),
        String(indexKeys),
      ]) ?? []
    if (row === undefined) continue
    bare.set(indexKeys, Number(row['perSecond']))
    report.add({ what: `lmdb-js flushed, ${indexKeys} index keys`, ...row })
  }
  const postgres = new Map<number, number>()
  const python = peerPython()
  const rows =
    python === null
      ? null
      : runPeer('PostgreSQL', '0,1', python, [
          fileURLToPath(new URL('../../../bench/peers/postgres_insert.py', import.meta.url)),
          corpus,
          path.join(scratch, 'pg'),
          String(SECONDS),
          '1',
          '64',
        ])
  for (const row of rows ?? []) {
    postgres.set(Number(row['connections']), Number(row['perSecond']))
    report.add({ what: 'PostgreSQL tsvector + GIN', ...row })
  }
  for (const connections of [1, 64]) {
    const { perSecond, p50Ms, p99Ms, cpuUsPerAdd } = await measureAdds(connections)
    const addsPerFlush = await measureFlushes(connections)
    report.add({ what: 'add', connections, perSecond, p50Ms, p99Ms, cpuUsPerAdd, addsPerFlush })
    const peer = postgres.get(connections)
    if (peer !== undefined) report.add({ what: 'add / PostgreSQL', connections, ratio: perSecond / peer })
    for (const [indexKeys, rate] of connections === 1 ? bare : [])
      report.add({ what: `add / lmdb-js, ${indexKeys} index keys`, connections, ratio: perSecond / rate })
  }
  report.table(COLUMNS)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
