/**
 * Question: what does a document take by GraphQL, beside the same document by `/v1/get`?
 * The whole server, 64 connections, uniform keys (seeded) of DOCUMENTS documents. One document of GraphQL
 * with variables asks for all fields; its text is always the same, and the server has read it before. A
 * second one has the key in its text: the server reads each text anew, but for those of some 1 000 keys.
 * Baseline in the same run: the same get through the lanes (a query string keeps it from the event loop).
 * Rounds are interleaved, the median counts.
 * Run: npm run bench -- graphql-get [DOCUMENTS] [SECONDS] [WHAT]. Aim: 0.5 of the get through the lanes. Last
 * result: see bench/README.md.
 */
import { startServer } from '../../test/harness/server/server.js'
import { readDocuments, sharedPath } from '../data/corpora.js'
import { postBytes } from '../measure/connection.js'
import { type LoadResult, runLoad } from '../measure/load.js'
import { randomSource } from '../measure/random_source.js'
import { Report } from '../measure/report.js'

const DOCUMENTS = Number(process.argv[2] ?? 5_000)
const SECONDS = Number(process.argv[3] ?? 3)
const ONLY = process.argv[4]
const CONNECTIONS = 64
const ROUNDS = 3
const BATCH_DOCUMENTS = 500
const SEED = 20_261
const FIELDS = '{id key lang meta contentMd addedAt updatedAt expiresAt}'

const report = new Report()
const random = randomSource(SEED)
const documents = await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)
const server = await startServer({ supervisor: true, nodeArgs: process.env['SERVER_NODE_ARGS']?.split(' ') ?? [] })

function graphql(query: string, variables: object = {}): Buffer {
  return postBytes('/graphql', JSON.stringify({ query, variables }))
}

try {
  for (let at = 0; at < documents.length; at += BATCH_DOCUMENTS) {
    const answer = await server.post('/v1/add-batch', { collection: 'md', documents: documents.slice(at, at + BATCH_DOCUMENTS) })
    if (answer.status !== 200) throw new Error(`add-batch: ${answer.status} ${answer.text.slice(0, 300)}`)
  }
  const named = documents.map(({ key, lang }) => ({ collection: 'md', key, lang }))
  const byVariables = `query($collection:String!,$key:String!,$lang:String!){document(collection:$collection,key:$key,lang:$lang)${FIELDS}}`
  const peers = [
    { what: 'get through the lanes', requests: named.map((one) => postBytes('/v1/get?by=lane', JSON.stringify(one))) },
    { what: 'get', requests: named.map((one) => postBytes('/v1/get', JSON.stringify(one))) },
    { what: 'graphql, variables', requests: named.map((one) => graphql(byVariables, one)) },
    {
      what: 'graphql, key in the text',
      requests: named.map(({ key, lang }) =>
        graphql(`{document(collection:"md",key:${JSON.stringify(key)},lang:${JSON.stringify(lang)})${FIELDS}}`),
      ),
    },
  ].filter(({ what }) => ONLY === undefined || what.startsWith(ONLY))
  const results = new Map<string, LoadResult[]>(peers.map(({ what }) => [what, []]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { what, requests } of peers) {
      const result = await runLoad(server.port, CONNECTIONS, SECONDS, () => requests[Math.floor(random() * requests.length)]!)
      // The first round warms up.
      if (round > 0) results.get(what)!.push(result)
    }
  }
  const median = (what: string): LoadResult =>
    [...(results.get(what) ?? [])].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(ROUNDS / 2)]!
  for (const { what } of peers) report.add({ what, connections: CONNECTIONS, ...median(what) })
  const [base] = peers
  if (ONLY === undefined)
    for (const { what } of peers.slice(1))
      report.add({ what: `${what} / lanes`, connections: CONNECTIONS, ratio: median(what).perSecond / median(base!.what).perSecond })
  report.table(['what', 'connections', 'perSecond', 'p50Ms', 'p99Ms', 'ratio'])
} finally {
  await server.stop()
}
