/** Who may call gRPC: credentials, modes, rate limit, health, reflection, TLS, unix sockets. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { type Client, credentials, loadPackageDefinition, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { CertificateAuthority, LACKS_OPENSSL } from '../../harness/clients/certificates.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, asUser, keyOf, tokenOf } from '../../harness/server/access.js'
import { auditOf } from '../../harness/server/audit_log.js'
import { runToEnd, type Server, startServer } from '../../harness/server/server.js'
import { type Env, ServerPool } from '../../harness/server/server_pool.js'
import { sharedServer } from '../../harness/server/shared_server.js'

const require = createRequire(import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'mds-grpc-'))
after(() => rmSync(folder, { recursive: true }))

const pool = new ServerPool()
after(() => pool.stop())

/** Tests with access control have one server. */
async function started(test: TestContext, env: Env): Promise<{ readonly server: Server; readonly client: GrpcClient }> {
  const server = env === CLOSED ? await pool.of(env) : await startServer({ env })
  const client = GrpcClient.of(server)
  test.after(async () => {
    client.close()
    if (env !== CLOSED) await server.stop()
  })
  return { server, client }
}

const CLOSED = { ...ACCESS_ENV, SVC_AUDIT_ENABLED: 'true' }

const ID = { collection: 'c', key: 'k', lang: 'en' }
const DENIED = [status.PERMISSION_DENIED, 'forbidden'] as const

/** A client of a service that is not ours, from the proto of its package. */
function clientOf(proto: string, names: readonly string[], address: string): Client {
  let found: unknown = loadPackageDefinition(loadSync(proto, { keepCase: true, enums: String, defaults: true }))
  for (const name of names) found = (found as Readonly<Record<string, unknown>>)[name]
  return new (found as new (...args: unknown[]) => Client)(address, credentials.createInsecure())
}

type Check = (request: object, done: (error: ServiceError | null, answer: { readonly status: string }) => void) => void

function healthOf(address: string): { readonly check: () => Promise<string>; readonly close: () => void } {
  const proto = join(dirname(require.resolve('grpc-health-check/package.json')), 'proto/health/v1/health.proto')
  const client = clientOf(proto, ['grpc', 'health', 'v1', 'Health'], address)
  const check = (client as unknown as { readonly check: Check }).check.bind(client)
  return {
    check: async () =>
      await new Promise((resolve, reject) =>
        check({ service: 'mddb.MDDB' }, (error, answer) => (error === null ? resolve(answer.status) : reject(error))),
      ),
    close: () => client.close(),
  }
}

interface ReflectionStream {
  write(message: object): void
  end(): void
  on(
    event: 'data',
    take: (answer: { readonly list_services_response?: { readonly service: readonly { readonly name: string }[] } }) => void,
  ): void
  on(event: 'error', take: (error: ServiceError) => void): void
}

