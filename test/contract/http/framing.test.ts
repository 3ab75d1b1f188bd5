/**
 * The boundaries of requests: framing that a proxy in front might interpret differently from the server is
 * refused. Raw sockets.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import type { Server } from '../../harness/server/server.js'
import { startServer } from '../../harness/server/server.js'

const HOST = 'Host: localhost\r\n'
const ADD = JSON.stringify({ collection: 'smuggled', key: 'k', lang: 'en', contentMd: 'x' })
const SMUGGLED = `POST /v1/add HTTP/1.1\r\n${HOST}Content-Length: ${ADD.length}\r\n\r\n${ADD}`
const REFUSED = /^HTTP\/1\.1 400 Bad Request\r\n[^]*\r\n\r\n\{"error":"invalid Content-Length, Transfer-Encoding or Host"\}$/
/** uWebSockets.js closes connections without a complete head after 10 s, in steps of 4. */
const HEADER_SECONDS_MAX = 15

let server: Server
before(async () => {
  server = await startServer()
})
after(() => server.stop())

/** The answers up to the end of the connection. */
async function closing(text: string): Promise<string> {
  const socket = await RawSocket.open(server.port)
  socket.write(text)
  return await socket.until(() => false)
}

/** Sends a chunked request, then what `follow` sends. At most one is answered, and the connection closes. */
async function answersBehind(head: string, body: string, follow: (socket: RawSocket, answered: Promise<unknown>) => void): Promise<void> {
  const socket = await RawSocket.open(server.port)
  socket.write(`${head} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${body}`)
  follow(
    socket,
    socket.until((text) => text.includes('\r\n\r\n')),
  )
  const answers = await socket.until(() => false)
  assert.ok(answers.split('HTTP/1.1 ').length <= 2, `${head} ${JSON.stringify(body)}: ${answers}`)
}

const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

