/**
 * The rate limit over HTTP, with two event loops: one limit for both, headers, refusals, exempt paths,
 * clients behind proxies, events.
 */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, asUser, bearer, tokenOf } from '../../harness/server/access.js'
import { auditOf } from '../../harness/server/audit_log.js'
import { clientsOfLoops, LOOP_LOG, type LoopAnswer, type LoopClient } from '../../harness/server/loop_clients.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { sharedServer } from '../../harness/server/shared_server.js'

const LOOPS = 2
const LIMIT = { SVC_RATE_LIMIT_ENABLED: 'true', SVC_HTTP_LOOPS: String(LOOPS) } as const
/** A test must not meet the end of a window. */
const DAY = '24h'
const WEB = { SVC_TRUSTED_PROXIES: '127.0.0.1' } as const

interface Loops {
  readonly server: Server
  readonly clients: readonly LoopClient[]
}

/** Of the present test, which may fail. */
const running: { stop(): unknown }[] = []
afterEach(async () => {
  for (const part of running.splice(0)) await part.stop()
})

async function start(env: Readonly<Record<string, string>>): Promise<Server> {
  const server = await startServer({ env })
  running.push(server)
  return server
}

async function startLoops(env: Readonly<Record<string, string>>): Promise<Loops> {
  const server = await start({ ...LOOP_LOG, ...LIMIT, ...WEB, ...env })
  const clients = await clientsOfLoops(server, LOOPS)
  running.unshift(...clients.map((client) => ({ stop: () => client.close() })))
  return { server, clients }
}

/** Requests of one client behind the proxy, in turn on each loop. */
async function askAll({ clients }: Loops, count: number, address: string): Promise<readonly LoopAnswer[]> {
  const answers: LoopAnswer[] = []
  for (let at = 0; at < count; at++)
    answers.push(
      await clients[at % LOOPS]!.ask('POST', '/v1/get', { collection: 'c', key: 'k', lang: 'en' }, { 'x-forwarded-for': address }),
    )
  return answers
}

const statusesOf = (answers: readonly LoopAnswer[]): readonly number[] => answers.map(({ status }) => status)
const numberOf = ({ headers }: LoopAnswer, name: string): number => Number(headers[name] ?? Number.NaN)

