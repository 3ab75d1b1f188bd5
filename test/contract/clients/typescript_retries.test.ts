/**
 * Retries, time limits and aborts of the typed client, against a peer that plays the failures of a server and
 * of a network (docs/decisions/interfaces/clients.md).
 */
import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { MdsClient, MdsConnectionError, MdsError, MdsGraphqlError, MdsTimeoutError } from '../../../clients/typescript/src/index.js'

type Reply = (response: ServerResponse, request: IncomingMessage) => void

/** The replies of the next requests; then successes. */
const replies: Reply[] = []
const requests: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers']; readonly atMs: number }[] =
  []
let peer: Server
let client: MdsClient

const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
const busy = json(503, { error: 'server busy, please retry' }, { 'Retry-After': '0' })
const unknown = json(503, { error: 'outcome unknown' }, { 'Retry-After': '0' })
const limited = json(429, { error: 'rate limit exceeded', retryAfter: 0 }, { 'Retry-After': '0' })
const proxyBusy: Reply = (response) => response.writeHead(503, { 'Content-Type': 'text/html', 'Retry-After': '0' }).end('<h1>busy</h1>')
const proxied: Reply = (response) => response.writeHead(503, { 'Content-Type': 'text/html' }).end('<h1>no upstream</h1>')
const lost: Reply = (response) => response.destroy()
const brokenOff: Reply = (response) => {
  response.writeHead(200, { 'Content-Length': '100' }).write('{"id":')
  setImmediate(() => response.destroy())
}
const silent: Reply = () => undefined

before(async () => {
  peer = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, atMs: performance.now() })
    const reply = replies.shift() ?? json(200, { status: 'ok' })
    request.resume().on('end', () => reply(response, request))
  }).listen(0, '127.0.0.1')
  await once(peer, 'listening')
  client = new MdsClient({ baseUrl: `http://127.0.0.1:${(peer.address() as AddressInfo).port}/behind/a/path/`, token: 'secret' })
})
after(() => {
  peer.closeAllConnections()
  peer.close()
})
beforeEach(() => {
  replies.length = 0
  requests.length = 0
})

const POST = { collection: 'c', key: 'k', lang: 'en' }
const read = (): Promise<unknown> => client.documents.get(POST)
const write = (): Promise<unknown> => client.documents.add({ ...POST, contentMd: 'x' })
const writeWithoutRevision = (): Promise<unknown> => client.documents.add({ ...POST, contentMd: 'x', skipRevision: true })
const replace = (): Promise<unknown> => client.synonyms.set({ collection: 'c', term: 't', synonyms: ['u'] })
const remove = (): Promise<unknown> => client.documents.delete(POST)
const batch = (): Promise<unknown> => client.documents.addBatch({ collection: 'c', documents: [] })
const backup = (): Promise<unknown> => client.backups.create()
const login = (): Promise<unknown> => client.auth.login({ username: 'u', password: 'p' })
const query = (): Promise<unknown> => client.graphql('{ x }')

/** Whether the call is sent again after the failure. */
async function isRetried(call: () => Promise<unknown>, failure: Reply): Promise<boolean> {
  replies.splice(0, replies.length, failure, json(200, { data: { x: 1 } }))
  requests.length = 0
  await call().catch((error: unknown) => assert.ok(error instanceof MdsError, String(error)))
  return requests.length === 2
}

