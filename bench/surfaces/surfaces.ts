/**
 * Question: what do gRPC, GraphQL and MCP cost a server that nobody asks by them, and after one request to
 * each? Anonymous memory and gets a second over HTTP, of a server without them, of one with them, and of the
 * same one afterwards. The two servers are measured in turn, three times; medians. Memory afterwards is
 * measured twice: when the process is idle, and when its collector of garbage has noticed that.
 * Run: npm run bench -- surfaces [-- SECONDS]. Aims: 5 MB idle, 80 MB afterwards, the same rate.
 * Last result: see bench/README.md.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { GrpcClient } from '../../test/harness/clients/grpc.js'
import { type Server, startServer } from '../../test/harness/server/server.js'
import { postBytes } from '../measure/connection.js'
import { runLoad } from '../measure/load.js'
import { anonymousBytes, untilIdle } from '../measure/process_memory.js'
import { Report } from '../measure/report.js'

const OFF = { SVC_GRPC_ENABLED: 'false', SVC_MCP_ENABLED: 'false', SVC_GRAPHQL_ENABLED: 'false' }
const ROUNDS = 3
const CONNECTIONS = 64
const MB = 1e6
/** V8 collects garbage some ten seconds after a thread has become idle. */
const COLLECTION_MS = 15_000
const seconds = Number(process.argv[2] ?? 3)
const document = { collection: 'c', key: 'k', lang: 'en' }
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

async function started(env: Readonly<Record<string, string>>): Promise<Server> {
  const server = await startServer({ env })
  await server.post('/v1/add', { ...document, contentMd: 'x' })
  await untilIdle(server.pid)
  return server
}

async function rate({ port }: Server): Promise<number> {
  return (await runLoad(port, CONNECTIONS, seconds, () => postBytes('/v1/get', JSON.stringify(document)))).perSecond
}

async function askEach(server: Server): Promise<void> {
  const client = GrpcClient.of(server)
  await client.call('Get', document)
  client.close()
  await server.post('/graphql', { query: '{ stats { totalDocuments } }' })
  const mcp = `http://127.0.0.1:${server.addressOf('mcp').split(':').at(-1) ?? ''}/tools/call`
  const body = JSON.stringify({ name: 'get_document', arguments: document })
  const answer = await fetch(mcp, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  if (answer.status !== 200) throw new Error(await answer.text())
  await untilIdle(server.pid)
}

const memory = { without: [] as number[], idle: [] as number[], asked: [] as number[], collected: [] as number[] }
const rates = { idle: [] as number[], asked: [] as number[] }
for (let round = 0; round < ROUNDS; round++) {
  const without = await started(OFF)
  const all = await started({})
  memory.without.push(anonymousBytes(without.pid))
  memory.idle.push(anonymousBytes(all.pid))
  const base = await rate(without)
  rates.idle.push((await rate(all)) / base)
  await untilIdle(all.pid)
  const before = anonymousBytes(all.pid)
  await askEach(all)
  memory.asked.push(anonymousBytes(all.pid) - before)
  await pause(COLLECTION_MS)
  memory.collected.push(anonymousBytes(all.pid) - before)
  const later = await rate(without)
  rates.asked.push((await rate(all)) / later)
  await without.stop()
  await all.stop()
}
const report = new Report()
report.add({ what: 'without them: anonymous memory, MB', value: median(memory.without) / MB })
report.add({ what: 'idle: more, MB', value: median(memory.idle.map((bytes, at) => bytes - memory.without[at]!)) / MB })
report.add({ what: 'after one request to each: more, MB', value: median(memory.asked) / MB })
report.add({ what: 'the same, garbage collected: more, MB', value: median(memory.collected) / MB })
report.add({ what: 'gets a second, idle, to those without them', value: median(rates.idle) })
report.add({ what: 'gets a second, afterwards, to those without them', value: median(rates.asked) })
report.table(['what', 'value'])
