/**
 * SVC_HTTP_POOL_*: connections that the server's own requests keep for the next one. events.md, section 13;
 * docs/decisions/store/outgoing.md. The web is a server of the test; pages are fetched by import-url.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server as WebServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { untilHolds } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A site, whose connections are counted. */
class Site {
  readonly open = new Set<Socket>()
  readonly #server: WebServer
  /** Connections that were opened. */
  opened = 0
  answer: Answer = (_, response) => void response.writeHead(200, { 'content-type': 'text/markdown' }).end('# Page')

  constructor() {
    this.#server = createServer((request, response) => this.answer(request, response))
    // The other side closes.
    this.#server.keepAliveTimeout = 0
    this.#server.on('connection', (socket: Socket) => {
      this.opened += 1
      this.open.add(socket)
      socket.on('close', () => this.open.delete(socket))
    })
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  page(name: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`
  }

  async closed(): Promise<void> {
    await untilHolds(
      () => this.open.size === 0,
      () => `${this.open.size} connections are open`,
    )
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

describe('connections of outgoing requests', () => {
  const sites: Site[] = []
  const servers: Server[] = []
  let kept: Server
  let bounded: Server
  let few: Server

  const start = async (env: Readonly<Record<string, string>>): Promise<Server> => {
    const server = await startServer({ env: { SVC_OUTBOUND_ALLOW_PRIVATE: 'true', ...env } })
    servers.push(server)
    return server
  }
  const site = async (): Promise<Site> => {
    const started = await new Site().start()
    sites.push(started)
    return started
  }
  const fetched = async (server: Server, url: string): Promise<void> => {
    const { status, text } = await server.post('/v1/import-url', { collection: 'pages', lang: 'en', url })
    assert.equal(status, 200, text)
  }

  before(async () => {
    kept = await start({})
    bounded = await start({ SVC_HTTP_POOL_MAX_PER_HOST: '1', SVC_HTTP_POOL_IDLE_TIMEOUT: '1' })
    few = await start({ SVC_HTTP_POOL_MAX_IDLE: '1' })
  })
  after(async () => {
    for (const each of sites) each.stop()
    for (const each of servers) await each.stop()
  })

  it('outgoing: requests one after another to one host use one connection', async () => {
    const web = await site()
    for (const name of ['a', 'b', 'c']) await fetched(kept, web.page(name))
    assert.deepEqual([web.opened, web.open.size], [1, 1])
  })

  it('outgoing: at most SVC_HTTP_POOL_MAX_PER_HOST connections to one host, 10 by default; further requests wait', async () => {
    for (const [server, most] of [
      [kept, 10],
      [bounded, 1],
    ] as const) {
      const web = await site()
      const waiting: ServerResponse[] = []
      web.answer = (_, response) => void waiting.push(response)
      const all = Promise.all(Array.from({ length: 12 }, (_, i) => fetched(server, web.page(`p${i}`))))
      for (let answered = 0; answered < 12; answered++) {
        await untilHolds(
          () => waiting.length >= Math.min(most, 12 - answered),
          () => `${waiting.length} wait after ${answered}`,
        )
        assert.ok(web.open.size <= most, `${web.open.size} connections`)
        waiting.shift()?.writeHead(200, { 'content-type': 'text/markdown' }).end('# Page')
      }
      await all
      assert.equal(web.opened, most)
    }
  })

  it('outgoing: an idle connection is closed after SVC_HTTP_POOL_IDLE_TIMEOUT seconds', async () => {
    const web = await site()
    const begin = Date.now()
    await fetched(bounded, web.page('idle'))
    await web.closed()
    const ms = Date.now() - begin
    assert.ok(ms >= 900, `closed after ${ms} ms`)
  })

  it('outgoing: of all hosts, SVC_HTTP_POOL_MAX_IDLE connections idle; that which was used longest ago is closed', async () => {
    const [first, second] = [await site(), await site()]
    await fetched(few, first.page('a'))
    assert.equal(first.open.size, 1)
    await fetched(few, second.page('b'))
    await first.closed()
    assert.equal(second.open.size, 1)
    for (const page of ['a', 'b']) await fetched(kept, first.page(page))
    await fetched(kept, second.page('b'))
    assert.deepEqual([first.open.size, first.opened], [1, 2], 'by default 100 idle')
  })

  it('outgoing: a request on a kept connection that the other side closes is sent once more', async () => {
    const web = await site()
    const asked = new Map<Socket, number>()
    web.answer = ({ socket }, response) => {
      asked.set(socket, (asked.get(socket) ?? 0) + 1)
      if ((asked.get(socket) ?? 0) > 1) socket.destroy()
      else response.writeHead(200, { 'content-type': 'text/markdown' }).end('# Page')
    }
    for (const name of ['a', 'b', 'c']) await fetched(kept, web.page(name))
    assert.equal(web.opened, 3)
    web.answer = ({ socket }) => void socket.destroy()
    const { status, text } = await kept.post('/v1/import-url', { collection: 'pages', lang: 'en', url: web.page('never') })
    assert.deepEqual([status, text.includes('fetch failed')], [400, true])
    await web.closed()
  })
})