describe('client: retries', () => {
  const calls = { read, login, replace, writeWithoutRevision, write, remove, batch, backup, query }
  const all = Object.keys(calls)
  const harmless = ['read', 'login', 'replace', 'writeWithoutRevision']
  const table: readonly (readonly [string, Reply, readonly string[]])[] = [
    ['429, with which nothing has begun: every call', limited, all],
    [
      'a refusal with 503, with which nothing is written: reads, and writes of one document or setting',
      busy,
      [...harmless, 'write', 'remove'],
    ],
    ['outcome unknown: what may be done twice', unknown, harmless],
    ['the 503 of a proxy: what may be done twice', proxied, harmless],
    ['the 503 of a proxy with Retry-After: what may be done twice', proxyBusy, harmless],
    ['a lost connection: what may be done twice', lost, harmless],
    ['an answer that broke off: what may be done twice', brokenOff, harmless],
    ['404: nothing', json(404, { error: 'not found' }), []],
    ['500: nothing', json(500, { error: 'internal error', requestId: 'r1' }), []],
  ]
  for (const [title, failure, expected] of table) {
    it(`client: after ${title}`, async () => {
      const retried: string[] = []
      for (const [name, call] of Object.entries(calls)) if (await isRetried(call, failure)) retried.push(name)
      assert.deepEqual(
        retried,
        all.filter((name) => expected.includes(name)),
      )
    })
  }

  it('client: isRepeatable makes any call one that may be done twice', async () => {
    replies.push(lost)
    await client.documents.delete(POST, { isRepeatable: true })
    assert.equal(requests.length, 2)
    replies.push(lost)
    await assert.rejects(client.documents.add({ ...POST, contentMd: 'x', skipRevision: true }, { isRepeatable: false }), MdsConnectionError)
  })

  it('client: retries are counted, of the client or of the call, and the last error is the answer', async () => {
    replies.push(...Array.from({ length: 10 }, () => busy))
    await assert.rejects(read(), (error) => error instanceof MdsError && error.status === 503 && error.text === 'server busy, please retry')
    assert.equal(requests.length, 4)
    requests.length = 0
    await assert.rejects(client.documents.get(POST, { retries: 1 }), MdsError)
    assert.equal(requests.length, 2)
    requests.length = 0
    await assert.rejects(client.with({ retries: 0 }).documents.get(POST), MdsError)
    assert.equal(requests.length, 1)
  })

  it('client: Retry-After is honoured, in seconds and as a date', async () => {
    replies.push(json(503, { error: 'warming up, please retry' }, { 'Retry-After': '1' }))
    await read()
    assert.ok(requests[1]!.atMs - requests[0]!.atMs >= 990)
    requests.length = 0
    // Dates have whole seconds: two from now are more than one.
    replies.push(json(429, { error: 'slow down' }, { 'Retry-After': new Date(Date.now() + 2000).toUTCString() }))
    await read()
    assert.ok(requests[1]!.atMs - requests[0]!.atMs >= 900)
  })

  it('client: without Retry-After pauses grow, and differ from each other', async () => {
    replies.push(lost, lost, lost)
    await read()
    const pauses = requests.slice(1).map(({ atMs }, at) => atMs - requests[at]!.atMs)
    for (const [at, pause] of pauses.entries()) assert.ok(pause >= 50 * 2 ** at - 2, String(pauses))
    assert.equal(new Set(pauses).size, 3)
  })

  it('client: a Retry-After beyond the time limit is the error at once, which says when to come again', async () => {
    replies.push(json(503, { error: 'a restore is under way, please retry' }, { 'Retry-After': '60' }))
    const begun = performance.now()
    await assert.rejects(
      client.documents.get(POST, { timeoutMs: 5000 }),
      (error) => error instanceof MdsError && error.retryAfterSeconds === 60,
    )
    assert.ok(performance.now() - begun < 2000)
  })

  it('client: a Retry-After that is longer than a timer is the error at once, also without a time limit', async () => {
    replies.push(json(503, { error: 'a restore is under way, please retry' }, { 'Retry-After': String(2 ** 31) }))
    await assert.rejects(client.documents.get(POST, { timeoutMs: 0 }), (error) => error instanceof MdsError && error.status === 503)
    assert.equal(requests.length, 1)
  })
})

describe('client: limits and aborts', () => {
  it('client: timeoutMs ends a call with its retries', async () => {
    replies.push(busy, silent)
    await assert.rejects(
      client.documents.get(POST, { timeoutMs: 400 }),
      (error) => error instanceof MdsTimeoutError && error.status === 0 && /400 ms/.test(error.message),
    )
    assert.equal(requests.length, 2)
  })

  it('client: timeoutMs 0 and Infinity are no limit', async () => {
    for (const timeoutMs of [0, Infinity]) {
      replies.push((response, request) => setTimeout(() => json(200, { key: 'k' })(response, request), 50))
      assert.equal((await client.documents.get(POST, { timeoutMs })).key, 'k')
    }
  })

  it('client: timeoutMs ends a call whose body stalls', async () => {
    replies.push((response) => response.writeHead(200, { 'Content-Length': '100' }).write('{'))
    await assert.rejects(client.documents.get(POST, { timeoutMs: 200 }), MdsTimeoutError)
  })

  it('client: a signal ends a call that waits for an answer, with its reason', async () => {
    const controller = new AbortController()
    replies.push(() => controller.abort(new Error('not wanted any more')))
    await assert.rejects(client.documents.get(POST, { signal: controller.signal }), /not wanted any more/)
    assert.equal(requests.length, 1)
  })

  it('client: a signal ends a call that waits for its next attempt', async () => {
    const controller = new AbortController()
    replies.push((response, request) => {
      json(503, { error: 'warming up, please retry' }, { 'Retry-After': '20' })(response, request)
      setTimeout(() => controller.abort(new Error('stop')), 50)
    })
    await assert.rejects(client.documents.get(POST, { signal: controller.signal }), /stop/)
  })

  it('client: an aborted signal sends nothing', async () => {
    await assert.rejects(client.documents.get(POST, { signal: AbortSignal.abort(new Error('before')) }), /before/)
    assert.equal(requests.length, 0)
  })

  it('client: a call leaves no listener on the signal, which may live as long as the program', async () => {
    const controller = new AbortController()
    await client.documents.get(POST, { signal: controller.signal })
    assert.deepEqual(getEventListeners(controller.signal, 'abort'), [])
  })
})

