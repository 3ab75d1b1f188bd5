/**
 * Question: how good are the rankings of /v1/fts? nDCG@10 and recall@100 on Cranfield and CISI (limit 1000),
 * MRR@10 and hit@10 of known items in md50k, for all algorithms. Also: the gain from counting a word twice
 * that occurs twice in the query, and what the mode auto makes of the queries as they are written. All others
 * run in mode simple, without their punctuation.
 * Compared with, in the same run and judged by the same code: Lucene 9.12 (EnglishAnalyzer, BM25 k1 1.2 b
 * 0.75), Tantivy (en_stem, BM25) and SQLite FTS5 (porter, bm25; words once).
 * Run: npm run bench -- quality [-- --small] (without the known items).
 * Aims: Lucene's nDCG@10 minus 0.005 (0.522, 0.385), MRR@10 0.675.
 * Last result (2026-11-28, known items 2026-11-21): nDCG@10 Cranfield / CISI: bm25 0.533 / 0.399, in mode
 * auto as written 0.533 / 0.366, tfidf 0.524 / 0.398, bm25f 0.534 / 0.405, Lucene 0.522 / 0.385. Known items
 * MRR@10: bm25 0.780, tfidf 0.572, bm25f 0.925.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { readLines, readTable, sharedPath } from '../data/corpora.js'
import { fill, search } from '../data/fulltext_client.js'
import { type Judgements, mean, ndcgAt, readJudgements, recallAt, reciprocalRankAt } from '../data/ranking_measures.js'
import { Connection } from '../measure/connection.js'
import { Report } from '../measure/report.js'
import { luceneClassPath, peerPython, runPeer } from '../peers/peers.js'

const ALGORITHMS = ['bm25', 'tfidf', 'bm25f', 'pmisparse'] as const
const COLLECTIONS = ['cranfield', 'cisi'] as const
const RUN_DEPTH = 1_000
const KNOWN_ITEM_DEPTH = 10

const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-quality-'))
const report = new Report()

function withoutPunctuation(query: string): string {
  return query.replace(/[^\p{L}\p{N}\s]+/gu, ' ').trim()
}

function judge(
  what: string,
  corpus: string,
  judgements: ReadonlyMap<string, Judgements>,
  rankings: ReadonlyMap<string, readonly string[]>,
): void {
  const queries = [...judgements]
  const ndcg10 = mean(queries.map(([query, judged]) => ndcgAt(10, rankings.get(query) ?? [], judged)))
  const recall100 = mean(queries.map(([query, judged]) => recallAt(100, rankings.get(query) ?? [], judged)))
  report.add({ what, corpus, queries: queries.length, ndcg10, recall100 })
}

async function rank(
  connection: Connection,
  corpus: string,
  algorithm: string,
  queries: readonly (readonly string[])[],
  mode: 'simple' | 'auto' = 'simple',
): Promise<Map<string, readonly string[]>> {
  const rankings = new Map<string, readonly string[]>()
  for (const [query, text = ''] of queries) {
    const hits = await search(connection, {
      collection: corpus,
      query: mode === 'simple' ? withoutPunctuation(text) : text,
      mode,
      algorithm,
      limit: RUN_DEPTH,
    })
    rankings.set(query ?? '', hits.keys)
  }
  return rankings
}

async function judgeServer(connection: Connection, corpus: string): Promise<void> {
  await fill(connection, corpus, await readLines(sharedPath(`corpora/ir/${corpus}/docs.ndjson`)))
  const judgements = readJudgements(sharedPath(`corpora/ir/${corpus}/qrels.tsv`))
  const queries = readTable(sharedPath(`corpora/ir/${corpus}/queries.tsv`)).filter(([query]) => judgements.has(query ?? ''))
  for (const algorithm of ALGORITHMS) judge(algorithm, corpus, judgements, await rank(connection, corpus, algorithm, queries))
  judge('bm25, auto, as written', corpus, judgements, await rank(connection, corpus, 'bm25', queries, 'auto'))
  const once = queries.map(([query = '', text = '']) => [
    query,
    [...new Set(withoutPunctuation(text).toLowerCase().split(/\s+/))].join(' '),
  ])
  judge('bm25, each word once', corpus, judgements, await rank(connection, corpus, 'bm25', once))
}

/** Lucene's run file: query, Q0, key, rank, score, name. */
function judgeLucene(classPath: string, corpus: string): void {
  const run = path.join(scratch, `${corpus}.run`)
  const folder = sharedPath(`corpora/ir/${corpus}`)
  const index = path.join(scratch, `lucene-${corpus}`)
  if (
    runPeer('Lucene', '0', 'java', [
      '-Xmx1g',
      '-cp',
      classPath,
      'LB',
      path.join(folder, 'docs.ndjson'),
      path.join(folder, 'queries.tsv'),
      index,
      '1000000',
      run,
    ]) === null
  )
    return
  judgeRun('Lucene', corpus, run)
}

