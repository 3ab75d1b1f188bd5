/**
 * Question: how many documents a second does gRPC give, beside a bare server of the same package that answers
 * as many bytes? 64 calls in flight on one connection, documents of 1 KB, thousands of keys in turn. The
 * servers run on one core, the client on the other; it neither decodes nor encodes. The two are measured in
 * turn, five times, and the medians compared.
 * Run: npm run bench -- grpc-get [-- SECONDS]. Aim: 0.8.
 * Last result: see bench/README.md.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client, credentials } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { PROTO } from '../../test/harness/clients/grpc.js'
import { spawn } from '../../test/harness/process/owned_processes.js'
import { startServer } from '../../test/harness/server/server.js'
import { describePinning, movePinned } from '../measure/pinning.js'
import { Report } from '../measure/report.js'

const IN_FLIGHT = 64
const DOCUMENTS = 5_000
const ROUNDS = 5
const WARM_SECONDS = 2
const seconds = Number(process.argv[2] ?? 3)
const content = 'A document of one kilobyte. '.repeat(36)
const request = new protobuf.Root().loadSync(PROTO, { keepCase: true }).lookupType('mddb.GetRequest')
const requests = Array.from({ length: DOCUMENTS }, (_, n) =>
  Buffer.from(request.encode({ collection: 'bench', key: `d${n}`, lang: 'en' }).finish()),
)
const same = (bytes: Buffer): Buffer => bytes

async function get(client: Client, n: number): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    client.makeUnaryRequest('/mddb.MDDB/Get', same, same, requests[n % DOCUMENTS]!, (error, answer) =>
      error === null ? resolve(answer ?? Buffer.alloc(0)) : reject(error),
    )
  })
}

/** Calls a second. */
async function rate(client: Client, length: number): Promise<number> {
  const end = performance.now() + length * 1000
  let calls = 0
  const begin = performance.now()
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (performance.now() < end) await get(client, calls++)
    }),
  )
  return calls / ((performance.now() - begin) / 1000)
}

async function startPeer(bytes: number): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const program = fileURLToPath(new URL('../peers/grpc_echo.js', import.meta.url))
  const child = spawn(process.execPath, [program, String(bytes)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  movePinned(child.pid ?? 0, '0')
  return { child, address: `127.0.0.1:${line.toString().trim()}` }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const isPinned = movePinned(process.pid, '1')
console.log(isPinned ? 'client on core 1, servers on core 0' : describePinning())
const server = await startServer()
const documents = Array.from({ length: DOCUMENTS }, (_, n) => ({ key: `d${n}`, lang: 'en', contentMd: content }))
await server.post('/v1/add-batch', { collection: 'bench', documents })
const ours = new Client(server.addressOf('grpc'), credentials.createInsecure())
const { length: bytes } = await get(ours, 1)
movePinned(server.pid, '0')
const peer = await startPeer(bytes)
const theirs = new Client(peer.address, credentials.createInsecure())
console.log(`an answer has ${bytes} bytes`)

await rate(ours, WARM_SECONDS)
await rate(theirs, WARM_SECONDS)
const measured: { readonly ours: number; readonly theirs: number }[] = []
for (let round = 0; round < ROUNDS; round++) {
  measured.push({ ours: await rate(ours, seconds), theirs: await rate(theirs, seconds) })
  console.log(JSON.stringify(measured.at(-1)))
}
const report = new Report()
const [get64, echo] = [median(measured.map((each) => each.ours)), median(measured.map((each) => each.theirs))]
report.add({ what: 'Get, 64 in flight', 'calls/s': Math.round(get64), ratio: median(measured.map((each) => each.ours / each.theirs)) })
report.add({ what: 'peer: bare @grpc/grpc-js', 'calls/s': Math.round(echo) })
report.table(['what', 'calls/s', 'ratio'])
ours.close()
theirs.close()
peer.child.kill()
await server.stop()