describe('rate limit', () => {
  it('rate limit: without it no answer has its headers, and nothing is refused', async () => {
    const server = await sharedServer()
    running.push(server)
    for (let at = 0; at < 200; at++) {
      const { status, headers } = await server.post('/v1/get', { collection: 'c', key: 'k', lang: 'en' })
      assert.equal(status, 404)
      assert.deepEqual(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit')), []) // prettier-ignore
    }
  })

  it('rate limit: requests plus burst of one address in a window, over all loops together; then 429 with Retry-After', async () => {
    const loops = await startLoops({ SVC_RATE_LIMIT_REQUESTS: '20', SVC_RATE_LIMIT_BURST: '11', SVC_RATE_LIMIT_WINDOW: DAY })
    const answers = await askAll(loops, 35, '203.0.113.7')
    assert.deepEqual(statusesOf(answers), [...Array<number>(31).fill(404), 429, 429, 429, 429])
    assert.deepEqual([...new Set(answers.map((answer) => numberOf(answer, 'x-ratelimit-limit')))], [31])
    assert.deepEqual(
      answers.map((answer) => numberOf(answer, 'x-ratelimit-remaining')),
      [...Array.from({ length: 31 }, (_, at) => 30 - at), 0, 0, 0, 0],
    )
    const refused = answers[31]!
    const retryAfter = numberOf(refused, 'retry-after')
    assert.deepEqual(JSON.parse(refused.text), { error: 'rate limit exceeded', retryAfter })
    assert.equal(refused.headers['content-type'], 'application/json; charset=utf-8')
    assert.ok(retryAfter >= 1 && retryAfter <= 86_400)
    assert.ok(Math.abs(numberOf(refused, 'x-ratelimit-reset') - (Date.now() / 1000 + retryAfter)) <= 3)
    // Another client is not concerned.
    assert.deepEqual(statusesOf(await askAll(loops, 1, '203.0.113.8')), [404])
    const metrics = (await loops.server.get('/metrics')).text
    assert.match(metrics, /^mddb_requests_rate_limited_total 4$/m)
  })

  it('rate limit: the next window begins anew', async () => {
    const loops = await startLoops({ SVC_RATE_LIMIT_REQUESTS: '1', SVC_RATE_LIMIT_BURST: '0', SVC_RATE_LIMIT_WINDOW: '1' })
    const ask = async (): Promise<LoopAnswer> => (await askAll(loops, 1, '203.0.113.7'))[0]!
    const refused = await untilAsked(ask, ({ status }) => status === 429)
    assert.equal(numberOf(refused, 'retry-after'), 1)
    await untilAsked(ask, ({ status }) => status === 404)
  })

  it('rate limit: health, probes and metrics are exempt and not counted; everything else counts, pages and refusals included', async () => {
    const loops = await startLoops({ SVC_RATE_LIMIT_REQUESTS: '8', SVC_RATE_LIMIT_BURST: '0', SVC_RATE_LIMIT_WINDOW: DAY })
    const [client] = loops.clients
    const from = { 'x-forwarded-for': '203.0.113.9' }
    const exempt = async (): Promise<void> => {
      for (const path of ['/health', '/v1/health', '/livez', '/readyz', '/metrics', '/health?mode=read']) {
        const { status, headers } = await client!.ask('GET', path, undefined, from)
        assert.deepEqual([status, headers['x-ratelimit-limit']], [200, undefined], path)
      }
    }
    for (let round = 0; round < 10; round++) await exempt()
    const counted = [
      ['GET', '/'], ['GET', '/docs'], ['GET', '/nothing'], ['GET', '/v1/add'], ['OPTIONS', '/v1/add'],
      ['GET', '/v1/compliance-status'], ['POST', '/v1/add'], ['HEAD', '/docs'],
    ] as const // prettier-ignore
    for (const [at, [method, path]] of counted.entries()) {
      const answer = await client!.ask(method, path, undefined, from)
      assert.equal(numberOf(answer, 'x-ratelimit-remaining'), counted.length - 1 - at, path)
    }
    assert.equal((await client!.ask('GET', '/docs', undefined, from)).status, 429)
    await exempt()
  })

  it('rate limit: a refusal comes before the body, which is not waited for', async () => {
    const loops = await startLoops({ SVC_RATE_LIMIT_REQUESTS: '1', SVC_RATE_LIMIT_BURST: '0', SVC_RATE_LIMIT_WINDOW: DAY })
    await askAll(loops, 1, '203.0.113.10')
    const socket = await RawSocket.open(loops.server.port)
    socket.write('POST /v1/add HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.10\r\nContent-Length: 1000000\r\n\r\n{')
    assert.match(await socket.until((text) => text.includes('retryAfter')), /^HTTP\/1\.1 429 Too Many Requests\r\n/)
    socket.destroy()
  })

  it('rate limit: X-Forwarded-For counts behind trusted proxies only, and an IPv6 network of 64 bits is one client', async () => {
    const env = { SVC_RATE_LIMIT_REQUESTS: '2', SVC_RATE_LIMIT_BURST: '0', SVC_RATE_LIMIT_WINDOW: DAY }
    const loops = await startLoops(env)
    const networks = ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:1::3', '2001:db8:0:2::1']
    const statuses: number[] = []
    for (const address of networks) statuses.push(...statusesOf(await askAll(loops, 1, address)))
    assert.deepEqual(statuses, [404, 404, 429, 404])
    const open = await start({ ...LIMIT, ...env })
    const forged = async (at: number): Promise<number> => (await open.get('/v1/endpoints', { 'x-forwarded-for': `203.0.113.${at}` })).status
    assert.deepEqual([await forged(1), await forged(2), await forged(3)], [200, 200, 429])
  })

  it('rate limit: by user, a user is one client from every address and with every credential; others are their address', async () => {
    const env = { SVC_RATE_LIMIT_REQUESTS: '40', SVC_RATE_LIMIT_BURST: '0', SVC_RATE_LIMIT_WINDOW: DAY, SVC_RATE_LIMIT_BY: 'user' }
    const loops = await startLoops({ ...ACCESS_ENV, ...env })
    const ask = async (loop: number, headers: Readonly<Record<string, string>>, address: string): Promise<LoopAnswer> =>
      await loops.clients[loop % LOOPS]!.ask('GET', '/v1/auth/me', undefined, { ...headers, 'x-forwarded-for': address })
    const [first, second] = [asUser('admin'), bearer(tokenOf('admin', 1, 7_200_000))]
    // Each loop looks up each credential once, and counts that request for its address.
    for (const headers of [first, second]) for (let loop = 0; loop < LOOPS; loop++) await ask(loop, headers, '203.0.113.1')
    const statuses: number[] = []
    for (let at = 0; at < 42; at++) statuses.push((await ask(at, at % 4 < 2 ? first : second, `203.0.113.${at + 10}`)).status)
    assert.deepEqual(statuses, [...Array<number>(40).fill(200), 429, 429])
    // Wrong credentials do not count for the user that they name, but for their address.
    const wrong: number[] = []
    for (let at = 0; at < 41; at++) wrong.push((await ask(at, bearer(`${tokenOf('admin')}x`), '203.0.113.2')).status)
    assert.deepEqual(wrong, [...Array<number>(40).fill(401), 429])
  })

  it('rate limit: a client that exceeds it is one audit event in a window, whichever loop refuses it', async () => {
    const loops = await startLoops({
      SVC_AUDIT_ENABLED: 'true',
      SVC_RATE_LIMIT_REQUESTS: '3',
      SVC_RATE_LIMIT_BURST: '0',
      SVC_RATE_LIMIT_WINDOW: DAY,
    })
    // Three requests on alternating loops: the first refusal is on the second loop; four: on the first.
    await askAll(loops, 9, '203.0.113.1')
    await askAll(loops, 1, '203.0.113.2')
    await askAll({ ...loops, clients: [...loops.clients].reverse() }, 9, '2001:db8::7')
    // Asked by an address that has not exceeded it. This machine has found a connection to each loop.
    const asker = { 'x-forwarded-for': '203.0.113.3' }
    const { events } = await auditOf(loops.server, 'action=security.rate_limit_exceeded&limit=1000', asker)
    const shown = events
      .filter(({ ip }) => ip !== '127.0.0.1')
      .map(({ ip, result, detail = '' }) => [ip, result, JSON.parse(detail) as unknown])
    shown.sort(([a], [b]) => (String(a) < String(b) ? 1 : -1))
    assert.deepEqual(shown, [
      ['203.0.113.1', 'fail', { clientId: '203.0.113.1', transport: 'http' }],
      ['2001:db8::7', 'fail', { clientId: '2001:db8:0:0::/64', transport: 'http' }],
    ])
  })
})