function judgePythonPeer(python: string, engine: string, corpus: string): void {
  const run = path.join(scratch, `${corpus}.${engine}.run`)
  const folder = sharedPath(`corpora/ir/${corpus}`)
  const program = sharedPath('peers/engines/tantivy_sqlite.py')
  const files = [
    path.join(folder, 'docs.ndjson'),
    path.join(folder, 'queries.tsv'),
    path.join(scratch, `${engine}-${corpus}`),
    '1000000',
    run,
  ]
  if (runPeer(engine, '0', python, [program, engine, ...files]) !== null) judgeRun(engine, corpus, run)
}

function judgeRun(name: string, corpus: string, run: string): void {
  const rankings = new Map<string, string[]>()
  for (const [line] of readTable(run)) {
    const [query, , key] = (line ?? '').split(' ')
    if (query === undefined || key === undefined) continue
    const ranking = rankings.get(query)
    if (ranking === undefined) rankings.set(query, [key])
    else ranking.push(key)
  }
  judge(name, corpus, readJudgements(sharedPath(`corpora/ir/${corpus}/qrels.tsv`)), rankings)
}

async function judgeKnownItems(connection: Connection): Promise<void> {
  await fill(connection, 'md50k', await readLines(sharedPath('corpora/md/md50k.ndjson.gz')))
  const items = readTable(sharedPath('corpora/ir/knownitem.tsv'))
  for (const algorithm of ALGORITHMS) {
    const ranks: number[] = []
    for (const [, text, key] of items) {
      const hits = await search(connection, {
        collection: 'md50k',
        query: withoutPunctuation(text ?? ''),
        mode: 'simple',
        algorithm,
        limit: KNOWN_ITEM_DEPTH,
      })
      ranks.push(reciprocalRankAt(KNOWN_ITEM_DEPTH, hits.keys, key ?? ''))
    }
    report.add({
      what: algorithm,
      corpus: 'known items',
      queries: items.length,
      mrr10: mean(ranks),
      hit10: mean(ranks.map((rank) => (rank > 0 ? 1 : 0))),
    })
  }
}

try {
  const classPath = luceneClassPath()
  if (classPath !== null) for (const corpus of COLLECTIONS) judgeLucene(classPath, corpus)
  const python = peerPython()
  if (python !== null) for (const corpus of COLLECTIONS) for (const engine of ['tantivy', 'sqlite']) judgePythonPeer(python, engine, corpus)
  const server = await ServerProcess.start(path.join(scratch, 'db'))
  try {
    const connection = await Connection.open(server.port)
    for (const corpus of COLLECTIONS) await judgeServer(connection, corpus)
    if (!process.argv.includes('--small')) await judgeKnownItems(connection)
    connection.close()
  } finally {
    await server.kill()
  }
  report.table(['what', 'corpus', 'queries', 'ndcg10', 'recall100', 'mrr10', 'hit10'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
