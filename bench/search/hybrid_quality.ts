/**
 * Question: is a fused ranking better than its parts? nDCG@10 and recall@100 of /v1/fts (bm25),
 * /v1/vector-search and /v1/hybrid-search (alpha from 0.1 to 0.9, rrf) on Cranfield and CISI, with the MiniLM
 * vectors of the corpora as documents and queries.
 * Run: npm run bench -- hybrid-quality. Aim: alpha fusion at least 0.02 above the better part.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { type CorpusDocument, readDocuments, readTable, sharedPath } from '../data/corpora.js'
import { fill } from '../data/fulltext_client.js'
import { GivenVectors, readVectors, vectorAt } from '../data/given_vectors.js'
import { mean, ndcgAt, readJudgements, recallAt } from '../data/ranking_measures.js'
import { Connection, getBytes, postBytes } from '../measure/connection.js'
import { Report } from '../measure/report.js'

const COLLECTIONS = ['cranfield', 'cisi'] as const
const ALPHAS = [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9]
const DEPTH = 100
const EMBEDDING_MS_MAX = 120_000

const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-hybrid-'))
const report = new Report()

interface Corpus {
  readonly name: string
  readonly documents: readonly CorpusDocument[]
  readonly queries: readonly (readonly [id: string, text: string])[]
}

async function readCorpus(name: string, given: GivenVectors): Promise<Corpus> {
  const documents = await readDocuments(sharedPath(`corpora/ir/${name}/docs.ndjson`))
  const queries = readTable(sharedPath(`corpora/ir/${name}/queries.tsv`)).map(([id = '', text = '']) => [id, text] as const)
  const texts: Readonly<Record<string, ReadonlyMap<string, string>>> = {
    docs: new Map(documents.map(({ key, contentMd }) => [key, contentMd])),
    queries: new Map(queries),
  }
  for (const [kind, byKey] of Object.entries(texts)) {
    const vectors = readVectors(sharedPath(`corpora/vec/${name}.${kind}.npy`))
    readTable(sharedPath(`corpora/vec/${name}.${kind}.keys.txt`)).forEach(([key = ''], row) => {
      const text = byKey.get(key)
      if (text !== undefined) given.know(text, vectorAt(vectors, row))
    })
  }
  return { name, documents, queries }
}

async function whenEmbedded(connection: Connection, { name, documents }: Corpus): Promise<void> {
  const end = performance.now() + EMBEDDING_MS_MAX
  for (;;) {
    const stats = JSON.parse((await connection.send(getBytes('/v1/vector-stats'))).body.toString()) as {
      readonly collections: Readonly<Record<string, { readonly embedded_documents: number }>>
    }
    if (stats.collections[name]?.embedded_documents === documents.length) return
    if (performance.now() > end) throw new Error(`${JSON.stringify(stats)}: not all of ${documents.length} documents have vectors`)
  }
}

type Ask = (query: string) => { readonly path: string; readonly body: object }

async function judge(connection: Connection, what: string, { name, queries }: Corpus, ask: Ask): Promise<number> {
  const judgements = readJudgements(sharedPath(`corpora/ir/${name}/qrels.tsv`))
  const rankings = new Map<string, readonly string[]>()
  for (const [id, text] of queries) {
    if (!judgements.has(id)) continue
    const { path: url, body } = ask(text)
    const answer = await connection.send(postBytes(url, JSON.stringify({ collection: name, ...body })))
    if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
    const { results } = JSON.parse(answer.body.toString()) as {
      readonly results: readonly { readonly document: { readonly key: string } }[]
    }
    rankings.set(
      id,
      results.map(({ document }) => document.key),
    )
  }
  const judged = [...judgements]
  const ndcg10 = mean(judged.map(([id, gains]) => ndcgAt(10, rankings.get(id) ?? [], gains)))
  const recall100 = mean(judged.map(([id, gains]) => recallAt(DEPTH, rankings.get(id) ?? [], gains)))
  report.add({ what, corpus: name, queries: judged.length, ndcg10, recall100 })
  return ndcg10
}

async function judgeCorpus(connection: Connection, corpus: Corpus): Promise<void> {
  await fill(
    connection,
    corpus.name,
    corpus.documents.map((document) => JSON.stringify(document)),
  )
  await whenEmbedded(connection, corpus)
  const words = await judge(connection, 'words (bm25)', corpus, (query) => ({
    path: '/v1/fts',
    body: { query, mode: 'simple', algorithm: 'bm25', limit: DEPTH },
  }))
  const meaning = await judge(connection, 'meaning', corpus, (query) => ({
    path: '/v1/vector-search',
    body: { query, topK: DEPTH, threshold: -1 },
  }))
  const fused: number[] = []
  for (const alpha of ALPHAS) {
    fused.push(
      await judge(connection, `alpha ${alpha}`, corpus, (query) => ({
        path: '/v1/hybrid-search',
        body: { query, alpha, topK: DEPTH, threshold: -1 },
      })),
    )
  }
  await judge(connection, 'rrf', corpus, (query) => ({
    path: '/v1/hybrid-search',
    body: { query, strategy: 'rrf', topK: DEPTH, threshold: -1 },
  }))
  report.add({ what: 'best alpha above the better part', corpus: corpus.name, ndcg10: Math.max(...fused) - Math.max(words, meaning) })
}

const given = await GivenVectors.start(384)
try {
  const corpora = await Promise.all(COLLECTIONS.map((name) => readCorpus(name, given)))
  const server = await ServerProcess.start(path.join(scratch, 'db'), given.environment)
  try {
    const connection = await Connection.open(server.port)
    for (const corpus of corpora) await judgeCorpus(connection, corpus)
    connection.close()
  } finally {
    await server.kill()
  }
  report.table(['what', 'corpus', 'queries', 'ndcg10', 'recall100'])
} finally {
  await given.stop()
  rmSync(scratch, { recursive: true, force: true })
}
