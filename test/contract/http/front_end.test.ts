/**
 * The front end over real sockets: routing, refusals, bodies, encodings, CORS, connections. Contract:
 * service-1 and service-2 under Errors and Limits, http.md section 0.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { withoutHint } from '../../harness/clients/documents_client.js'
import { rawPost, RawSocket } from '../../harness/clients/raw_socket.js'
import { type Server, startServer } from '../../harness/server/server.js'

const BODY_MAX = 64 * 1024
const ERROR = (text: string): string => JSON.stringify({ error: text })

let server: Server

before(async () => {
  server = await startServer({ env: { SVC_MAX_BODY_BYTES: String(BODY_MAX) } })
})

after(async () => {
  await server.stop()
})

async function addDocument(key: string, contentMd: string): Promise<void> {
  const response = await server.post('/v1/add', { collection: 'front', key, lang: 'en', contentMd })
  assert.equal(response.status, 200, response.text)
}

describe('routing', () => {
  it('an unknown path answers 404 not found as JSON', async () => {
    const response = await server.get('/v1/nothing-here')
    assert.equal(response.status, 404)
    assert.equal(response.text, ERROR('not found'))
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(response.headers['x-content-type-options'], 'nosniff')
  })

  it('an unknown path answers 404 to a request with a body and keeps the connection usable', async () => {
    const socket = await RawSocket.open(server.port)
    socket.write(rawPost('/v1/nothing-here', '{"a":1}') + 'GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const text = await socket.until((received) => received.includes('"status"'))
    assert.match(text, /^HTTP\/1\.1 404 /)
    assert.match(text, /HTTP\/1\.1 200 OK/)
    socket.destroy()
  })

  it('a known path with another method answers 405 method not allowed and names the right ones', async () => {
    const response = await server.get('/v1/add')
    assert.equal(response.status, 405)
    assert.equal(response.text, ERROR('method not allowed'))
    assert.equal(response.headers.allow, 'POST')
  })

  it('both health paths answer 200, and HEAD has no body', async () => {
    for (const path of ['/health', '/v1/health']) assert.equal((await server.get(path)).json().status, 'healthy')
    const head = await server.request('HEAD', '/v1/health')
    assert.equal(head.status, 200)
    assert.equal(head.body.length, 0)
  })
})

describe('bodies', () => {
  it('invalid JSON answers 400', async () => {
    const broken = ['{', '[]', '"text"', '1', 'null', '{"collection":}', '{"collection":"a"', '\u0000']
    for (const body of broken) {
      const response = await server.post('/v1/get', body)
      assert.equal(response.status, 400, body)
      assert.equal(withoutHint(response.text), ERROR('invalid JSON'), body)
    }
  })

  it('invalid UTF-8 answers 400', async () => {
    const body = Buffer.concat([Buffer.from('{"collection":"a","key":"'), Buffer.from([0xc3, 0x28]), Buffer.from('","lang":"en"}')])
    const response = await server.post('/v1/get', body)
    assert.equal(response.status, 400)
    assert.equal(response.text, ERROR('invalid UTF-8'))
  })

  it('JSON nested 65 levels deep answers 400, 64 levels are read', async () => {
    const nested = (levels: number): string =>
      `{"collection":"a","key":"k","lang":"en","extra":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    const tooDeep = await server.post('/v1/get', nested(65))
    assert.equal(tooDeep.status, 400)
    assert.match(tooDeep.text, /nested deeper than 64/)
    assert.equal((await server.post('/v1/get', nested(64))).status, 404)
    assert.equal((await server.post('/v1/get', nested(20_000))).status, 400)
  })

  it('a field named __proto__ is an unknown one like others, lends the input nothing and pollutes nothing', async () => {
    const response = await server.post('/v1/add', '{"__proto__":{"collection":"a"},"key":"k","lang":"en","contentMd":"x"}')
    assert.equal(`${response.status} ${withoutHint(response.text)}`, `400 ${ERROR('missing fields')}`)
    assert.equal(withoutHint((await server.post('/v1/get', '{"key":"k","lang":"en"}')).text), ERROR('missing fields'))
  })

  it('a missing, null or empty required field answers 400 missing fields', async () => {
    for (const body of [
      '',
      '{}',
      '{"collection":"a","key":"k"}',
      '{"collection":"a","key":"k","lang":null}',
      '{"collection":"a","key":"","lang":"en"}',
    ]) {
      const response = await server.post('/v1/get', body)
      assert.equal(response.status, 400, body)
      assert.equal(withoutHint(response.text), ERROR('missing fields'), body)
    }
  })

  it('a field of the wrong type answers 400 and is named', async () => {
    const response = await server.post('/v1/get', '{"collection":"a","key":7,"lang":"en"}')
    assert.equal(response.status, 400)
    assert.equal(withoutHint(response.text), ERROR('invalid key'))
  })

  it('limits that are negative or no integers answer 400 invalid limit', async () => {
    for (const limit of [-1, 1.5, '"10"', 'true']) {
      const response = await server.post('/v1/search', `{"collection":"a","limit":${limit}}`)
      assert.equal(response.status, 400, String(limit))
      assert.equal(withoutHint(response.text), ERROR('invalid limit'), String(limit))
    }
  })

  it('a body of the limit is read, one byte more answers 413, declared or chunked', async () => {
    const padded = (bytes: number): string => {
      const frame = '{"collection":"a","key":"k","lang":"en","extra":""}'
      return frame.replace('""}', `"${'x'.repeat(bytes - frame.length)}"}`)
    }
    assert.equal((await server.post('/v1/get', padded(BODY_MAX))).status, 404)
    const over = await server.post('/v1/get', padded(BODY_MAX + 1))
    assert.equal(over.status, 413)
    assert.equal(over.text, ERROR('request body too large'))
    const socket = await RawSocket.open(server.port)
    socket.write('POST /v1/get HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const part of padded(BODY_MAX + 1).match(/[^]{1,16384}/g) ?? []) socket.write(`${part.length.toString(16)}\r\n${part}\r\n`)
    socket.write('0\r\n\r\n')
    assert.match(await socket.until((received) => received.includes('too large')), /^HTTP\/1\.1 413 /)
    socket.destroy()
  })

  it('a client that sends far more than the limit before it reads still gets its 413', async () => {
    const response = await server.post('/v1/get', Buffer.alloc(100 * BODY_MAX, 0x78))
    assert.equal(response.status, 413)
  })

  it('a body that comes byte by byte in chunks is read as one', async () => {
    await addDocument('slow', 'slowly')
    const body = '{"collection":"front","key":"slow","lang":"en"}'
    const socket = await RawSocket.open(server.port)
    socket.write(`POST /v1/get HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`)
    for (const byte of body) socket.write(byte)
    assert.match(await socket.until((received) => received.includes('slowly')), /^HTTP\/1\.1 200 /)
    socket.destroy()
  })
})

describe('answers', () => {
  it('gzip is used where it is asked for and worth it', async () => {
    const content = 'compress me, please. '.repeat(200)
    await addDocument('large', content)
    const body = { collection: 'front', key: 'large', lang: 'en' }
    const plain = await server.post('/v1/get', body)
    assert.equal(plain.headers['content-encoding'], undefined)
    const packed = await server.post('/v1/get', body, { 'accept-encoding': 'br, gzip;q=0.5' })
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.match(String(packed.headers.vary), /Accept-Encoding/)
    assert.deepEqual(gunzipSync(packed.body), plain.body)
    assert.ok(packed.body.length < plain.body.length / 5)
    for (const refused of ['gzip;q=0', 'br', 'identity, gzip;q=0.0']) {
      assert.equal((await server.post('/v1/get', body, { 'accept-encoding': refused })).headers['content-encoding'], undefined, refused)
    }
    await addDocument('small', 'short')
    const small = await server.post('/v1/get', { ...body, key: 'small' }, { 'accept-encoding': 'gzip' })
    assert.equal(small.headers['content-encoding'], undefined)
  })

  it('a large answer reaches a client that stops reading for a while, whole', async () => {
    const contents = Array.from({ length: 40 }, (_, i) => `${i} `.padEnd(50_000, String.fromCharCode(97 + (i % 26))))
    for (const [i, content] of contents.entries()) await addDocument(`page-${i}`, content)
    const socket = await RawSocket.open(server.port)
    socket.pause()
    socket.write(rawPost('/v1/search', JSON.stringify({ collection: 'front', limit: 100, sort: 'key' }), 'Connection: keep-alive\r\n'))
    // Other clients are served while this one does not read.
    for (let i = 0; i < 50; i++) assert.equal((await server.get('/v1/health')).status, 200)
    socket.resume()
    const length = (text: string): number => Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Infinity)
    const text = await socket.until((received) => received.length >= received.indexOf('\r\n\r\n') + 4 + length(received))
    const documents = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { key: string; contentMd: string }[]
    for (const [i, content] of contents.entries()) assert.equal(documents.find(({ key }) => key === `page-${i}`)?.contentMd, content)
    socket.destroy()
  })
})

describe('connections', () => {
  it('a connection is kept alive over many requests', async () => {
    const socket = await RawSocket.open(server.port)
    for (const key of ['p0', 'p1', 'p2']) await addDocument(key, `content of ${key}`)
    for (const key of ['p0', 'p1', 'p2']) {
      socket.write(rawPost('/v1/get', JSON.stringify({ collection: 'front', key, lang: 'en' })))
      assert.match(await socket.until((received) => received.includes(`content of ${key}"}`)), /^HTTP\/1\.1 200 /)
    }
    socket.destroy()
  })

  it('a second request before the answer to the first (pipelining) ends that connection, never mixes answers up', async () => {
    const socket = await RawSocket.open(server.port)
    const search = (key: string): string => rawPost('/v1/fts', JSON.stringify({ collection: 'front', query: key }))
    socket.write(['p0', 'p1', 'p2'].map(search).join(''))
    const text = await socket.until(() => false)
    assert.ok(socket.isClosed)
    assert.doesNotMatch(text, /content of p[12]/)
    assert.equal((await server.get('/v1/health')).json().status, 'healthy')
  })

  it('gets that a loop answers itself may be pipelined, and are answered in order', async () => {
    const socket = await RawSocket.open(server.port)
    const keys = ['p2', 'p0', 'p1', 'p2']
    socket.write(keys.map((key) => rawPost('/v1/get', JSON.stringify({ collection: 'front', key, lang: 'en' }))).join(''))
    const text = await socket.until((received) => (received.match(/content of p/g) ?? []).length === keys.length)
    assert.deepEqual(
      [...text.matchAll(/content of (p\d)/g)].map(([, key]) => key),
      keys,
    )
    socket.destroy()
  })

  it('clients that reset in the middle of a request do not affect other clients', async () => {
    const body = JSON.stringify({ collection: 'front', key: 'p0', lang: 'en' })
    for (let i = 0; i < 200; i++) {
      const socket = await RawSocket.open(server.port)
      const request = rawPost(i % 2 === 0 ? '/v1/get' : '/v1/add', body)
      // Cut at every position of the request in turn, including whole and pipelined requests.
      socket.write(i % 5 === 0 ? request.repeat(8) : request.slice(0, 1 + ((i * 7) % request.length)))
      if (i % 3 === 0) socket.reset()
      else socket.destroy()
    }
    assert.equal((await server.get('/v1/health')).json().status, 'healthy')
    assert.equal((await server.post('/v1/get', body)).status, 200)
  })

  it('input that is not HTTP is refused, and the server stays healthy', async () => {
    for (const garbage of [
      '\r\n\r\n',
      'GET\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000',
      'POST /v1/get HTTP/1.1\r\nContent-Length: -5\r\n\r\n',
    ]) {
      const socket = await RawSocket.open(server.port)
      socket.write(Buffer.from(garbage, 'latin1'))
      socket.destroy()
    }
    const huge = await RawSocket.open(server.port)
    huge.write(`GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX-Huge: ${'h'.repeat(100_000)}\r\n\r\n`)
    assert.match(await huge.until((received) => received.includes('\r\n')), /^HTTP\/1\.1 431 /)
    assert.equal((await server.get('/v1/health')).status, 200)
  })

  it('headers of 7 KB are read, and those of more than 8 KB are 431', async () => {
    for (const [bytes, status] of [
      [7_000, 200],
      [8_200, 431],
    ] as const) {
      const socket = await RawSocket.open(server.port)
      socket.write(`GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Large: ${'h'.repeat(bytes)}\r\n\r\n`)
      assert.match(await socket.until((received) => received.includes('\r\n')), new RegExp(`^HTTP/1.1 ${status} `), String(bytes))
    }
  })
})

describe('CORS', () => {
  it('any origin may call by default, and the total may be read', async () => {
    const response = await server.get('/v1/health', { origin: 'http://localhost:3000' })
    assert.equal(response.headers['access-control-allow-origin'], '*')
    assert.equal(
      response.headers['access-control-expose-headers'],
      'X-Total-Count, X-Context-Truncated, X-Cache, X-MDDB-Cache, X-Cache-Ttl, Retry-After',
    )
  })

  it('a preflight answers 204 with methods, headers and a day of validity', async () => {
    const response = await server.request('OPTIONS', '/v1/add', undefined, { origin: 'http://localhost:3000' })
    assert.equal(response.status, 204)
    assert.equal(response.headers['access-control-allow-methods'], 'GET, POST, PUT, PATCH, DELETE, OPTIONS')
    assert.equal(response.headers['access-control-allow-headers'], 'Content-Type, Authorization, X-API-Key')
    assert.equal(response.headers['access-control-max-age'], '86400')
  })

  it('errors carry the headers too, so that a page can read them', async () => {
    assert.equal((await server.get('/nothing')).headers['access-control-allow-origin'], '*')
  })
})