describe('framing of requests', () => {
  it('framing: two different Content-Length, an empty one, or two Hosts: 400, and the connection closes', async () => {
    const heads = [
      `Content-Length: 5\r\nContent-Length: ${ADD.length}\r\n`,
      `Content-Length: ${ADD.length}\r\nContent-Length: 5\r\n`,
      `Content-Length: ${ADD.length}\r\nX: y\r\ncontent-length: 0\r\n`,
      'Content-Length: \r\n',
      `Content-Length: ${ADD.length}\r\nHost: other\r\n`,
    ]
    for (const head of heads) assert.match(await closing(`POST /v1/add HTTP/1.1\r\n${HOST}${head}\r\n`), REFUSED, head)
  })

  it('framing: a Content-Length that is not a number is 400, and the connection closes', async () => {
    for (const length of ['+5', '-5', '0x5', '5, 5', '5a', '99999999999999999999']) {
      assert.match(await closing(`POST /v1/add HTTP/1.1\r\n${HOST}Content-Length: ${length}\r\n\r\n`), /^HTTP\/1\.1 400 /, length)
    }
  })

  it('framing: a Transfer-Encoding other than exactly chunked, or beside a Content-Length: 400, and the connection closes', async () => {
    const encodings = ['Chunked', 'gzip, chunked', 'chunked, identity', 'identity', 'xchunked', 'gzip', '', 'chunked\r\nTransfer-Encoding: identity', 'identity\r\nTransfer-Encoding: chunked', 'chunked\r\nTransfer-Encoding: chunked'] // prettier-ignore
    for (const encoding of encodings) {
      assert.match(await closing(`POST /v1/add HTTP/1.1\r\n${HOST}Transfer-Encoding: ${encoding}\r\n\r\n`), REFUSED, encoding)
    }
    assert.match(
      await closing(`POST /v1/add HTTP/1.1\r\n${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n`),
      /^HTTP\/1\.1 400 /,
    )
  })

  it('framing: HEAD says the length of what GET answers and leaves the connection open; a misframed one closes it', async () => {
    const head = `HEAD /livez HTTP/1.1\r\n${HOST}\r\n`
    const text = await closing(`${head}${head}GET /livez HTTP/1.1\r\n${HOST}\r\nHEAD /livez HTTP/1.1\r\n${HOST}Content-Length: \r\n\r\n`)
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    assert.deepEqual(statuses, ['200', '200', '200', '400'])
    const lengths = [...text.matchAll(/^Content-Length: (\d+)\r$/gm)].map(([, length]) => Number(length))
    const body = '{"status":"alive"}'
    assert.deepEqual(lengths.slice(0, 3), [body.length, body.length, body.length])
    assert.equal(text.split(body).length, 2, 'one body of three')
  })

  it('framing: nothing that comes behind such a request is run', async () => {
    const heads = ['Content-Length: 0\r\nContent-Length: 5', 'Content-Length: ', 'Transfer-Encoding: \r\nX: y', 'Content-Length: 0\r\nHost: other', 'Content-Length: 0\r\nTransfer-Encoding: identity'] // prettier-ignore
    for (const head of heads) {
      const answers = await closing(`POST /v1/add HTTP/1.1\r\n${HOST}${head}\r\n\r\n${SMUGGLED}${SMUGGLED}`)
      for (const answer of answers.split(/(?=HTTP\/1\.1 )/)) assert.match(answer, /^HTTP\/1\.1 400 /, head)
    }
    const body = chunked('{}')
    const answers = await closing(`POST /v1/add HTTP/1.1\r\n${HOST}Transfer-Encoding: identity\r\n\r\n${body}${SMUGGLED}`)
    assert.match(answers, /^HTTP\/1\.1 400 /)
    assert.equal((await server.post('/v1/get', { collection: 'smuggled', key: 'k', lang: 'en' })).status, 404)
  })

  it('framing: well-formed requests are read: one length, the same length twice, chunked', async () => {
    const body = JSON.stringify({ collection: 'framed', key: 'k', lang: 'en', contentMd: 'x' })
    const length = `Content-Length: ${body.length}\r\n`
    for (const [head, sent] of [
      [length, body],
      [length + length, body],
      ['Transfer-Encoding: chunked\r\n', chunked(body)],
    ] as const) {
      const answer = await closing(`POST /v1/add HTTP/1.1\r\n${HOST}Connection: close\r\n${head}\r\n${sent}`)
      assert.match(answer, /^HTTP\/1\.1 200 /, head)
    }
  })

  it('framing: nothing that comes behind a chunked request is run, however its chunks are written, and the connection closes', async () => {
    const own = JSON.stringify({ collection: 'framed', key: 'chunked', lang: 'en', contentMd: 'x' })
    const size = own.length.toString(16)
    const bodies = [
      chunked(own),
      ` ${size}\r\n${own}\r\n0\r\n\r\n`,
      `${size} \r\n${own}\r\n0\r\n\r\n`,
      `\t${size}\r\n${own}\r\n0\r\n\r\n`,
      `${size}\n${own}\r\n0\r\n\r\n`,
      `${size}\r\n${own}\n0\r\n\r\n`,
      `${size}\r\n${own}XX0\r\n\r\n`,
      `${size}\r\n${own}\r\n0\n\n`,
      `\r\n${size}\r\n${own}\r\n0\r\n\r\n`,
    ]
    // Operations of a lane, of the event loop, and a refusal before the body.
    const heads = ['POST /v1/add', 'GET /livez', 'POST /nowhere']
    for (const head of heads) {
      await Promise.all(
        bodies.flatMap((body) => [
          answersBehind(head, body, (socket) => socket.write(SMUGGLED)),
          // Once the answer has come, if one comes.
          answersBehind(head, body, (socket, answered) => void answered.then(() => socket.write(SMUGGLED))),
        ]),
      )
    }
    assert.equal((await server.post('/v1/get', { collection: 'smuggled', key: 'k', lang: 'en' })).status, 404)
  })

  it('framing: a chunk size that is no number is 400, and the connection closes', async () => {
    for (const size of ['-1', '0x1', '1_', 'fffffffffffffffff1']) {
      const answer = await closing(`POST /v1/add HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${size}\r\nx\r\n0\r\n\r\n${SMUGGLED}`)
      assert.match(answer, /^HTTP\/1\.1 400 [^]*<\/i>$/, size)
    }
  })

  it('framing: a chunked request that is refused by its head is answered behind its body, not by a reset in the middle', async () => {
    const socket = await RawSocket.open(server.port)
    socket.write(`POST /nowhere HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`)
    // Its head has been read when a later request is answered.
    assert.equal((await server.get('/livez')).status, 200)
    assert.equal(socket.text, '')
    for (let i = 0; i < 100; i++) socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`)
    socket.write('0\r\n\r\n')
    assert.match(await socket.until(() => false), /^HTTP\/1\.1 404 /)
  })
})

// At once: each waits for connections that uWebSockets.js closes after 12 s.
describe('connections that are closed late', { concurrency: true }, () => {
  it('framing: the connection closes behind the answer to a chunked request, which says so, whether it is short, large, in parts, or none', async () => {
    const contentMd = 'a line of a large document\n'.repeat(20_000)
    for (const key of ['a', 'b']) {
      assert.equal((await server.post('/v1/add', { collection: 'sized', key, lang: 'en', contentMd })).status, 200)
    }
    const asked = [
      ['POST /v1/get', { collection: 'sized', key: 'none', lang: 'en' }, 404, 1],
      ['POST /v1/get', { collection: 'sized', key: 'a', lang: 'en' }, 200, contentMd.length],
      ['POST /v1/export', { collection: 'sized', format: 'ndjson' }, 200, 2 * contentMd.length],
      ['OPTIONS /v1/get', {}, 204, 0],
    ] as const
    const check = async ([head, body, status, bytesMin]: (typeof asked)[number]): Promise<void> => {
      const socket = await RawSocket.open(server.port)
      socket.write(`${head} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${chunked(JSON.stringify(body))}`)
      const isComplete = (text: string): boolean =>
        text.length >= bytesMin && /\r\n\r\n/.test(text) && (!/chunked/i.test(text) || text.endsWith('0\r\n\r\n'))
      const answer = await socket.until(isComplete)
      socket.write(SMUGGLED)
      const all = await socket.until(() => false)
      assert.equal(all.split('HTTP/1.1 ').length, 2, `${head}: one answer`)
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\nConnection: close\\r\\n`), head)
    }
    // uWebSockets.js closes some of them 12 s later.
    await Promise.all(asked.map(check))
    // On a connection of its own: a kept one may be closed in this moment.
    const body = JSON.stringify({ collection: 'smuggled', key: 'k', lang: 'en' })
    assert.equal((await fetch(`${server.url}/v1/get`, { method: 'POST', body })).status, 404)
  })

  it('framing: a request without Host, or with a head that cannot be read, is closed within the header timeout, also while bytes trickle in', async () => {
    const heads = [
      'GET /health HTTP/1.1\r\n\r\n',
      `GET /health HTTP/1.1\r\n\r\nGET /health HTTP/1.1\r\n${HOST}\r\n`,
      'GET /health HTTP/1.1\r\nX: y\r\n\r\n',
      `GET /health HTTP/1.1\r\n${HOST}X: y\r\n folded\r\n\r\n`,
      `POST /v1/add HTTP/1.1\r\n${HOST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
      `GET /health HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`,
      'GET /hea',
    ]
    await Promise.all(
      heads.map(async (head) => {
        const begun = performance.now()
        const socket = await RawSocket.open(server.port)
        socket.write(head)
        const trickle = setInterval(() => socket.write('x'), 1000)
        const answer = await socket.until(() => false)
        clearInterval(trickle)
        assert.doesNotMatch(answer, /^HTTP\/1\.1 2/, head)
        assert.ok(performance.now() - begun < HEADER_SECONDS_MAX * 1000, head)
      }),
    )
  })
})

describe('pipelined requests', () => {
  it('pipelining: requests that need no lane are answered in order', async () => {
    const socket = await RawSocket.open(server.port)
    socket.write(`GET /health HTTP/1.1\r\n${HOST}\r\nGET /nowhere HTTP/1.1\r\n${HOST}\r\nGET /v1/endpoints HTTP/1.1\r\n${HOST}\r\n`)
    const answers = await socket.until((text) => text.includes('"mcp":['))
    assert.deepEqual(
      [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
      ['200', '404', '200'],
    )
    socket.destroy()
  })

  it('pipelining: one that comes after an answer is answered on the same connection', async () => {
    const socket = await RawSocket.open(server.port)
    for (let i = 1; i <= 3; i++) {
      socket.write(`GET /v1/checksum?collection=c${i} HTTP/1.1\r\n${HOST}\r\n`)
      await socket.until((text) => text.includes(`"collection":"c${i}"`))
    }
    assert.equal(socket.isClosed, false)
    socket.destroy()
  })

  it('pipelining: one behind a request that is still in a lane is refused: the connection closes, nothing is mixed up, and the log says so', async () => {
    const quiet = await startServer({ env: { SVC_LOG_LEVEL: 'debug' } })
    const socket = await RawSocket.open(quiet.port)
    socket.write(`GET /v1/checksum?collection=a HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`)
    assert.equal(await socket.until(() => false), '')
    assert.equal((await quiet.post('/v1/get', { collection: 'smuggled', key: 'k', lang: 'en' })).status, 404)
    await quiet.stop()
    assert.match(
      quiet.output(),
      / debug connection closed: a request came behind one that was not answered yet, or the client went method=GET path=\/v1\/checksum$/m,
    )
  })
})
