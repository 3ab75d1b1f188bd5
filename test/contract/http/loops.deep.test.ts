/**
 * Several event loops serve HTTP on one port, each in a thread. A client cannot tell which of them it has:
 * answers, acknowledged writes, bounds, metrics and cached answers are those of one server.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { rawPost, RawSocket } from '../../harness/clients/raw_socket.js'
import { untilAsked } from '../../harness/process/until.js'
import { clientsOfLoops, LOOP_LOG, type LoopAnswer, LoopClient, threadOf } from '../../harness/server/loop_clients.js'
import { runToEnd, type Server, startServer } from '../../harness/server/server.js'

const LOOPS = 3
const BODIES_MAX = 4 << 20
const document = (key: string, contentMd = `text of ${key}`): object => ({ collection: 'c', key, lang: 'en', contentMd })
const named = (key: string): object => ({ collection: 'c', key, lang: 'en' })
const ofMetric = (text: string, name: string): number =>
  [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'gm'))].reduce((sum, [, count]) => sum + Number(count), 0)

const startLoops = (env: Readonly<Record<string, string>> = {}, loops = LOOPS): Promise<Server> =>
  startServer({ args: ['--http-loops', String(loops)], env: { ...LOOP_LOG, ...env } })

describe('several event loops', () => {
  let server: Server
  let clients: readonly LoopClient[]
  before(async () => {
    server = await startLoops({ SVC_LIMIT_BODIES_IN_FLIGHT_BYTES_MAX: String(BODIES_MAX), SVC_MAX_BODY_BYTES: String(BODIES_MAX - 1) })
    clients = await clientsOfLoops(server, LOOPS)
    const documents = Array.from({ length: 400 }, (_, at) => ({
      key: `k${at}`,
      lang: 'en',
      meta: { n: [String(at % 7)] },
      contentMd: `word ${at} `.repeat(at * 4),
    }))
    assert.equal((await server.post('/v1/add-batch', { collection: 'c', documents })).status, 200)
  })
  after(async () => {
    for (const client of clients) client.close()
    await server.stop()
  })

  it('http loops: answers do not depend on the loop, whichever operation, body or answer', async () => {
    const gzip = { 'accept-encoding': 'gzip' }
    const { etag = '' } = (await clients[0]!.ask('GET', '/docs')).headers
    const questions: readonly Parameters<LoopClient['ask']>[] = [
      ['POST', '/v1/get', named('k7')],
      ['POST', '/v1/get', named('k399'), gzip],
      ['POST', '/v1/get', { ...named('k7'), env: { a: 'b' } }],
      ['POST', '/v1/get', named('nothing')],
      ['POST', '/v1/get', '{"collection":'],
      ['POST', '/v1/get', { collection: 'c' }],
      ['POST', '/v1/get?lang=en', { collection: 'c', key: 'k7' }],
      ['POST', '/v1/search', { collection: 'c', filterMeta: { n: ['3'] }, sort: 'key', limit: 5 }],
      ['POST', '/v1/search', { collection: 'c', sort: 'key', limit: 400 }],
      ['POST', '/v1/search', { collection: 'c', sort: 'key', limit: 400 }, gzip],
      ['POST', '/v1/fts', { collection: 'c', query: 'word 17', limit: 3 }],
      ['POST', '/v1/export', { collection: 'c', format: 'ndjson' }],
      ['GET', '/v1/checksum?collection=c'],
      ['HEAD', '/v1/checksum?collection=c'],
      ['GET', '/v1/endpoints'],
      ['GET', '/docs'],
      ['GET', '/docs', undefined, { 'accept-encoding': 'br' }],
      ['GET', '/docs', undefined, { 'if-none-match': String(etag) }],
      ['GET', '/nothing'],
      ['GET', '/v1/get'],
      ['OPTIONS', '/v1/get'],
      ['GET', '/'],
      ['POST', '/v1/add', Buffer.alloc(BODIES_MAX, 0x20)],
      ['POST', '/v1/search', { collection: 'c', limit: -1 }],
    ]
    const shown = ({ status, headers, text }: LoopAnswer): string => {
      // Only the times that a search took differ.
      const body = text.replace(/"(took|durationMs)":[\d.]+/g, '')
      const about = JSON.stringify({ ...headers, date: '', 'content-length': '' })
      return [status, about, body.length, createHash('sha256').update(body).digest('hex')].join('\n')
    }
    for (const question of questions) {
      const [first, ...others] = await Promise.all(clients.map((client) => client.ask(...question)))
      for (const other of others) assert.equal(shown(other), shown(first!), question.slice(0, 2).join(' '))
    }
  })

  it('http loops: long answers come whole to clients that read late, while their loop has others', async () => {
    for (const letter of 'abcde') {
      const added = await server.post('/v1/add', { collection: 'long', key: letter, lang: 'en', contentMd: letter.repeat(3_000_000) })
      assert.equal(added.status, 200)
    }
    const pageOf = (asc: boolean): object => ({ collection: 'long', sort: 'key', asc })
    const page = Buffer.from((await server.post('/v1/search', pageOf(true))).text)
    const late = await Promise.all(
      Array.from({ length: 2 * LOOPS }, async () => {
        const socket = connect(server.port, '127.0.0.1')
        await once(socket, 'connect')
        socket.pause()
        socket.write(rawPost('/v1/search', JSON.stringify(pageOf(true))))
        return socket
      }),
    )
    await untilAsked(
      () => server.get('/metrics'),
      ({ text }) => ofMetric(text, 'mddb_answers_unsent_bytes') > LOOPS * 3_000_000,
    )
    for (const client of clients) for (let times = 0; times < 2; times++) await client.ask('POST', '/v1/search', pageOf(false))
    await Promise.all(
      late.map(async (socket) => {
        const chunks: Buffer[] = []
        let missing = page.length
        for await (const chunk of socket as AsyncIterable<Buffer>) {
          // The head comes in the first chunk.
          missing -= chunk.length - (chunks.length === 0 ? chunk.indexOf('\r\n\r\n') + 4 : 0)
          chunks.push(chunk)
          if (missing <= 0) break
        }
        const read = Buffer.concat(chunks)
        assert.ok(read.subarray(read.indexOf('\r\n\r\n') + 4).equals(page))
      }),
    )
  })

  it('http loops: answers of GraphQL of any length come whole, many at once, beside clients that leave', async () => {
    const asked = [1, 3, 40, 400].map((limit) => ({
      query: `{ search(input: {collection: "c", sort: "key", limit: ${limit}}) { edges { node { key contentMd } } } }`,
    }))
    const alone: string[] = []
    for (const question of asked) alone.push((await server.post('/graphql', question)).text)
    assert.ok(alone[0]!.length < 10_000 && alone[3]!.length > 1_000_000)
    const leaving = await Promise.all(Array.from({ length: 4 }, () => RawSocket.open(server.port)))
    for (const socket of leaving) socket.write(rawPost('/graphql', JSON.stringify(asked[3])))
    const questions = Array.from({ length: 32 }, (_, at) => at % asked.length)
    const answers = questions.map(async (at) => (await server.post('/graphql', asked[at])).text === alone[at])
    for (const socket of leaving) {
      await socket.until((text) => text.includes('\r\n\r\n'))
      socket.destroy()
    }
    assert.deepEqual(
      await Promise.all(answers),
      questions.map(() => true),
    )
  })

  it('http loops: a write that one loop has acknowledged is read on every other', async () => {
    for (let at = 0; at < 200; at++) {
      const writer = clients[at % LOOPS]!
      assert.equal((await writer.ask('POST', '/v1/add', document('shared', `version ${at}`))).status, 200)
      const read = await Promise.all(clients.map((client) => client.ask('POST', '/v1/get', named('shared'))))
      for (const { text } of read) assert.equal((JSON.parse(text) as { contentMd: string }).contentMd, `version ${at}`)
    }
    assert.equal((await clients[1]!.ask('POST', '/v1/delete', named('shared'))).status, 200)
    for (const client of clients) assert.equal((await client.ask('POST', '/v1/get', named('shared'))).status, 404)
  })

  it('http loops: a deleted and a new collection of the same name are not mixed up on any loop', async () => {
    for (let at = 0; at < 10; at++) {
      const add = { collection: 'Again', key: 'k', lang: 'en', contentMd: `of ${at}` }
      assert.equal((await clients[at % LOOPS]!.ask('POST', '/v1/add', add)).status, 200)
      for (const client of clients) {
        const { text } = await client.ask('POST', '/v1/get', { collection: 'again', key: 'k', lang: 'en' })
        assert.equal((JSON.parse(text) as { contentMd: string }).contentMd, `of ${at}`)
      }
      assert.equal((await clients[(at + 1) % LOOPS]!.ask('POST', '/v1/delete-collection', { collection: 'again' })).status, 200)
      for (const client of clients)
        assert.equal((await client.ask('POST', '/v1/get', { collection: 'again', key: 'k', lang: 'en' })).status, 404)
    }
  })

  it('http loops: one limit of bytes, one set of metrics and one cache for all', async () => {
    const metrics = async (): Promise<string> => (await clients[0]!.ask('GET', '/metrics')).text
    const before = ofMetric(await metrics(), 'mddb_http_requests_total')
    for (const client of clients) await client.ask('POST', '/v1/get', named('k1'))
    // The request for the first reading is counted as well.
    assert.equal(ofMetric(await metrics(), 'mddb_http_requests_total') - before, LOOPS + 1)

    const search = { collection: 'c', query: 'word', cacheTtl: 60, limit: 3 }
    const cached: unknown[] = []
    for (const client of clients) cached.push((await client.ask('POST', '/v1/fts', search)).headers['x-cache'])
    assert.deepEqual(cached, ['miss', 'hit', 'hit'])

    // On another loop than the second client.
    const holder = await RawSocket.open(server.port)
    const half = { ...document('half'), contentMd: 'x'.repeat(3 << 20) }
    holder.write(rawPost('/v1/add', JSON.stringify(half)).slice(0, -1_000))
    await untilAsked(metrics, (text) => ofMetric(text, 'mddb_bodies_in_flight_bytes') > 2 << 20)
    for (const client of clients) {
      const refused = await client.ask('POST', '/v1/add', { ...document('other'), contentMd: 'x'.repeat(2 << 20) })
      assert.equal(refused.status, 503, client.thread)
    }
    holder.destroy()
    await untilAsked(metrics, (text) => ofMetric(text, 'mddb_bodies_in_flight_bytes') === 0)
    assert.equal((await clients[2]!.ask('POST', '/v1/add', { ...document('other'), contentMd: 'x'.repeat(2 << 20) })).status, 200)
  })

  it('http loops: after a restore every loop reads the restored store', async () => {
    assert.equal((await clients[0]!.ask('POST', '/v1/add', document('when', 'before'))).status, 200)
    assert.equal((await clients[1]!.ask('GET', '/v1/backup?to=loops.db')).status, 200)
    assert.equal((await clients[2]!.ask('POST', '/v1/add', document('when', 'after'))).status, 200)
    let isOver = false
    const readers = clients.map(async (client) => {
      const seen = new Set<string>()
      while (!isOver) {
        const { status, text } = await client.ask('POST', '/v1/get', named('when'))
        assert.equal(status, 200, text)
        seen.add((JSON.parse(text) as { contentMd: string }).contentMd)
      }
      return [...seen]
    })
    assert.equal((await clients[1]!.ask('POST', '/v1/restore', { from: 'loops.db' })).status, 200)
    const answeredBefore = ofMetric((await clients[0]!.ask('GET', '/metrics')).text, 'mddb_documents_answered_on_loop_total')
    for (const client of clients) {
      const { text } = await client.ask('POST', '/v1/get', named('when'))
      assert.equal((JSON.parse(text) as { contentMd: string }).contentMd, 'before', client.thread)
    }
    // The loops read by themselves again.
    await untilAsked(
      async () => ofMetric((await clients[0]!.ask('GET', '/metrics')).text, 'mddb_documents_answered_on_loop_total'),
      (count) => count > answeredBefore + 100,
    )
    isOver = true
    for (const seen of await Promise.all(readers)) assert.deepEqual(seen, ['after', 'before'])
  })

  it('http loops: a second server does not get the port of the first', async () => {
    for (const loops of ['1', '2']) {
      const { code, output } = await runToEnd({ address: `127.0.0.1:${server.port}`, args: ['--http-loops', loops] })
      assert.notEqual(code, 0)
      assert.match(output, /can't be listened on: in use/)
    }
  })
})

describe('the end of an event loop', () => {
  it('http loops: a loop that dies costs its own connections, and is started again', async (test) => {
    // The first answer that comes to a loop over its port ends it. Plain gets do not come so.
    const server = await startLoops({ MDS_FAIL_POINT: 'loop.answer:error' }, 2)
    test.after(() => server.kill())
    const clients = await clientsOfLoops(server, 2)
    const [other, main] = clients as readonly [LoopClient, LoopClient]
    assert.deepEqual([other.thread, main.thread], ['http loop 1', 'main'])
    assert.equal((await main.ask('POST', '/v1/add', document('kept'))).status, 200)
    const request = rawPost('/v1/get', JSON.stringify(named('kept')))
    const sockets = await Promise.all(Array.from({ length: 40 }, () => RawSocket.open(server.port)))
    for (const socket of sockets) socket.write(request.slice(0, -10))

    await assert.rejects(other.ask('POST', '/v1/search', { collection: 'c' }))
    await untilAsked(
      () => Promise.resolve(server.output()),
      (output) => output.includes('surface http listens again'),
    )
    assert.equal(await main.isConnected(), true)
    assert.equal((await main.ask('POST', '/v1/get', named('kept'))).status, 200)
    const left = sockets.filter((socket) => !socket.isClosed)
    assert.ok(left.length > 0 && left.length < sockets.length, `${left.length} of ${sockets.length} connections are left`)
    for (const socket of left) socket.write(request.slice(-10))
    for (const socket of left) assert.match(await socket.until((text) => text.includes('text of kept')), /^HTTP\/1\.1 200 /)
    assert.match((await main.ask('GET', '/metrics')).text, /^mddb_http_loop_deaths_total 1$/m)
    for (const client of await clientsOfLoops(server, 2)) {
      assert.equal((await client.ask('POST', '/v1/get', named('kept'))).status, 200, client.thread)
      client.close()
    }
    for (const client of clients) client.close()
    assert.equal(await server.stop(), 0, server.output())
  })

  it('http loops: a shutdown completes the requests of every loop', async (test) => {
    const server = await startLoops()
    test.after(() => server.kill())
    const request = rawPost('/v1/add', JSON.stringify(document('last', 'x'.repeat(10_000))))
    const sockets = await Promise.all(Array.from({ length: 24 }, () => RawSocket.open(server.port)))
    for (const socket of sockets) socket.write(request.slice(0, -100))
    const client = new LoopClient(server.port)
    await untilAsked(
      async () => ofMetric((await client.ask('GET', '/metrics')).text, 'mddb_bodies_in_flight_bytes'),
      (bytes) => bytes > 24 * 9_000,
    )
    assert.ok((await threadOf(server, client)) !== '')
    const ended = server.stop()
    await untilAsked(
      () => Promise.resolve(server.output()),
      (output) => output.includes('shutting down'),
    )
    for (const socket of sockets) socket.write(request.slice(-100))
    for (const socket of sockets) assert.match(await socket.until((text) => text.includes('\r\n\r\n')), /^HTTP\/1\.1 200 /)
    client.close()
    assert.equal(await ended, 0, server.output())
  })
})
