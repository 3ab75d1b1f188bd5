/**
 * What do floods on gRPC, GraphQL and MCP take from clients of HTTP, and from the server? One server with all
 * surfaces; a healthy client gets a document every 10 ms from a process of its own, alone before each flood
 * and beside it. Printed: p50 and p99, the ratio of p99, the peak of the server's memory above idle (VmHWM,
 * reset before each), and whether a healthy client of the same surface is answered afterwards. The floods
 * yield the processor to the server and to the healthy client, because elsewhere they run on machines of
 * their own. Linux only.
 * Run: npm run loadtest:surface-flood [-- SECONDS=5] [PART OF A NAME]. Exits with 1 if the server or a thread
 * ends, memory exceeds GROWTH_MB_MAX, or a healthy client is not answered afterwards. The ratio is only
 * printed: an aim of P99_TIMES_AIM, and whoever measures judges. Last result: see bench/README.md.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Report } from '../bench/report.js'
import { askGraphql } from '../test/harness/graphql.js'
import { GrpcClient } from '../test/harness/grpc.js'
import { McpClient } from '../test/harness/mcp_client.js'
import { startServer } from '../test/harness/server.js'
import { closeAll, pause, untilEnd, type Flood } from './floods/flood.js'
import { graphqlFloods } from './floods/graphql.js'
import { grpcFloods } from './floods/grpc.js'
import { mcpFloods } from './floods/mcp.js'
import type { Waits } from './healthy_client.js'

const seconds = Number(process.argv[2] ?? 5)
const wanted = process.argv[3] ?? ''
const P99_TIMES_AIM = 2
/**
 * Above idle: what one surface may hold of requests (256 MiB) and of answers (256 MiB), once more as values,
 * and the heap of its thread.
 */
const GROWTH_MB_MAX = 1_000
/** A surface that has just been flooded answers within this time. */
const RECOVERY_MS_MAX = 10_000
const ALONE_SECONDS = 2
/** Of the flood's own process. */
const PRIORITY_LOW = 15
const DOCUMENTS = 10
const DOCUMENT_BYTES = 100_000

const server = await startServer({ env: { SVC_MAX_CONN_IP: '10000' } })
const client: ChildProcess = fork(fileURLToPath(new URL('./healthy_client.js', import.meta.url)), [String(server.port)])
setPriority(PRIORITY_LOW)
await server.post('/v1/add', { collection: 'healthy', key: 'k', lang: 'en', contentMd: '# Healthy' })
for (let at = 0; at < DOCUMENTS; at++)
  await server.post('/v1/add', { collection: 'large', key: `k${at}`, lang: 'en', contentMd: 'word '.repeat(DOCUMENT_BYTES / 5) })

const mcp = new McpClient(server)
const healthy = { collection: 'healthy', key: 'k', lang: 'en' }
const HEALTHY: Readonly<Record<Flood['surface'], () => Promise<boolean>>> = {
  grpc: async () => {
    const grpc = GrpcClient.of(server)
    try {
      const [get, search] = await Promise.all([
        grpc.call('Get', healthy, { deadlineMs: RECOVERY_MS_MAX }),
        grpc.call<{ readonly documents: readonly object[] }>('Search', { collection: 'large' }, { deadlineMs: RECOVERY_MS_MAX }),
      ])
      return get['key'] === 'k' && search.documents.length === DOCUMENTS
    } finally {
      grpc.close()
    }
  },
  graphql: async () => {
    const { data } = await askGraphql(server, '{ search(input: { collection: "large" }) { edges { node { key } } } }')
    return (data as { readonly search: { readonly edges: readonly object[] } } | null)?.search.edges.length === DOCUMENTS
  },
  mcp: async () => {
    const called = await mcp.send('POST', '/tools/call', { name: 'search_documents', arguments: { collection: 'large' } })
    return called.status === 200 && (await mcp.stateless('tools/list')).status === 200
  },
}

const memoryMb = (name: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024

async function waits(): Promise<Waits> {
  client.send('waits')
  const [report] = (await once(client, 'message')) as [Waits]
  return report
}

/** @returns milliseconds until a healthy client is answered; null: it is not */
async function recovery(surface: Flood['surface']): Promise<number | null> {
  const begin = performance.now()
  while (performance.now() - begin < RECOVERY_MS_MAX) {
    if (await HEALTHY[surface]().catch(() => false)) return Math.round(performance.now() - begin)
    await pause(100)
  }
  return null
}

const report = new Report()
const problems: string[] = []

async function measure({ surface, what, send }: Flood): Promise<void> {
  await waits()
  await untilEnd(performance.now() + ALONE_SECONDS * 1000)
  const alone = await waits()
  writeFileSync(`/proc/${server.pid}/clear_refs`, '5')
  await send(performance.now() + seconds * 1000)
  const beside = await waits()
  const grownMb = Math.round(memoryMb('VmHWM') - idleMb)
  closeAll()
  const afterMs = await recovery(surface)
  const times = beside.p99Ms / alone.p99Ms
  const isBounded = grownMb <= GROWTH_MB_MAX
  const failed = beside.refused + beside.failed
  report.add({
    flood: `${surface}: ${what}`,
    'p50 alone': alone.p50Ms,
    p50: beside.p50Ms,
    'p99 alone': alone.p99Ms,
    p99: beside.p99Ms,
    times,
    aim: times <= P99_TIMES_AIM ? 'pass' : 'miss',
    longest: beside.longestMs,
    failed,
    'peak MB': grownMb,
    memory: isBounded ? 'pass' : 'miss',
    'answered after ms': afterMs,
  })
  if (!isBounded) problems.push(`${surface}: ${what}: ${grownMb} MB more`)
  if (afterMs === null) problems.push(`${surface}: ${what}: no answer afterwards`)
  await pause(1_000)
}

for (const ask of Object.values(HEALTHY)) if (!(await ask())) throw new Error('a healthy client is not answered before the first flood')
await pause(1_000)
const idleMb = memoryMb('VmRSS')
const floods = [...grpcFloods(Number(server.addressOf('grpc').split(':').at(-1))), ...graphqlFloods(server.port), ...mcpFloods(mcp)]
for (const flood of floods.filter(({ surface, what }) => `${surface}: ${what}`.includes(wanted))) await measure(flood)
report.table([
  'flood',
  'p50 alone',
  'p50',
  'p99 alone',
  'p99',
  'times',
  'aim',
  'longest',
  'failed',
  'peak MB',
  'memory',
  'answered after ms',
])
client.disconnect()
if (/lane died|the thread of surface \S+ has ended|heap out of memory/u.test(server.output())) problems.push('a thread has ended')
if ((await server.stop()) !== 0) problems.push('the server did not end well')
for (const problem of problems) console.log(`FAILED: ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)
