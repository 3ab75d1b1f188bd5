/**
 * What webhooks cost, and how fast they are told: `npm run bench -- webhooks [-- ROUNDS=5] [SECONDS=3]`.
 * - Adds at 64 connections of a server with ten webhooks, beside one without, in turns; with a receiver that
 *   answers, with one that is away, and with 1 000 webhooks on 200 other collections.
 * - Deliveries a second of a backlog, and the time from the answer to an add to its delivery, at 100 adds a
 *   second. The receiver is a process of its own, which answers at once. Last results: bench/README.md.
 */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { fork } from '../../test/harness/process/owned_processes.js'
import { untilAsked } from '../../test/harness/process/until.js'
import { type Server, startServer } from '../../test/harness/server/server.js'
import { postBytes } from '../measure/connection.js'
import { runLoad } from '../measure/load.js'
import { percentile } from '../measure/report.js'
import { median } from '../measure/statistics.js'

const [rounds = 5, seconds = 3] = process.argv.slice(2).map(Number)
const HOOKS = 10
const OTHER_COLLECTIONS = 200
const OTHER_HOOKS_EACH = 5
const BACKLOG = 20_000
const PACED_ADDS = 500
const PACE_MS = 10
/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:9999'

const receiver = fork(fileURLToPath(new URL('./webhook_sink.js', import.meta.url)), [])
const [port] = (await once(receiver, 'message')) as [number]

/** @returns times of posts by id of the document, in milliseconds since the epoch */
async function received(): Promise<ReadonlyMap<string, number>> {
  receiver.send('times')
  const [times] = (await once(receiver, 'message')) as [readonly (readonly [string, number])[]]
  return new Map(times)
}

let added = 0
const next = (): Buffer =>
  postBytes('/v1/add', JSON.stringify({ collection: 'a', key: `k${added++}`, lang: 'en', meta: {}, contentMd: 'A short text.' }))

async function register(server: Server, url: string, collection: string, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const { status, text } = await server.post('/v1/webhooks', { url: `${url}/${at}`, events: ['doc.added'], collection })
    if (status !== 200) throw new Error(text)
  }
}

const start = (): Promise<Server> => startServer({ env: { SVC_OUTBOUND_ALLOW_PRIVATE: 'true', SVC_WEBHOOK_BACKLOG_MAX: '1000000' } })

/** Adds a second of each server, in turns: medians. */
async function addRates(servers: ReadonlyMap<string, Server>): Promise<void> {
  const rates = new Map<string, number[]>()
  for (let round = 0; round <= rounds; round++)
    for (const [name, server] of servers) {
      const { perSecond } = await runLoad(server.port, 64, seconds, next)
      // The first round warms up.
      if (round > 0) rates.set(name, [...(rates.get(name) ?? []), perSecond])
      await setTimeout(500)
    }
  const without = median(rates.get('none') ?? [])
  for (const [name, each] of rates)
    console.log(
      JSON.stringify({ webhooks: name, addsPerSecond: Math.round(median(each)), ratio: Math.round((100 * median(each)) / without) / 100 }),
    )
}

async function waiting(server: Server): Promise<number> {
  const [hook] = (await server.get('/v1/webhooks')).json<{ readonly id: string }[]>()
  return (await server.get(`/v1/webhooks/${hook?.id}/deliveries?limit=1`)).json<{ readonly deliveries: readonly object[] }>().deliveries
    .length
}

async function drain(): Promise<void> {
  const server = await start()
  await register(server, `http://127.0.0.1:${port}`, 'b', 1)
  const documents = Array.from({ length: 1_000 }, (_, at) => ({ key: `d${at}`, lang: 'en', contentMd: 'A short text.' }))
  const begun = performance.now()
  for (let at = 0; at < BACKLOG; at += documents.length)
    await server.post('/v1/add-batch', { collection: 'b', documents: documents.map((each) => ({ ...each, key: `${each.key}-${at}` })) })
  await untilAsked(() => waiting(server), (left) => left === 0, 120_000) // prettier-ignore
  console.log(JSON.stringify({ deliveriesPerSecond: Math.round((BACKLOG * 1000) / (performance.now() - begun)) }))
  await received()
  const answeredAt = new Map<string, number>()
  for (let at = 0; at < PACED_ADDS; at++) {
    await server.post('/v1/add', { collection: 'b', key: `p${at}`, lang: 'en', contentMd: 'A short text.' })
    answeredAt.set(`p${at}`, Date.now())
    await setTimeout(PACE_MS)
  }
  await untilAsked(() => waiting(server), (left) => left === 0) // prettier-ignore
  const times = await received()
  const waits = [...answeredAt].map(([key, at]) => (times.get(key) ?? Infinity) - at).sort((one, other) => one - other)
  console.log(JSON.stringify({ afterTheAnswer: { p50Ms: percentile(waits, 0.5), p99Ms: percentile(waits, 0.99) } }))
  await server.stop()
}

await drain()
const servers = new Map<string, Server>()
for (const name of ['none', 'ten', 'ten, receiver away', '1 000 on other collections']) servers.set(name, await start())
await register(servers.get('ten') as Server, `http://127.0.0.1:${port}`, 'a', HOOKS)
await register(servers.get('ten, receiver away') as Server, NOWHERE, 'a', HOOKS)
for (let at = 0; at < OTHER_COLLECTIONS; at++)
  await register(servers.get('1 000 on other collections') as Server, `http://127.0.0.1:${port}`, `c${at}`, OTHER_HOOKS_EACH)
await addRates(servers)
for (const server of servers.values()) await server.stop()
receiver.kill()
