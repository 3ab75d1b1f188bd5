/**
 * Autocomplete under load: how long does a keystroke wait for its completions on 16 connections?
 * Prefixes are those that people type: every prefix of each of the 300 commonest words, one after the other.
 * Rounds:
 *   1. after a start, with cold lanes, each prefix once
 *   2. repeatedly, as fast as answers come (closed loop) and at typing rates (open loop: a latency counts
 *     from when the request was due)
 *   3. beside one connection that adds documents, so that no earlier answer can be reused
 *   4. one connection alone, cold, each length of prefix separately
 * Two requests that need no work are interleaved as controls: one goes through the lanes, the other is
 * answered on the loop.
 * Corpus: md50k. Load by wrk, also with server and wrk on separate cores; cold and open rounds by the bench's
 * own client.
 * Run: npm run loadtest -- autocomplete [-- DOCUMENTS] [SECONDS] [DIRECTORY] (DIRECTORY: of a server that has
 * the documents in its collection md; new documents are added to it).
 * Aim: p99 under 2 ms on 16 connections. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CorpusDocument, readDocuments, sharedPath } from '../bench/data/corpora.js'
import { Connection, getBytes, postBytes } from '../bench/measure/connection.js'
import { runLoad, runOpenLoad } from '../bench/measure/load.js'
import { movePinned } from '../bench/measure/pinning.js'
import { percentile, Report } from '../bench/measure/report.js'
import { load } from '../bench/measure/wrk.js'
import { CONSTANT_PATH } from '../src/surface/http/front_end.js'
import { type Server, startServer } from '../test/harness/server/server.js'

const DOCUMENTS = Number(process.argv[2] ?? 60_000)
const SECONDS = Number(process.argv[3] ?? 5)
const CONNECTIONS = 16
const WORDS = 300
const WORD_CHARACTERS_MIN = 4
const BATCH_DOCUMENTS = 500
const LONG_SECONDS = 600
const COLLECTION = 'md'

/** Goes through the lanes and back without any work there: the present speed of the machine. */
const CONTROL = { path: '/v1/fts-languages' }
/** Answered on the loop: the minimum cost of a cached answer. */
const CONSTANT = { path: CONSTANT_PATH }
const CONSTANT_BYTES = 600
/** Keystrokes per second of some thousand typing users. */
const RATES = [2000, 5000]
const RATES_BESIDE_WRITER = [100, 300, 1000]
/** Documents per second that the writer adds. */
const DOCUMENTS_ADDED = 1000
const [SERVER_CORE, CLIENT_CORE, ANY_CORE] = ['0', '1', `0-${cpus().length - 1}`]

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

/** The commonest words, by the number of documents that contain them. */
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

/** Sends each request once. */
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

let keysUsed = 0

/** Adds documents one after the other, at most the given number per second, until it is stopped. */
function startWriter(server: Server, documents: readonly CorpusDocument[]): () => Promise<number> {
  let [isStopped, added] = [false, 0]
  const work = (async () => {
    const connection = await Connection.open(server.port)
    const begun = performance.now()
    while (!isStopped) {
      const earlyMs = begun + (added * 1000) / DOCUMENTS_ADDED - performance.now()
      if (earlyMs > 1) await sleep(earlyMs)
      const document = documents[added % documents.length]
      const answer = await connection.send(
        postBytes('/v1/add', JSON.stringify({ ...document, collection: COLLECTION, key: `new/${keysUsed++}` })),
      )
      if (answer.status !== 200) throw new Error(`add: ${answer.status}`)
      added++
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
// Under the supervisor, as in production: it also sets the flags of the server's process.
const start = (): Promise<Server> => startServer({ supervisor: true, directory, env: { SVC_LOADTEST_CONSTANT: String(CONSTANT_BYTES) } })
try {
  if (given === undefined) {
    const first = await start()
    await fill(first, documents)
    await first.stop()
  }
  const second = await start()
  report.add({ what: 'cold, each prefix once', connections: CONNECTIONS, ...(await once(second, distinct.map(pathOf))) })
  for (const cores of ['shared', 'one each']) {
    const isApart = cores === 'one each' && movePinned(second.pid, SERVER_CORE)
    if (cores === 'one each' && !isApart) continue
    for (const round of [1, 2, 3]) {
      for (const [what, asked] of [
        ['control, by a lane', [CONTROL]],
        ['control, by the loop', [CONSTANT]],
        ['typing', requests],
      ] as const) {
        const measured = await load(second.port, CONNECTIONS, SECONDS, asked, script, isApart ? CLIENT_CORE : undefined)
        report.add({ what, cores, round, connections: CONNECTIONS, ...measured })
      }
    }
  }
  movePinned(second.pid, ANY_CORE)
  const keystrokes = typed.map((prefix) => getBytes(pathOf(prefix)))
  const openLoop = (rate: number): ReturnType<typeof runOpenLoad> =>
    runOpenLoad(second.port, CONNECTIONS, rate, SECONDS, (n) => keystrokes[n % keystrokes.length]!)
  const constant = getBytes(CONSTANT_PATH)
  for (const rate of RATES) {
    const control = await runOpenLoad(second.port, CONNECTIONS, rate, SECONDS, () => constant)
    report.add({ what: `control, by the loop, ${rate}/s`, connections: CONNECTIONS, ...control })
    report.add({ what: `typing, ${rate}/s`, connections: CONNECTIONS, ...(await openLoop(rate)) })
  }
  for (const rate of RATES_BESIDE_WRITER) {
    const stopWriter = startWriter(second, documents)
    const measured = await openLoop(rate)
    report.add({ what: `typing beside a writer, ${rate}/s`, connections: CONNECTIONS, ...measured, added: (await stopWriter()) / SECONDS })
  }
  const stop = startWriter(second, documents)
  const beside = await load(second.port, CONNECTIONS, SECONDS, requests, script)
  report.add({ what: 'typing beside a writer', connections: CONNECTIONS, ...beside, added: (await stop()) / SECONDS })
  await second.stop()
  const third = await start()
  await coldByLength(third, distinct)
  await third.stop()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
report.table(['what', 'cores', 'round', 'connections', 'characters', 'prefixes', 'requests', 'perSecond', 'p50Ms', 'p99Ms', 'added'])
