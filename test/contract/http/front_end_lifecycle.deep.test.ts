/**
 * Starts, ends and refusals of the whole process: CORS lists, queue limits, graceful shutdown, second
 * process, supervisor, listen addresses. Access modes: modes.test.ts; Unix sockets: unix_addresses.test.ts.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { rawPost, RawSocket } from '../../harness/clients/raw_socket.js'
import { lastingPort } from '../../harness/process/ports.js'
import { untilHolds } from '../../harness/process/until.js'
import { runToEnd, type Server, startServer } from '../../harness/server/server.js'
import { sharedServer } from '../../harness/server/shared_server.js'

const DOCUMENT = { collection: 'life', key: 'k', lang: 'en', contentMd: 'text' }

async function withServer(options: Parameters<typeof startServer>[0], run: (server: Server) => Promise<void>): Promise<void> {
  const server = await startServer(options)
  try {
    await run(server)
  } finally {
    await server.stop()
  }
}

/** Of the tests that do not disturb each other. */
let common: Server
before(async () => {
  const env = {
    SVC_LIMIT_QUEUE_POINT_REQUESTS_MAX: '1',
    SVC_LIMIT_BODIES_IN_FLIGHT_BYTES_MAX: '200000',
    SVC_CORS_ORIGINS: 'https://one.example,https://two.example',
  }
  common = await startServer({ address: '[::1]:0', env })
})
after(() => common.stop())

describe('overload', () => {
  it('a full queue answers 503 with Retry-After at once', async () => {
    const responses = await Promise.all(Array.from({ length: 200 }, () => common.post('/v1/get', DOCUMENT)))
    const busy = responses.filter(({ status }) => status === 503)
    assert.ok(busy.length > 0, 'some of 200 at once are refused by a queue of one')
    for (const response of busy) {
      assert.equal(response.text, '{"error":"server busy, please retry"}')
      assert.equal(response.headers['retry-after'], '1')
    }
    for (const { status } of responses) assert.ok(status === 404 || status === 503, String(status))
    assert.equal((await common.post('/v1/get', DOCUMENT)).status, 404, 'and the next one alone is served')
  })

  it('bodies in flight are bounded in total', async () => {
    const most = JSON.stringify({ ...DOCUMENT, collection: 'bodies', contentMd: 'x'.repeat(150_000) })
    const holder = await RawSocket.open(common.port, '::1')
    holder.write(rawPost('/v1/add', most).slice(0, -1_000))
    // The holder's body counts once its bytes have been read.
    let refused = await common.post('/v1/add', most)
    for (let i = 0; i < 1000 && refused.status !== 503; i++) refused = await common.post('/v1/add', most)
    assert.equal(refused.status, 503)
    assert.equal(refused.text, '{"error":"server busy, please retry"}')
    holder.destroy()
    let served = await common.post('/v1/add', most)
    for (let i = 0; i < 1000 && served.status !== 200; i++) served = await common.post('/v1/add', most)
    assert.equal(served.status, 200, 'the bytes are given back when the holder has gone')
  })
})

describe('slow clients', () => {
  it('what clients do not take of their answers is bounded in total: the next one loses its connection, others are served', async () => {
    await withServer({ env: { SVC_LIMIT_ANSWERS_UNSENT_BYTES_MAX: '1000' } }, async (server) => {
      const { collection, ...document } = { ...DOCUMENT, contentMd: 'x'.repeat(12_000_000) }
      assert.equal((await server.post('/v1/add-batch', { collection, documents: [document] })).status, 200)
      const silent = await RawSocket.open(server.port)
      silent.pause()
      silent.write(rawPost('/v1/get', JSON.stringify(DOCUMENT), 'Connection: keep-alive\r\n'))
      assert.equal((await server.get('/v1/health')).status, 200)
      silent.resume()
      assert.ok((await silent.until((received) => received.length >= 12_000_000)).length < 12_000_000, 'the answer was cut off')
      assert.equal((await server.post('/v1/get', { ...DOCUMENT, key: 'none' })).status, 404, 'others are served')
    })
  })

  it('SIGTERM beside a client that never ends its request ends in order, within the time for shutdowns', async () => {
    const server = await startServer({ args: ['--shutdown-timeout-sec', '4'] })
    assert.equal((await server.post('/v1/add', DOCUMENT)).status, 200)
    const silent = await RawSocket.open(server.port)
    silent.write(rawPost('/v1/add', JSON.stringify(DOCUMENT)).slice(0, -5))
    // Its bytes have been read when a later request is answered.
    assert.equal((await server.get('/health')).status, 200)
    process.kill(server.pid, 'SIGTERM')
    assert.equal(await server.ended, 0, server.output())
    assert.match(server.output(), / info stopped$/m)
    await rm(server.directory, { recursive: true, force: true })
  })

  it('SIGTERM at the moment of readiness ends in order: no background loop begins a pause that nothing ends', async () => {
    for (let round = 0; round < 3; round++) {
      // Shorter than the pauses.
      const server = await startServer({ args: ['--shutdown-timeout-sec', '4'] })
      assert.equal(await server.stop(), 0, server.output())
    }
  })
})

