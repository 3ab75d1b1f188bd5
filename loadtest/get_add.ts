/**
 * The whole server under load: how many gets and durable adds per second, on how many connections, and how
 * much does the hand-over to the lanes cost?
 * Compared with, in the same run: the same front end answering a constant of the same size on its loop (no
 * hand-over), and bare uWebSockets.js. Rounds are interleaved, the median counts.
 * Corpus: md50k, uniform keys (seeded); keep-alive connections from a separate process. Run: npm run
 * loadtest -- get-add [DOCUMENTS] [SECONDS].
 * Aim: get at 64 connections at least 0.6 of the constant. Last result (2 cores, shared with other work): see
 * bench/README.md.
 */
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type CorpusDocument, readDocuments, sharedPath } from '../bench/data/corpora.js'
import { postBytes } from '../bench/measure/connection.js'
import { type LoadResult, runLoad } from '../bench/measure/load.js'
import { randomSource } from '../bench/measure/random_source.js'
import { Report } from '../bench/measure/report.js'
import { fork } from '../test/harness/process/owned_processes.js'
import { type Server, startServer } from '../test/harness/server/server.js'

const DOCUMENTS = Number(process.argv[2] ?? 50_000)
const SECONDS = Number(process.argv[3] ?? 4)
const ROUNDS = 3
const BATCH_DOCUMENTS = 500
const CONNECTIONS = [1, 64, 256]
const SEED = 20_261

const report = new Report()
const random = randomSource(SEED)

async function fill(server: Server, documents: readonly CorpusDocument[]): Promise<void> {
  for (let at = 0; at < documents.length; at += BATCH_DOCUMENTS) {
    const answer = await server.post('/v1/add-batch', { collection: 'md', documents: documents.slice(at, at + BATCH_DOCUMENTS) })
    if (answer.status !== 200) throw new Error(`add-batch: ${answer.status} ${answer.text.slice(0, 300)}`)
  }
}

async function startBare(bytes: number): Promise<{ readonly port: number; stop(): void }> {
  const child = fork(fileURLToPath(new URL('./bare_uws.js', import.meta.url)), [String(bytes)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return { port: Number(line.toString()), stop: () => child.disconnect() }
}

function median(results: readonly LoadResult[]): LoadResult {
  return [...results].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(results.length / 2)]!
}

const documents = await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)
const answerBytes = Math.round(
  documents.reduce((sum, document) => sum + Buffer.byteLength(JSON.stringify(document)) + 70, 0) / documents.length,
)
console.log(JSON.stringify({ seed: SEED, documents: documents.length, meanAnswerBytes: answerBytes }))

// Under the supervisor, as in production: it also sets the flags of the server's process.
const server = await startServer({ supervisor: true, env: { SVC_LOADTEST_CONSTANT: String(answerBytes) } })
const bare = await startBare(answerBytes)
try {
  await fill(server, documents)
  const requests = documents.map(({ key, lang }) => JSON.stringify({ collection: 'md', key, lang }))
  const gets = requests.map((json) => postBytes('/v1/get', json))
  const constants = requests.map((json) => postBytes('/loadtest/constant', json))
  const pick = (from: readonly Buffer[]): Buffer => from[Math.floor(random() * from.length)]!
  const peers = [
    { what: 'get', port: server.port, next: () => pick(gets) },
    { what: 'constant on the loop', port: server.port, next: () => pick(constants) },
    { what: 'bare uWS', port: bare.port, next: () => pick(constants) },
  ]
  for (const connections of CONNECTIONS) {
    const results = new Map<string, LoadResult[]>(peers.map(({ what }) => [what, []]))
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { what, port, next } of peers) {
        const result = await runLoad(port, connections, SECONDS, next)
        // The first round warms up.
        if (round > 0) results.get(what)!.push(result)
      }
    }
    for (const { what } of peers) report.add({ what, connections, ...median(results.get(what)!) })
    const rate = (what: string): number => median(results.get(what)!).perSecond
    report.add({ what: 'get / constant', connections, ratio: rate('get') / rate('constant on the loop') })
    report.add({ what: 'get / bare uWS', connections, ratio: rate('get') / rate('bare uWS') })
  }
  let added = 0
  const nextAdd = (): Buffer => {
    const document = documents[added % documents.length]!
    return postBytes('/v1/add', JSON.stringify({ ...document, collection: 'added', key: `${document.key}/${added++}` }))
  }
  for (const connections of CONNECTIONS)
    report.add({ what: 'add', connections, ...(await runLoad(server.port, connections, SECONDS, nextAdd)) })
  report.table(['what', 'connections', 'perSecond', 'p50Ms', 'p99Ms', 'ratio'])
} finally {
  bare.stop()
  await server.stop()
}
