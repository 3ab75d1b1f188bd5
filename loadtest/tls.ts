/**
 * What TLS costs: gets a second and their p99, without TLS, with TLS on the event loops
 * (`SVC_TLS_CLIENT_AUTH=request`), and through the gate (`require`); new connections a second; and requests
 * that fail while the pair is replaced. Compared with each other in the same run, in interleaved rounds; the
 * median counts. Gets of one document of 1 KB, keep-alive connections. A failed request ends the run with an
 * error. Run: npm run loadtest -- tls [-- SECONDS] [LOOPS]. Last result (2 cores, shared by server and
 * client): see bench/README.md.
 */
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { postBytes } from '../bench/measure/connection.js'
import { type LoadResult, runLoad } from '../bench/measure/load.js'
import { Report } from '../bench/measure/report.js'
import { CertificateAuthority, textsOf } from '../test/harness/clients/certificates.js'
import { askOnce } from '../test/harness/clients/tls_client.js'
import { type Server, startServer } from '../test/harness/server/server.js'

const SECONDS = Number(process.argv[2] ?? 4)
const LOOPS = process.argv[3] ?? '1'
const ROUNDS = 3
const CONNECTIONS = [1, 64]
/** Clients that open a new connection for each request. */
const NEWCOMERS = 8
/** Longer than the time after which a server reads files that have changed. */
const RENEWAL_MS = 500

const folder = mkdtempSync(join(tmpdir(), 'mds-loadtest-'))
const ca = new CertificateAuthority(folder)
const pairs = [ca.sign('server'), ca.sign('next')]
const cert = join(folder, 'tls.crt')
const key = join(folder, 'tls.key')
use(0)
const tls = { ...ca.trust, ...textsOf(ca.sign('client')) }
const env = { SVC_TLS_ENABLED: 'true', SVC_TLS_CERT: cert, SVC_TLS_KEY: key, SVC_TLS_CLIENT_CA: ca.cert }
const args = ['--http-loops', LOOPS]
const peers: readonly { readonly what: string; readonly server: Server; readonly tls?: typeof tls }[] = [
  { what: 'plain', server: await startServer({ args }) },
  { what: 'TLS on the loops', server: await startServer({ args, tls, env: { ...env, SVC_TLS_CLIENT_AUTH: 'request' } }), tls },
  { what: 'gate', server: await startServer({ args, tls, env: { ...env, SVC_TLS_CLIENT_AUTH: 'require' } }), tls },
]
const report = new Report()

function median(results: readonly LoadResult[]): LoadResult {
  return [...results].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(results.length / 2)]!
}

/** The files of all servers. */
function use(which: number): void {
  const pair = pairs[which % pairs.length]!
  for (const [from, to] of [
    [pair.cert, cert],
    [pair.key, key],
  ] as const) {
    copyFileSync(from, `${to}.new`)
    renameSync(`${to}.new`, to)
  }
}

/** Replaces the pair while both kinds of clients send. @throws if one of their requests fails */
async function renewUnderLoad({ what, server }: (typeof peers)[number], get: Buffer): Promise<void> {
  const renewals = (): number => server.output().split('TLS: new certificate').length - 1
  const before = renewals()
  const connections = CONNECTIONS.at(-1)!
  let isOver = false
  const load = Promise.all([runLoad(server.port, connections, SECONDS, () => get, tls), connectionsPerSecond(server.port)]).finally(() => {
    isOver = true
  })
  const replacing = async (): Promise<void> => {
    for (let at = 1; !isOver; at++) {
      use(at)
      await pause(RENEWAL_MS)
    }
  }
  const [[kept, made]] = await Promise.all([load, replacing()])
  report.add({ what: `${what}: renewal`, connections, ...kept, made, renewals: renewals() - before, failed: 0 })
}

async function connectionsPerSecond(port: number): Promise<number> {
  const end = performance.now() + SECONDS * 1000
  let made = 0
  const work = async (): Promise<void> => {
    for (; performance.now() < end; made++) {
      const { status, reason } = await askOnce(port, tls)
      if (status !== 200) throw new Error(`no answer: ${reason}`)
    }
  }
  await Promise.all(Array.from({ length: NEWCOMERS }, work))
  return made / SECONDS
}

try {
  for (const { server } of peers) await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: 'x'.repeat(1024) })
  const get = postBytes('/v1/get', JSON.stringify({ collection: 'c', key: 'k', lang: 'en' }))
  for (const connections of CONNECTIONS) {
    const results = new Map<string, LoadResult[]>(peers.map(({ what }) => [what, []]))
    for (let round = 0; round <= ROUNDS; round++) {
      for (const peer of peers) {
        const result = await runLoad(peer.server.port, connections, SECONDS, () => get, peer.tls)
        // The first round warms up.
        if (round > 0) results.get(peer.what)!.push(result)
      }
    }
    for (const { what } of peers) report.add({ what, connections, ...median(results.get(what)!) })
  }
  for (const peer of peers)
    if (peer.tls !== undefined)
      report.add({ what: `${peer.what}: new connections`, connections: NEWCOMERS, perSecond: await connectionsPerSecond(peer.server.port) })
  for (const peer of peers) if (peer.tls !== undefined) await renewUnderLoad(peer, get)
  report.table(['what', 'connections', 'perSecond', 'p50Ms', 'p99Ms', 'made', 'renewals', 'failed'])
} finally {
  for (const { server } of peers) await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