describe('client: requests and errors', () => {
  it('client: the base address may have a path, and the credential goes along', async () => {
    await read()
    assert.deepEqual([requests[0]?.method, requests[0]?.url], ['POST', '/behind/a/path/v1/get'])
    assert.equal(requests[0]?.headers.authorization, 'Bearer secret')
  })

  it('client: null is sent, because it clears a setting; what is undefined is not', async () => {
    const bodies: string[] = []
    const own: typeof fetch = (input, init) => {
      bodies.push(init?.body as string)
      return fetch(input, init)
    }
    const { collections, embeddingConfigs } = client.with({ fetch: own })
    await collections.setConfig({ collection: 'c', description: null, icon: undefined, retrieval: null })
    await embeddingConfigs.update({ id: 'e1', apiKey: null })
    assert.deepEqual(bodies, ['{"collection":"c","description":null,"retrieval":null}', '{"apiKey":null}'])
  })

  it('client: a redirect is an error, so that no credential reaches another address', async () => {
    replies.push((response) => response.writeHead(307, { Location: '/elsewhere' }).end())
    await assert.rejects(client.documents.get(POST, { retries: 0 }), MdsConnectionError)
    assert.equal(requests.length, 1)
  })

  it('client: its own fetch is used if it is given', async () => {
    const urls: string[] = []
    const own: typeof fetch = (input, init) => {
      urls.push(input as string)
      return fetch(input, init)
    }
    await client.with({ fetch: own }).server.health()
    assert.match(urls[0] ?? '', /\/behind\/a\/path\/health$/)
  })

  it('client: a fault of the server has its requestId', async () => {
    replies.push(json(500, { error: 'internal error', requestId: 'abc' }))
    await assert.rejects(read(), (error) => error instanceof MdsError && error.requestId === 'abc' && error.status === 500)
  })

  it('client: an answer that is not JSON, and an error page of a proxy, are errors with what came', async () => {
    replies.push((response) => response.end('<html>'))
    await assert.rejects(read(), /the answer is not JSON/)
    replies.push((response) => response.writeHead(502).end('<h1>bad gateway</h1>'))
    await assert.rejects(read(), (error) => error instanceof MdsError && error.status === 502 && error.text === '<h1>bad gateway</h1>')
  })

  it('client: graphql gives the data, and the errors of GraphQL as an error with data and code', async () => {
    replies.push(json(200, { data: { stats: { totalDocuments: 3 } } }))
    assert.deepEqual(await client.graphql('{ stats { totalDocuments } }', { a: 1 }), { stats: { totalDocuments: 3 } })
    assert.equal(requests[0]?.url, '/behind/a/path/graphql')
    const errors = [{ message: 'not found', path: ['document'], extensions: { code: 'NOT_FOUND' } }]
    replies.push(json(200, { data: { document: null }, errors }))
    await assert.rejects(client.graphql('{ document }'), (error) => {
      assert.ok(error instanceof MdsGraphqlError)
      assert.deepEqual([error.message, error.errors, error.data], ['not found (200)', errors, { document: null }])
      return true
    })
    replies.push(json(400, { errors: [{ message: 'Syntax Error' }] }))
    await assert.rejects(client.graphql('{'), (error) => error instanceof MdsError && error.status === 400 && error.text === 'Syntax Error')
  })
})