describe('durability async', () => {
  it('a server that ended in order has its index on disk and finds everything after the next start', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mds-async-'))
    const options = { directory, args: ['--durability', 'async'] }
    await withServer(options, async (server) => {
      for (let i = 0; i < 20; i++) assert.equal((await server.post('/v1/add', { ...DOCUMENT, key: `k${i}` })).status, 200)
    })
    await withServer(options, async (server) => {
      const metrics = (await server.get('/metrics')).text
      assert.match(metrics, /^mddb_engine_checkpoint_lsn 2[0-9]$/m)
      assert.equal((await server.post('/v1/fts', { collection: 'life', query: 'text', limit: 50 })).json<{ total: number }>().total, 20)
    })
    await rm(directory, { recursive: true, force: true })
  })
})

describe('CORS list', () => {
  it('echoes an origin of the list, names no other, and says that answers vary', async () => {
    const allowed = await common.get('/health', { origin: 'https://two.example' })
    assert.equal(allowed.headers['access-control-allow-origin'], 'https://two.example')
    assert.match(String(allowed.headers.vary), /Origin/)
    const other = await common.get('/health', { origin: 'https://three.example' })
    assert.equal(other.headers['access-control-allow-origin'], undefined)
    assert.match(String(other.headers.vary), /Origin/)
  })
})

describe('end and start', () => {
  it('SIGTERM finishes what was accepted, and every acknowledged write is there afterwards', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mds-life-'))
    const server = await startServer({ directory })
    const writes = Array.from({ length: 100 }, async (_, i) => {
      const response = await server.post('/v1/add', { ...DOCUMENT, key: `k${i}` })
      return { i, status: response.status }
    })
    // The first answer proves that all requests have arrived; the others are in progress.
    await Promise.race(writes)
    process.kill(server.pid, 'SIGTERM')
    const settled = await Promise.allSettled(writes)
    assert.equal(await server.ended, 0, server.output())
    const acknowledged = settled.flatMap((result) => (result.status === 'fulfilled' && result.value.status === 200 ? [result.value.i] : []))
    assert.ok(acknowledged.length > 0)
    const reset = settled.filter(({ status }) => status === 'rejected')
    assert.equal(reset.length, 0, 'an accepted request is answered, not reset')
    await withServer({ directory }, async (again) => {
      for (const i of acknowledged) assert.equal((await again.post('/v1/get', { ...DOCUMENT, key: `k${i}` })).status, 200, `k${i}`)
    })
    await rm(directory, { recursive: true, force: true })
  })

  it('a second process on the same directory is refused in one line', async () => {
    const server = await sharedServer()
    const second = await runToEnd({ directory: server.directory })
    assert.equal(second.code, 2)
    assert.match(second.output, /^can't start: .+ is in use by another process$/m)
    assert.equal((await server.get('/health')).status, 200)
    await server.stop()
  })

  it('an address in use is refused in one line', async () => {
    const server = await sharedServer()
    const second = await runToEnd({ address: server.address })
    assert.equal(second.code, 2)
    assert.match(second.output, /^can't start: .+ can't be listened on/m)
    await server.stop()
  })

  it('an invalid configuration ends the start in one line with code 2, also under the supervisor', async () => {
    for (const supervisor of [false, true]) {
      const refused = await runToEnd({ supervisor, args: ['--mode', 'sideways'] })
      assert.equal(refused.code, 2)
      assert.equal(refused.output.trim().split('\n').length, 1, refused.output)
      assert.match(refused.output, /--mode/)
    }
  })

  it('an IPv6 address is an address', async () => {
    assert.match(common.address, /^\[::1\]:\d+$/)
    assert.equal((await common.get('/health')).status, 200)
  })
})

describe('supervisor', () => {
  it('a killed server is started again with its data, and SIGTERM ends both', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mds-super-'))
    const address = `127.0.0.1:${await lastingPort()}`
    const server = await startServer({ directory, supervisor: true, address })
    assert.equal((await server.post('/v1/add', DOCUMENT)).status, 200)
    const pid = await childPid(server)
    process.kill(pid, 'SIGKILL')
    await untilReadyAgain(server)
    assert.notEqual(await childPid(server), pid)
    assert.equal((await server.post('/v1/get', DOCUMENT)).json().contentMd, DOCUMENT.contentMd)
    assert.equal(await server.stop(), 0, server.output())
    await rm(directory, { recursive: true, force: true })
  })
})

async function childPid(server: Server): Promise<number> {
  const { readFile } = await import('node:fs/promises')
  const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
  return Number(children.trim().split(' ')[0])
}

/** Settles at the second ready line. */
async function untilReadyAgain(server: Server): Promise<void> {
  const readies = (): number => server.output().match(/^ready on/gm)?.length ?? 0
  await untilHolds(
    () => readies() >= 2,
    () => server.output(),
  )
}
