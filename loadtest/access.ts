/**
 * What access control costs, and what an attacker of logins gets.
 * 1. Gets on 64 connections: of an open server, and of a closed one by a token, by an API key, and by 1 000
 *    tokens in turn; and of one that keeps an audit log of each check. The servers run side by side, rounds
 *    are interleaved, medians.
 * 2. Gets beside 1 000 logins a second from an open-loop client: their p99 against that alone.
 * 3. The time of a failed login of a known and of an unknown user, in turn: the area under the ROC curve, and
 *    the medians. One hash at a time, so nothing waits.
 * Corpus: md50k, uniform keys (seeded).
 * Run: npm run loadtest -- access [-- DOCUMENTS=20000] [SECONDS=3] [TRIES=1000].
 * Aims: 1. at least 0.95 of open, 0.9 with an audit log that loses nothing; 2. at most 2 x; 3. between .47
 * and .53, medians within 2 %.
 * Last result: bench/README.md.
 */
import { type CorpusDocument, readDocuments, sharedPath } from '../bench/data/corpora.js'
import { postBytes } from '../bench/measure/connection.js'
import { type LoadResult, runLoad } from '../bench/measure/load.js'
import { randomSource } from '../bench/measure/random_source.js'
import { Report } from '../bench/measure/report.js'
import { ACCESS_ENV, Admin, asUser, bearer, keyOf, tokenOf } from '../test/harness/server/access.js'
import { type Server, startServer } from '../test/harness/server/server.js'

const DOCUMENTS = Number(process.argv[2] ?? 20_000)
const SECONDS = Number(process.argv[3] ?? 3)
const TRIES = Number(process.argv[4] ?? 1_000)
const ROUNDS = 5
const BATCH_DOCUMENTS = 500
const CONNECTIONS = 64
const TOKENS = 1_000
const LOGINS_PER_SECOND = 1_000
const SEED = 20_265
/** As a machine of two cores has it. */
const ONE_LOOP = { SVC_HTTP_LOOPS: '1' }

type Headers = Readonly<Record<string, string>>

const report = new Report()
const random = randomSource(SEED)
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!

async function fill(server: Server, documents: readonly CorpusDocument[], headers: Headers): Promise<void> {
  for (let at = 0; at < documents.length; at += BATCH_DOCUMENTS) {
    const batch = { collection: 'md', documents: documents.slice(at, at + BATCH_DOCUMENTS) }
    const answer = await server.post('/v1/add-batch', batch, headers)
    if (answer.status !== 200) throw new Error(`add-batch: ${answer.status} ${answer.text.slice(0, 300)}`)
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** The share of pairs in which the first is larger; one half: they can't be told apart. */
function areaUnderCurve(first: readonly number[], second: readonly number[]): number {
  let sum = 0
  for (const a of first) for (const b of second) sum += a > b ? 1 : a === b ? 0.5 : 0
  return sum / (first.length * second.length)
}

const documents = await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)
const open = await startServer({ env: ONE_LOOP })
const closed = await startServer({ env: { ...ACCESS_ENV, ...ONE_LOOP } })
const audited = await startServer({ env: { ...ACCESS_ENV, ...ONE_LOOP, SVC_AUDIT_ENABLED: 'true' } })
try {
  const admin = new Admin(closed)
  await fill(open, documents, {})
  await fill(closed, documents, admin.headers)
  await fill(audited, documents, admin.headers)
  for (const server of [closed, audited]) {
    await new Admin(server).register('reader')
    await new Admin(server).grant('reader', '*', { read: true })
  }
  const key = await keyOf(closed, 'reader')
  const bodies = documents.map(({ key: name, lang }) => JSON.stringify({ collection: 'md', key: name, lang }))
  const getsWith = (headers: Headers): readonly Buffer[] => bodies.map((body) => postBytes('/v1/get', body, headers))
  const [plain, byToken, byKey] = [getsWith({}), getsWith(asUser('reader')), getsWith({ 'x-api-key': key })]
  // They differ in their expiry: each is kept for itself.
  const tokens = Array.from({ length: TOKENS }, (_, at) => bearer(tokenOf('reader', 1, 3_600_000 + at * 1_000)))
  const byMany = bodies.map((body, at) => postBytes('/v1/get', body, tokens[at % tokens.length]))
  const peers = [
    { what: 'open', port: open.port, gets: plain },
    { what: 'token', port: closed.port, gets: byToken },
    { what: 'API key', port: closed.port, gets: byKey },
    { what: 'many tokens', port: closed.port, gets: byMany },
    { what: 'token, audit log', port: audited.port, gets: byToken },
  ]
  const rates = new Map<string, LoadResult[]>(peers.map(({ what }) => [what, []]))
  for (let round = 0; round <= ROUNDS; round++)
    for (const { what, port, gets } of peers) {
      const result = await runLoad(port, CONNECTIONS, SECONDS, () => pick(gets))
      // The first round warms up.
      if (round > 0) rates.get(what)!.push(result)
    }
  const rateOf = (what: string): number => median(rates.get(what)!.map(({ perSecond }) => perSecond))
  for (const { what } of peers) report.add({ what: `get, ${what}`, perSecond: rateOf(what), ratio: rateOf(what) / rateOf('open') })
  const { dropped } = (await audited.get('/v1/audit?limit=1', admin.headers)).json<{ dropped: number }>()
  console.log(JSON.stringify({ auditEventsDropped: dropped }))

  const gets = (): Promise<LoadResult> => runLoad(closed.port, 8, SECONDS * 2, () => pick(byToken))
  const alone = await gets()
  report.add({ what: 'gets on 8 connections, alone', ...alone })
  let isDone = false
  let sent = 0
  const statuses = new Map<number, number>()
  const attack = (async () => {
    const begun = performance.now()
    const open: Promise<void>[] = []
    while (!isDone) {
      for (; sent < ((performance.now() - begun) * LOGINS_PER_SECOND) / 1000; sent++)
        open.push(
          closed.post('/v1/auth/login', { username: `user${sent}`, password: 'x' }).then(({ status }) => {
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
          }),
        )
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await Promise.all(open)
  })()
  const beside = await gets()
  isDone = true
  await attack
  report.add({ what: 'gets beside logins', ...beside })
  report.add({ what: 'p99 beside logins / alone', ratio: beside.p99Ms / alone.p99Ms, count: sent })
  console.log(JSON.stringify({ loginsSent: sent, answers: Object.fromEntries(statuses) }))

  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  for (let at = 0; at < TRIES * 2; at++) {
    const who = at % 2 === 0 ? 'known' : 'unknown'
    const begun = performance.now()
    const username = who === 'known' ? 'reader' : 'nobody'
    const { status } = await closed.post('/v1/auth/login', { username, password: 'wrong password' })
    if (status !== 401) throw new Error(`login: ${status}`)
    times[who].push(performance.now() - begun)
  }
  const [known, unknown] = [median(times.known), median(times.unknown)]
  report.add({ what: 'failed login, known / unknown user: medians', ratio: known / unknown, p50Ms: known, count: TRIES })
  report.add({ what: 'failed login, known against unknown: AUC', ratio: areaUnderCurve(times.known, times.unknown) })
  report.table(['what', 'perSecond', 'p50Ms', 'p99Ms', 'ratio', 'count'])
} finally {
  await open.stop()
  await closed.stop()
  await audited.stop()
}