/** The names that reflection lists, or the code of its refusal. */
async function reflected(address: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly string[] | number> {
  const proto = join(dirname(require.resolve('@grpc/reflection/package.json')), 'build/proto/grpc/reflection/v1/reflection.proto')
  const client = clientOf(proto, ['grpc', 'reflection', 'v1', 'ServerReflection'], address)
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  const open = (client as unknown as { ServerReflectionInfo(metadata: Metadata): ReflectionStream }).ServerReflectionInfo.bind(client)
  const answer = await new Promise<readonly string[] | number>((resolve) => {
    const stream = open(metadata)
    stream.on('data', ({ list_services_response: list }) => resolve(list?.service.map(({ name }) => name) ?? []))
    stream.on('error', ({ code }) => resolve(code))
    stream.write({ list_services: '*' })
    // Else the call stays open as long as the server runs, and the process of this file with it.
    stream.end()
  })
  client.close()
  return answer
}

describe('grpc: access', () => {
  it('grpc: credentials are a token, with or without its scheme, or an API key; the token goes first', async (test) => {
    const { server, client } = await started(test, CLOSED)
    const admin = new Admin(server)
    await admin.register('writer')
    await admin.grant('writer', 'c', { read: true, write: true })
    const token = tokenOf('writer')
    const key = await keyOf(server, 'writer')
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { authorization: `bearer ${token}` },
      { authorization: token },
      { 'x-api-key': key },
      { authorization: `Bearer ${key}` },
      { authorization: token, 'x-api-key': 'wrong' },
    ])
      assert.equal((await client.call('Add', { ...ID, content_md: 'x' }, { headers: headers })).key, 'k', Object.keys(headers).join())
    const refused = async (headers: Readonly<Record<string, string>>): Promise<unknown> => await client.refusal('Get', ID, { headers })
    assert.deepEqual(await refused({}), [status.UNAUTHENTICATED, 'missing authentication'])
    assert.deepEqual(await refused({ authorization: 'Bearer wrong' }), [status.UNAUTHENTICATED, 'invalid token'])
    assert.deepEqual(await refused({ 'x-api-key': `svc_live_${'0'.repeat(48)}` }), [status.UNAUTHENTICATED, 'invalid api key'])
    assert.deepEqual(await client.refusal('Get', { ...ID, collection: 'other' }, { headers: asUser('writer') }), DENIED)
    assert.deepEqual(await client.refusal('GeoStats', {}), [status.UNAUTHENTICATED, 'missing authentication'])
    assert.equal((await client.refusal('GeoStats', {}, { headers: asUser('writer') }))[0], status.UNIMPLEMENTED)
    assert.equal((await client.refusal('Stats', {}, { headers: asUser('writer') }))[0], status.PERMISSION_DENIED)
    const { events } = await auditOf(server, 'limit=100', admin.headers)
    const checks = events.filter(({ resource }) => resource === '/mddb.MDDB/Add')
    assert.ok(checks.some(({ action, actor, ip }) => action === 'auth.apikey' && actor === 'writer' && ip === '127.0.0.1'))
    assert.ok(events.some(({ action, resource }) => action === 'auth.missing' && resource === '/mddb.MDDB/Get'))
    assert.ok(
      events.some(({ action, actor, userAgent }) => action === 'write./v1/add' && actor === 'writer' && /grpc-node-js/.test(userAgent)),
    )
  })

  it('grpc: a change of rights holds from the next call on', async (test) => {
    const { server, client } = await started(test, CLOSED)
    const admin = new Admin(server)
    await admin.register('user')
    await client.call('Add', { ...ID, content_md: 'x' }, { headers: admin.headers })
    for (let round = 0; round < 10; round++) {
      await admin.grant('user', 'c', { read: true })
      assert.equal((await client.call('Get', ID, { headers: asUser('user') })).key, 'k')
      await admin.grant('user', 'c', {})
      assert.deepEqual(await client.refusal('Get', ID, { headers: asUser('user') }), DENIED)
    }
  })

  it('grpc: its own mode refuses writes or reads, whatever that of HTTP', async (test) => {
    const { server, client } = await started(test, { SVC_GRPC_MODE: 'read' })
    assert.equal((await server.post('/v1/add', { ...ID, contentMd: 'x' })).status, 200)
    assert.equal((await client.call('Get', ID)).key, 'k')
    assert.deepEqual(await client.refusal('Add', { ...ID, content_md: 'y' }), [status.PERMISSION_DENIED, 'read-only mode'])
    assert.deepEqual(await client.refusal('UpdateBatch', { collection: 'c', documents: [] }), [status.PERMISSION_DENIED, 'read-only mode'])
    const { protocols } = (await server.get('/v1/config')).json<{
      protocols: Record<string, { enabled: boolean; addr: string; mode?: string }>
    }>()
    assert.deepEqual(protocols.grpc, { enabled: true, addr: server.addressOf('grpc'), mode: 'read' })
  })

  it('grpc: SVC_GRPC_ENABLED=false goes without it, and SVC_HTTP_ENABLED=false with it alone', async (test) => {
    const server = await sharedServer()
    test.after(() => server.stop())
    const { grpc } = (await server.get('/v1/endpoints')).json<{ grpc: { name: string }[] }>()
    assert.ok(grpc.some(({ name }) => name === 'UpdateBatch'))
    assert.ok(!grpc.some(({ name }) => name === 'GeoSearch'))
    const without = await startServer({ env: { SVC_GRPC_ENABLED: 'false' } })
    test.after(async () => await without.stop())
    assert.throws(() => without.addressOf('grpc'), /no address/)
    assert.deepEqual((await without.get('/v1/endpoints')).json<{ grpc: unknown[] }>().grpc, [])
    const alone = await startServer({ env: { SVC_HTTP_ENABLED: 'false', SVC_MCP_ENABLED: 'false' } })
    const client = GrpcClient.of(alone)
    test.after(async () => {
      client.close()
      assert.equal(await alone.stop(), 0)
    })
    assert.equal((await client.call('Add', { ...ID, content_md: 'x' })).key, 'k')
    assert.match(alone.output(), /^ready on \S+ after \d+ ms: grpc on \S+$/m)
  })

  it('grpc: the rate limit is that of all surfaces together', async (test) => {
    const env = { SVC_RATE_LIMIT_ENABLED: 'true', SVC_RATE_LIMIT_REQUESTS: '5', SVC_RATE_LIMIT_BURST: '5', SVC_RATE_LIMIT_WINDOW: '1h' }
    const { server, client } = await started(test, env)
    for (let at = 0; at < 4; at++) await server.get('/v1/config')
    for (let at = 0; at < 6; at++) assert.equal((await client.refusal('Get', ID))[0], status.NOT_FOUND)
    assert.deepEqual(await client.refusal('Get', ID), [status.RESOURCE_EXHAUSTED, 'rate limit exceeded'])
    assert.equal((await server.get('/v1/config')).status, 429)
  })

  it('grpc: a client that exceeds the rate limit is one audit event, which says whether by a call or by a stream', async (test) => {
    const limit = { SVC_RATE_LIMIT_ENABLED: 'true', SVC_RATE_LIMIT_REQUESTS: '1', SVC_RATE_LIMIT_BURST: '0', SVC_RATE_LIMIT_WINDOW: '24h' }
    const env = { ...limit, SVC_AUDIT_ENABLED: 'true', SVC_TRUSTED_PROXIES: '127.0.0.1' }
    const asked = { grpc: 'call', 'grpc-stream': 'stream' } as const
    for (const [transport, how] of Object.entries(asked)) {
      const { server, client } = await started(test, env)
      const ask = async (): Promise<status> => {
        try {
          if (how === 'call') await client.call('Get', ID)
          else for await (const _ of client.stream('Export', { collection: 'c' }));
          return status.OK
        } catch (error) {
          return (error as ServiceError).code
        }
      }
      await untilAsked(ask, (code) => code === status.RESOURCE_EXHAUSTED)
      await ask()
      const { events } = await auditOf(server, 'action=security.rate_limit_exceeded', { 'x-forwarded-for': '203.0.113.9' })
      const details = events.map(({ detail = '' }) => JSON.parse(detail) as unknown)
      assert.deepEqual(details, [{ clientId: '127.0.0.1', transport }])
    }
  })

  it('grpc: health is open to everyone, reflection to every user', async (test) => {
    const { server } = await started(test, CLOSED)
    const address = server.addressOf('grpc')
    const health = healthOf(address)
    assert.equal(await health.check(), 'SERVING')
    health.close()
    await new Admin(server).register('asker')
    assert.equal(await reflected(address), status.UNAUTHENTICATED)
    const names = await reflected(address, asUser('asker'))
    assert.ok(Array.isArray(names) && names.includes('mddb.MDDB') && names.includes('mddb.MDDBReplication'), String(names))
    const open = await sharedServer()
    assert.ok(((await reflected(open.addressOf('grpc'))) as readonly string[]).includes('mddb.MDDB'))
    await open.stop()
  })

  it('grpc: over TLS, and with a certificate of the client where one is required', { skip: LACKS_OPENSSL }, async (test) => {
    const ca = new CertificateAuthority(folder)
    const pair = ca.sign('server')
    const client = ca.sign('client')
    const env = { SVC_TLS_ENABLED: 'true', SVC_TLS_CERT: pair.cert, SVC_TLS_KEY: pair.key }
    const plain = await startServer({ env, tls: ca.trust })
    test.after(async () => await plain.stop())
    const root = readFileSync(ca.cert)
    const target = plain.addressOf('grpc').replace('127.0.0.1', 'localhost')
    const opened = (...parts: ConstructorParameters<typeof GrpcClient>): GrpcClient => {
      const made = new GrpcClient(...parts)
      test.after(() => made.close())
      return made
    }
    const trusting = opened(target, 'MDDB', credentials.createSsl(root))
    assert.equal((await trusting.call('Add', { ...ID, content_md: 'x' }, { deadlineMs: 10_000 })).key, 'k')
    const insecure = opened(target)
    assert.notEqual((await insecure.refusal('Get', ID, { deadlineMs: 2_000 }))[0], status.NOT_FOUND)
    const strict = await startServer({
      env: { ...env, SVC_TLS_CLIENT_CA: ca.cert, SVC_TLS_CLIENT_AUTH: 'require' },
      tls: { ...ca.trust, cert: readFileSync(client.cert), key: readFileSync(client.key) },
    })
    test.after(async () => await strict.stop())
    const strictTarget = strict.addressOf('grpc').replace('127.0.0.1', 'localhost')
    const known = opened(strictTarget, 'MDDB', credentials.createSsl(root, readFileSync(client.key), readFileSync(client.cert)))
    assert.equal((await known.refusal('Get', ID))[0], status.NOT_FOUND)
    const stranger = opened(strictTarget, 'MDDB', credentials.createSsl(root))
    assert.notEqual((await stranger.refusal('Get', ID, { deadlineMs: 2_000 }))[0], status.NOT_FOUND)
  })

  it('grpc: a client may have no certificate unless it must, but not a wrong one', { skip: LACKS_OPENSSL }, async (test) => {
    const ca = new CertificateAuthority(folder)
    const [pair, good] = [ca.sign('server'), ca.sign('client')]
    const bad = new CertificateAuthority(folder, 'other-ca').sign('stranger')
    const server = await startServer({
      env: {
        SVC_TLS_ENABLED: 'true',
        SVC_TLS_CERT: pair.cert,
        SVC_TLS_KEY: pair.key,
        SVC_TLS_CLIENT_CA: ca.cert,
        SVC_TLS_CLIENT_AUTH: 'request',
      },
      tls: ca.trust,
    })
    test.after(async () => await server.stop())
    const codes = await Promise.all(
      [null, good, bad].map(async (shown) => {
        const files = shown === null ? [] : [readFileSync(shown.key), readFileSync(shown.cert)]
        const target = server.addressOf('grpc').replace('127.0.0.1', 'localhost')
        const client = new GrpcClient(target, 'MDDB', credentials.createSsl(readFileSync(ca.cert), ...files))
        const [, details] = await client.refusal('Get', ID, { deadlineMs: 5_000 })
        client.close()
        return details === 'document not found'
      }),
    )
    assert.deepEqual(codes, [true, true, false])
  })

  it('grpc: on a unix socket, which is for its owner only and is gone after the end', async () => {
    const path = join(folder, 'grpc.sock')
    const server = await startServer({ env: { SVC_GRPC_ADDR: `unix:${path}` } })
    assert.equal(statSync(path).mode & 0o777, 0o600)
    const client = new GrpcClient(`unix:${path}`)
    assert.equal((await client.call('Add', { ...ID, content_md: 'x' })).key, 'k')
    client.close()
    assert.equal(await server.stop(), 0)
    assert.throws(() => statSync(path), /ENOENT/)
  })

  it('grpc: an address in use refuses the start in one line that says what to do', async (test) => {
    const server = await sharedServer()
    test.after(() => server.stop())
    const { code, output } = await runToEnd({ env: { SVC_GRPC_ADDR: server.addressOf('grpc') } })
    assert.notEqual(code, 0)
    assert.match(
      output,
      /can't start: grpc: 127\.0\.0\.1:\d+ can't be listened on: Address already in use; SVC_GRPC_ADDR names another address, SVC_GRPC_ENABLED=false goes without/,
    )
  })
})
