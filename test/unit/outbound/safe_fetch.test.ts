/**
 * The client for outgoing requests against servers of this machine: rebinding names, redirects, slow and
 * endless answers, decompression bombs. Names resolve by the test's own resolver.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { loadConfig } from '../../../src/config/config.js'
import type { AllowedDestination } from '../../../src/outbound/allowlist.js'
import { parseAllowed } from '../../../src/outbound/allowlist.js'
import { OUTBOUND_ADDRESSES_MAX } from '../../../src/outbound/connector.js'
import { OutboundRefused } from '../../../src/outbound/destination.js'
import { BodyTooLarge } from '../../../src/outbound/received_body.js'
import { Outbound } from '../../../src/outbound/safe_fetch.js'
import { forceCollections } from '../../harness/process/forced_gc.js'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const MIB = 1024 * 1024

describe('outgoing requests', () => {
  const seen: string[] = []
  const routes = new Map<string, Handler>()
  let server: Server
  let port = 0
  before(async () => {
    server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      const handler = routes.get((request.url ?? '').replace(/\?.*/, ''))
      if (handler === undefined) response.writeHead(404).end()
      else handler(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  const allowed = (...texts: string[]): AllowedDestination[] => texts.map((text) => parseAllowed(text) as AllowedDestination)
  /** An outbound client that may reach the loopback server by its address and port. */
  const open = (resolver?: (host: string) => Promise<readonly string[]>): Outbound =>
    new Outbound({ allowed: allowed(`127.0.0.1:${port}`), allowPrivate: false }, { resolver })
  const route = (path: string, handler: Handler): string => {
    routes.set(path, handler)
    return `http://127.0.0.1:${port}${path}`
  }
  const text =
    (body: string): Handler =>
    (_, response) =>
      void response.end(body)

  it('asks and reads: method, headers and body go out, status, headers and body come back', async () => {
    const url = route('/echo', (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () =>
        response.writeHead(201, { 'x-method': request.method ?? '', 'x-sent': request.headers['x-sent'] ?? '' }).end(Buffer.concat(chunks)),
      )
    })
    const answer = await open().safeFetch({ url, method: 'POST', headers: { 'x-sent': 'yes' }, body: 'äöü' })
    assert.deepEqual(
      [answer.status, answer.headers['x-method'], answer.headers['x-sent'], answer.body.toString()],
      [201, 'POST', 'yes', 'äöü'],
    )
  })

  it('without an allow-list nothing reaches a server of this machine, however it is named', async () => {
    route('/secret', text('secret'))
    const before = seen.length
    const names: Record<string, readonly string[]> = {
      'inside.example': ['127.0.0.1'],
      'mapped.example': ['::ffff:127.0.0.1'],
      'mixed.example': ['8.8.8.8', '127.0.0.1'],
      'none.example': [],
    }
    const strict = new Outbound({ allowed: [], allowPrivate: false }, { resolver: (host) => Promise.resolve(names[host] ?? ['127.0.0.1']) })
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '127.0.0.1.',
      '[::ffff:127.0.0.1]',
      'localhost',
      'localhost.',
      'LOCALHOST',
      ...Object.keys(names),
    ])
      await assert.rejects(strict.safeFetch({ url: `http://${host}:${port}/secret` }), OutboundRefused, host)
    assert.equal(seen.length, before)
  })

  it('SVC_OUTBOUND_ALLOW_PRIVATE reaches it', async () => {
    const url = route('/private', text('private'))
    const { outboundAllowPrivate: allowPrivate } = loadConfig([], { SVC_OUTBOUND_ALLOW_PRIVATE: 'true' })
    const answer = await new Outbound({ allowed: [], allowPrivate }).safeFetch({ url })
    assert.equal(answer.body.toString(), 'private')
  })

  it('a name is asked for once a connection, and the connection goes to the address that was checked', async () => {
    route('/pinned', text('here'))
    // The first resolved address is permitted, every later one is a different address.
    let asked = 0
    const rebinding = (): Promise<readonly string[]> => Promise.resolve(asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'])
    const outbound = open(rebinding)
    const answer = await outbound.safeFetch({ url: `http://rebinding.example:${port}/pinned` })
    assert.deepEqual([answer.body.toString(), asked], ['here', 1])
    await assert.rejects(outbound.safeFetch({ url: `http://rebinding.example:${port}/pinned` }), OutboundRefused)
    assert.equal(asked, 2)
  })

  it('connections that are kept are checked when they are opened, and only then', async () => {
    route('/kept', text('kept'))
    let asked = 0
    const outbound = open(() => Promise.resolve(asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']))
    const connections = outbound.connections(1)
    for (let i = 0; i < 3; i++) await outbound.safeFetch({ url: `http://kept.example:${port}/kept`, connections })
    assert.equal(asked, 1)
    await connections.destroy()
  })

  it('the next address is tried where one takes no connection', async () => {
    route('/second', text('second'))
    const outbound = new Outbound(
      { allowed: allowed(`two.example:${port}`), allowPrivate: false },
      { resolver: () => Promise.resolve(['127.0.0.9', '127.0.0.1']) },
    )
    assert.equal((await outbound.safeFetch({ url: `http://two.example:${port}/second` })).body.toString(), 'second')
    const many = Array.from({ length: OUTBOUND_ADDRESSES_MAX }, (_, i) => `127.0.0.${i + 20}`)
    const lost = new Outbound(
      { allowed: allowed(`two.example:${port}`), allowPrivate: false },
      { resolver: () => Promise.resolve([...many, '127.0.0.1']) },
    )
    await assert.rejects(lost.safeFetch({ url: `http://two.example:${port}/second` }), /ECONNREFUSED/)
  })

  it('no connection is kept where none may idle, and none is used again by a request that may not be repeated', async () => {
    const opened = new Set<Socket>()
    const url = route('/kept', ({ socket }, response) => {
      opened.add(socket)
      response.end('kept')
    })
    const asked = async (httpPoolIdleMax: number, method: 'GET' | 'POST'): Promise<number> => {
      opened.clear()
      const bounds = { httpPoolIdleMax, httpPoolPerHost: 10, httpPoolIdleMs: 60_000 }
      const outbound = new Outbound({ allowed: allowed(`127.0.0.1:${port}`), allowPrivate: false }, { bounds })
      for (let i = 0; i < 3; i++) await outbound.safeFetch({ url, method })
      return opened.size
    }
    assert.deepEqual([await asked(0, 'GET'), await asked(10, 'POST')], [3, 3])
  })

  it('redirects are followed to their end, each through the same checks', async () => {
    const to = (path: string, location: string, status = 302): string =>
      route(path, (_, response) => void response.writeHead(status, { location }).end('moved'))
    route('/end', text('end'))
    const start = to('/r1', '/r2', 301)
    to('/r2', 'r3', 307)
    to('/r3', `http://127.0.0.1:${port}/end`, 308)
    const answer = await open().safeFetch({ url: start })
    assert.deepEqual([answer.body.toString(), answer.url], ['end', `http://127.0.0.1:${port}/end`])

    let other = 0
    const listener = createServer((_, response) => {
      other++
      response.end('inside')
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const inside = (listener.address() as AddressInfo).port
    for (const target of [
      `http://127.0.0.1:${inside}/`,
      `http://localhost:${inside}/`,
      `//2130706433:${inside}/`,
      'http://169.254.169.254/latest/meta-data',
      'file:///etc/passwd',
      `http://u:p@127.0.0.1:${port}/end`,
      'http://[::1',
    ]) {
      await assert.rejects(open(() => Promise.resolve(['127.0.0.1'])).safeFetch({ url: to('/away', target) }), OutboundRefused, target)
    }
    assert.equal(other, 0)
    listener.close()
  })

  it('a chain of more than five redirects, or a loop, is refused; with none allowed the redirect is the answer', async () => {
    for (let i = 0; i < 7; i++) route(`/c${i}`, (_, response) => void response.writeHead(302, { location: `/c${i + 1}` }).end())
    route('/c7', text('reached'))
    assert.equal((await open().safeFetch({ url: `http://127.0.0.1:${port}/c2` })).body.toString(), 'reached')
    await assert.rejects(open().safeFetch({ url: `http://127.0.0.1:${port}/c1` }), /more than 5 redirects/)
    const loop = route('/loop', (_, response) => void response.writeHead(302, { location: '/loop' }).end())
    await assert.rejects(open().safeFetch({ url: loop }), /more than 5 redirects/)
    const answer = await open().safeFetch({ url: loop, redirectsMax: 0 })
    assert.equal(answer.status, 302)
  })

  it('a redirect to another host takes no credentials along, and 303 asks without the body', async () => {
    const requests: IncomingMessage[] = []
    const keep: Handler = (request, response) => {
      requests.push(request)
      response.end()
    }
    route('/target', keep)
    const names = (): Promise<readonly string[]> => Promise.resolve(['127.0.0.1'])
    const headers = { Authorization: 'Bearer x', 'X-API-Key': 'k', 'X-Other': 'o', 'Content-Type': 'text/plain' }
    const post = { method: 'POST', headers, body: 'payload' } as const
    const ask = (status: number, location: string): Promise<unknown> =>
      open(names).safeFetch({ url: route('/leave', (_, response) => void response.writeHead(status, { location }).end()), ...post })
    await ask(303, '/target')
    await ask(307, `http://other.example:${port}/target`)
    const [near, far] = requests
    assert.deepEqual([near?.method, near?.headers.authorization, near?.headers['content-type']], ['GET', 'Bearer x', undefined])
    assert.deepEqual(
      [far?.method, far?.headers.authorization, far?.headers['x-api-key'], far?.headers['x-other'], far?.headers['content-length']],
      ['POST', undefined, undefined, 'o', '7'],
    )
  })

  it('an endless answer is cut off at the bound, whether it says its length or not', async () => {
    const endless = route('/endless', (request, response) => {
      const chunk = Buffer.alloc(64 * 1024)
      const more = (): void => {
        while (!request.destroyed && response.write(chunk));
      }
      response.on('drain', more)
      more()
    })
    await assert.rejects(open().safeFetch({ url: endless, bytesMax: MIB }), BodyTooLarge)
    const cut = await open().safeFetch({ url: endless, bytesMax: MIB, cut: true })
    assert.equal(cut.body.length, MIB)
    const exact = route('/exact', text('x'.repeat(1000)))
    assert.equal((await open().safeFetch({ url: exact, bytesMax: 1000 })).body.length, 1000)
    await assert.rejects(open().safeFetch({ url: exact, bytesMax: 999 }), BodyTooLarge)
  })

  it('a decompression bomb is refused by its decoded size, in every encoding', async () => {
    const unfolded = Buffer.alloc(64 * MIB)
    const bombs = { gzip: gzipSync(unfolded), deflate: deflateSync(unfolded), br: brotliCompressSync(unfolded, { params: { 1: 4 } }) }
    for (const [encoding, bytes] of Object.entries(bombs)) {
      assert.ok(bytes.length < MIB, encoding)
      const url = route(`/bomb-${encoding}`, (_, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(bytes))
      await assert.rejects(open().safeFetch({ url, bytesMax: MIB }), BodyTooLarge, encoding)
    }
    const url = route('/packed', (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed')))
    assert.equal((await open().safeFetch({ url })).body.toString(), 'packed')
  })

  it('bytes that do not match their encoding, and encodings that were not requested, are errors', async () => {
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip', 'constructor']) {
      const url = route('/wrong', (_, response) => void response.writeHead(200, { 'content-encoding': encoding }).end('not packed at all'))
      await assert.rejects(open().safeFetch({ url }), Error, encoding)
    }
    const torn = route('/torn', (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('only this', () => response.destroy())
    })
    await assert.rejects(open().safeFetch({ url: torn }))
  })

  it('the whole ends in time: no answer, an answer that trickles, redirects that each take a little', async () => {
    const silent = route('/silent', () => undefined)
    const slow = route('/slow', (_, response) => {
      const timer = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const crawl = route('/crawl', (_, response) => void setTimeout(() => response.writeHead(302, { location: '/crawl' }).end(), 100))
    for (const url of [silent, slow, crawl]) {
      const begun = performance.now()
      await assert.rejects(open().safeFetch({ url, msMax: 250 }), /no answer within 250 ms/, url)
      assert.ok(performance.now() - begun < 5_000)
    }
    const hanging = open(() => new Promise(() => undefined))
    await assert.rejects(hanging.safeFetch({ url: `http://hanging.example:${port}/`, msMax: 100 }), /no answer within 100 ms/)
  })

  it('the whole ends in time whatever is collected meanwhile, beside a signal of the caller', async () => {
    const silent = route('/silent', () => undefined)
    const end = forceCollections()
    try {
      const outcome = Promise.race([
        open().safeFetch({ url: silent, msMax: 300, signal: new AbortController().signal }),
        delay(5_000, 'never', { ref: false }),
      ])
      await assert.rejects(outcome, /no answer within 300 ms/)
    } finally {
      end()
    }
  })

  it('a caller can give up', async () => {
    const silent = route('/silent', () => undefined)
    const ours = new AbortController()
    const answer = open().safeFetch({ url: silent, signal: ours.signal })
    setImmediate(() => ours.abort(new Error('enough')))
    await assert.rejects(answer, /enough/)
  })

  it('an answer that is not HTTP, or has endless headers, is an error', async () => {
    const listeners: TcpServer[] = []
    for (const bytes of ['SSH-2.0-x\r\n', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}\r\n`]) {
      const listener = createTcpServer((socket) => socket.on('error', () => undefined).end(bytes))
      listeners.push(listener)
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
      const target = (listener.address() as AddressInfo).port
      const outbound = new Outbound({ allowed: allowed(`127.0.0.1:${target}`), allowPrivate: false })
      await assert.rejects(outbound.safeFetch({ url: `http://127.0.0.1:${target}/`, msMax: 5_000 }), Error)
    }
    for (const listener of listeners) listener.close()
  })
})
