/**
 * Autocomplete under load: how long does a keystroke wait for its completions, on 16 connections? Prefixes as people type them: of each of the 300 commonest words every beginning, one after the
 * other. First after a start, when no lane remembers anything, each prefix once; then over and over; then beside one connection that adds documents, so that nothing that was answered may be said
 * again. At last one connection alone, cold, each length of prefix for itself.
 * Corpus: md50k. Load by wrk, the cold rounds by the bench's own client (both share the cores with the server). Run: npm run loadtest:autocomplete [-- DOCUMENTS] [SECONDS] [DIRECTORY]
 * (of a server that has them in its collection md; new documents are added to it).
 * Aim: p99 under 2 ms on 16 connections. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Connection, getBytes, postBytes } from '../bench/connection.js'
import { readDocuments, sharedPath, type CorpusDocument } from '../bench/corpora.js'
import { runLoad } from '../bench/load.js'
import { percentile, Report } from '../bench/report.js'
import { load } from '../bench/wrk.js'
import { startServer, type Server } from '../test/harness/server.js'

const DOCUMENTS = Number(process.argv[2] ?? 60_000)
const SECONDS = Number(process.argv[3] ?? 5)
const CONNECTIONS = 16
const WORDS = 300
const WORD_CHARACTERS_MIN = 4
const BATCH_DOCUMENTS = 500
const LONG_SECONDS = 600
const COLLECTION = 'md'

const report = new Report()
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-load-autocomplete-'))
const given = process.argv[4]
const directory = given ?? path.join(scratch, 'db')

async function fill(server: Server, documents: readonly CorpusDocument[]): Promise<void> {
  for (let at = 0; at < documents.length; at += BATCH_DOCUMENTS) {
    const answer = await server.post('/v1/add-batch', { collection: COLLECTION, documents: documents.slice(at, at + BATCH_DOCUMENTS) })
    if (answer.status !== 200) throw new Error(`add-batch: ${answer.status} ${answer.text.slice(0, 300)}`)
  }
}

/** By the number of documents that have them. */
function commonWords(documents: readonly CorpusDocument[]): string[] {
  const counts = new Map<string, number>()
  for (const { contentMd } of documents)
    for (const word of new Set(contentMd.toLowerCase().match(/\p{L}+/gu))) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts]
    .filter(([word]) => word.length >= WORD_CHARACTERS_MIN)
    .sort(([, one], [, other]) => other - one)
    .slice(0, WORDS)
    .map(([word]) => word)
}

function pathOf(prefix: string): string {
  return `/v1/autocomplete?collection=${COLLECTION}&q=${encodeURIComponent(prefix)}`
}

/** Each request once. */
async function once(server: Server, paths: readonly string[]): ReturnType<typeof runLoad> {
  const requests = paths.map(getBytes)
  return runLoad(server.port, CONNECTIONS, LONG_SECONDS, (n) => requests[n] ?? null)
}

async function coldByLength(server: Server, prefixes: readonly string[]): Promise<void> {
  const connection = await Connection.open(server.port)
  const times = new Map<number, number[]>()
  for (const prefix of prefixes) {
    const begun = performance.now()
    await connection.send(getBytes(pathOf(prefix)))
    const length = Math.min(prefix.length, 8)
    times.set(length, [...(times.get(length) ?? []), performance.now() - begun])
  }
  connection.close()
  for (const [length, list] of [...times].sort(([one], [other]) => one - other))
    report.add({
      what: 'cold, one connection',
      characters: length,
      prefixes: list.length,
      p50Ms: percentile(list, 0.5),
      p99Ms: percentile(list, 0.99),
    })
}

/** Adds a document after the other until it is told to stop. */
function startWriter(server: Server, documents: readonly CorpusDocument[]): () => Promise<number> {
  let [isStopped, added] = [false, 0]
  const work = (async () => {
    const connection = await Connection.open(server.port)
    while (!isStopped) {
      const document = documents[added % documents.length]
      const answer = await connection.send(
        postBytes('/v1/add', JSON.stringify({ ...document, collection: COLLECTION, key: `new/${added++}` })),
      )
      if (answer.status !== 200) throw new Error(`add: ${answer.status}`)
    }
    connection.close()
  })()
  return async () => {
    isStopped = true
    await work
    return added
  }
}

const documents = await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)
const words = commonWords(documents)
const typed = words.flatMap((word) => Array.from({ length: word.length }, (_, index) => word.slice(0, index + 1)))
const distinct = [...new Set(typed)]
console.log(JSON.stringify({ documents: documents.length, words: words.length, keystrokes: typed.length, prefixes: distinct.length }))
const requests = typed.map((prefix) => ({ path: pathOf(prefix) }))
const script = path.join(scratch, 'load.lua')
// Under the supervisor, as users run it: it also sets the flags of the server's process.
const start = (): Promise<Server> => startServer({ supervisor: true, directory })
try {
  if (given === undefined) {
    const first = await start()
    await fill(first, documents)
    await first.stop()
  }
  const second = await start()
  report.add({ what: 'cold, each prefix once', connections: CONNECTIONS, ...(await once(second, distinct.map(pathOf))) })
  for (const round of [1, 2, 3])
    report.add({ what: 'typing', round, connections: CONNECTIONS, ...(await load(second.port, CONNECTIONS, SECONDS, requests, script)) })
  const stop = startWriter(second, documents)
  const beside = await load(second.port, CONNECTIONS, SECONDS, requests, script)
  report.add({ what: 'typing beside a writer', connections: CONNECTIONS, ...beside, added: await stop() })
  await second.stop()
  const third = await start()
  await coldByLength(third, distinct)
  await third.stop()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
report.table(['what', 'round', 'connections', 'characters', 'prefixes', 'requests', 'perSecond', 'p50Ms', 'p99Ms', 'added'])
