/**
 * `POST /v1/import-url`: a page of the web becomes a document. service-1, "Import"; http.md, section 1;
 * decisions.md, "Inputs"; docs/decisions/documents/ingest.md. The web is a server of the test.
 */
import assert from 'node:assert/strict'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server as WebServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type DocumentJson, DocumentsClient, type Fields, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'
import { dataOf } from '../../harness/clients/graphql.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { untilAsked } from '../../harness/process/until.js'
import { startServer } from '../../harness/server/server.js'

/** Connections of a process. */
function openSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`
  const targets = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(join(folder, name))
    } catch {
      return ''
    }
  })
  return targets.filter((target) => target.startsWith('socket:')).length
}

type Page = (request: IncomingMessage, response: ServerResponse) => void

const MIB = 1024 * 1024

/** Pages by path. */
class Web {
  readonly #server: WebServer
  readonly pages = new Map<string, Page>()
  url = ''

  constructor() {
    this.#server = createServer((request, response) => {
      const page = this.pages.get(request.url ?? '')
      if (page === undefined) response.writeHead(404).end('gone')
      else page(request, response)
    })
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** @returns the URL */
  serve(path: string, body: string | Uint8Array, type = 'text/markdown', headers: Readonly<Record<string, string>> = {}): string {
    this.pages.set(path, (_, response) =>
      response.writeHead(200, { ...(type === '' ? {} : { 'content-type': type }), ...headers }).end(body),
    )
    return this.url + path
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

describe('import-url', () => {
  const web = new Web()
  let client: DocumentsClient
  before(async () => {
    await web.start()
    // With a key, so that pages on their way to a converter lie sealed.
    const env = { SVC_OUTBOUND_ALLOW_PRIVATE: 'true', SVC_ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64') }
    client = await DocumentsClient.start({ env })
  })
  after(async () => {
    await client.stop()
    web.stop()
  })

  const asked = (c: string, url: string, more: Fields = {}) => client.post('/v1/import-url', { collection: c, url, lang: 'en', ...more })
  async function imported(c: string, url: string, more: Fields = {}): Promise<DocumentJson> {
    const answer = await asked(c, url, more)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<DocumentJson>()
  }
  const refusal = async (url: string, more: Fields = {}): Promise<string> => summary(await asked('refused', url, more))

  it('import-url: a text page is stored as it is, under the last segment of its path, and the answer is the document', async () => {
    const c = client.collection()
    const document = await imported(c, web.serve('/docs/Getting%20Started.md?x=1', '# Start\n\nwalrus'))
    assert.deepEqual([document.key, document.lang, document.contentMd, document.meta], ['Getting Started', 'en', '# Start\n\nwalrus', {}])
    assert.deepEqual(await client.get(c, 'Getting Started'), document)
    assert.deepEqual(await client.found(c, 'walrus'), ['Getting Started'])
  })

  it('import-url: key, meta and ttl of the request hold, and a second import replaces text and metadata', async () => {
    const c = client.collection()
    const url = web.serve('/page', 'one')
    const first = await imported(c, url, { key: 'own', meta: { a: ['1'], b: ['2'] }, ttl: 600 })
    assert.deepEqual([first.key, first.meta, first.expiresAt], ['own', { a: ['1'], b: ['2'] }, first.updatedAt + 600])
    web.serve('/page', 'two')
    const second = await imported(c, url, { key: 'own', meta: { c: ['3'] } })
    assert.deepEqual([second.contentMd, second.meta, second.addedAt], ['two', { c: ['3'] }, first.addedAt])
    assert.equal((await client.revisions(c, 'own')).length, 2)
  })

  it('import-url: frontmatter is simple lines: quotes stripped, commas split, comments left out', async () => {
    const block = [
      '---',
      'title: "Hello, world"',
      'tags: a, b , "c"',
      '# title: no',
      "author: 'Ann'",
      'empty:',
      'url: https://x.example/y',
      'no pair',
      '---',
    ]
    const document = await imported(client.collection(), web.serve('/fm', `${block.join('\r\n')}\r\nText`))
    assert.equal(document.contentMd, 'Text')
    assert.deepEqual(document.meta, { author: ['Ann'], tags: ['a', 'b', 'c'], title: ['Hello, world'], url: ['https://x.example/y'] })
  })

  it('import-url: meta of the request is merged with the frontmatter and wins', async () => {
    const url = web.serve('/merge', '---\ntitle: theirs\ntags: a\n---\nText')
    assert.deepEqual((await imported(client.collection(), url, { meta: { title: ['mine'] } })).meta, { tags: ['a'], title: ['mine'] })
  })

  it('import-url: HTML becomes Markdown', async () => {
    const html =
      '<html><head><title>T</title><script>x()</script></head><body><h1>Häuser</h1><p>A <b>bold</b> <a href="/x">link</a>.</p><ul><li>one</li></ul></body></html>'
    const document = await imported(client.collection(), web.serve('/house.html', html, 'text/html; charset=utf-8'))
    assert.equal(document.key, 'house')
    assert.match(document.contentMd, /^# Häuser\n\nA \*\*bold\*\* \[link\]\(.*\)\.\n\n[-*] +one\s*$/)
  })

  it('import-url: with mainContent menus, sidebars and footers are left out, and the title stays; without it all is kept', async () => {
    const paragraph = '<p>A paragraph with many words, commas, and something to say about the subject of the page.</p>'
    const html = `<html><head><title>Häuser &amp; Höfe | Site</title></head><body>
      <header><nav><a href="/">Home</a> <a href="/all">Everything</a></nav></header>
      <div class="sidebar"><ul><li><a href="/a">Sidebar one</a></li><li><a href="/b">Sidebar two</a></li></ul></div>
      <div><h1>Häuser &amp; Höfe</h1>${paragraph.repeat(8)}<h2>Code</h2><pre><code class="language-js">let a = 1</code></pre>
      <p>See <a href="/more">more</a>, and read on, and on.</p></div><footer>Copyright of somebody</footer></body></html>`
    const url = web.serve('/main.html', html, 'text/html; charset=utf-8')
    const main = (await imported(client.collection(), url, { mainContent: true })).contentMd
    assert.match(main, /^# Häuser & Höfe\n\nA paragraph/)
    assert.match(main, /```js\nlet a = 1\n```\n\nSee \[more\]\(\/more\), and read on/)
    assert.doesNotMatch(main, /Sidebar|Everything|Copyright/)
    const whole = (await imported(client.collection(), url)).contentMd
    for (const text of ['Sidebar one', 'Everything', 'Copyright']) assert.ok(whole.includes(text), text)
    const menu = web.serve('/menu.html', '<a href="/x">only</a>', 'text/html')
    assert.match((await imported(client.collection(), menu, { mainContent: true })).contentMd, /only/)
    const refused = await asked('refused', url, { mainContent: 'yes' })
    assert.equal(refused.status, 400, refused.text)
  })

  it('import-url: a page whose client has left is not stored', async () => {
    const c = client.collection()
    let answer: (() => void) | undefined
    web.pages.set('/late', (_, response) => {
      answer = () => response.writeHead(200, { 'content-type': 'text/markdown' }).end('late')
    })
    // Connections to clients and to the web stay open between requests.
    await imported(c, web.serve('/first', 'first'))
    const sockets = (): number => openSockets(client.server.pid)
    const before = sockets()
    const body = JSON.stringify({ collection: c, url: `${web.url}/late`, lang: 'en' })
    const socket = await RawSocket.open(client.server.port)
    socket.write(`POST /v1/import-url HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    await untilAsked(() => answer, (given) => given !== undefined) // prettier-ignore
    assert.equal(sockets(), before + 1)
    socket.reset()
    await untilAsked(sockets, (count) => count === before) // prettier-ignore
    assert.equal((await client.server.get('/health')).status, 200)
    answer?.()
    // Two pages come behind it.
    for (const page of ['/next', '/last']) await imported(c, web.serve(page, 'text'))
    assert.equal(await client.get(c, 'late'), undefined)
  })

  it('import-url: the charset is that of the header, then of the page, then UTF-8 or windows-1252', async () => {
    const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
    // 0x80 and 0x93 of windows-1252 are the euro sign and a quotation mark.
    const cases: readonly (readonly [body: Uint8Array, type: string, wanted: string])[] = [
      [bytes('caf\u00e9 \u0080'), 'text/plain; charset=windows-1252', 'café €'],
      [bytes('caf\u00e9 \u0080'), 'text/plain', 'café €'],
      [Buffer.from('café €'), 'text/plain', 'café €'],
      [Buffer.from('\ufeffcafé', 'utf16le'), 'text/plain; charset=utf-8', 'café'],
      [bytes('\u00ea\u00f3'), 'text/plain; charset=koi8-r', 'ЙС'],
      [bytes('<p>\u0093caf\u00e9</p>'), 'text/html; charset=windows-1252', '“café'],
      [bytes('<p>\u00ea\u00f3</p>'), 'text/html; charset=koi8-r', 'ЙС'],
      [bytes('<meta charset="windows-1252"><p>\u0093caf\u00e9</p>'), 'text/html', '“café'],
      [bytes('x\u00e9'), 'text/plain; charset=no-such-charset', 'xé'],
    ]
    for (const [at, [body, type, wanted]] of cases.entries()) {
      const { contentMd } = await imported(client.collection(), web.serve(`/charset${at}`, body, type))
      assert.equal(contentMd.trim(), wanted, `${at}: ${type}`)
    }
  })

  it('import-url: a page without a type is text if it is UTF-8; pictures, archives and other binary types are refused', async () => {
    const c = client.collection()
    assert.equal((await imported(c, web.serve('/untyped', 'text é', ''))).contentMd, 'text é')
    assert.equal((await imported(c, web.serve('/json', '{"a":1}', 'application/problem+json'))).contentMd, '{"a":1}')
    assert.match((await imported(c, web.serve('/untyped-html', '<!DOCTYPE html><h1>A</h1>', 'application/octet-stream'))).contentMd, /^# A/)
    assert.equal(await refusal(web.serve('/p.png', 'x', 'image/png')), '400 {"error":"fetch failed: image/png is not text"}')
    assert.equal(
      await refusal(web.serve('/zip', Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff]), '')),
      '400 {"error":"fetch failed: unknown is not text"}',
    )
  })

  it('import-url: gzip and brotli are decoded, inside the bound of 10 MB', async () => {
    const c = client.collection()
    for (const [encoding, encoded] of [
      ['gzip', gzipSync('packed')],
      ['br', brotliCompressSync('packed')],
    ] as const)
      assert.equal(
        (await imported(c, web.serve(`/${encoding}`, encoded, 'text/plain', { 'content-encoding': encoding }))).contentMd,
        'packed',
      )
    const bomb = gzipSync(Buffer.alloc(10 * MIB + 1, 'x'))
    assert.equal(
      await refusal(web.serve('/bomb', bomb, 'text/plain', { 'content-encoding': 'gzip' })),
      '400 {"error":"fetch failed: more than 10485760 bytes"}',
    )
    const largest = await asked(c, web.serve('/largest', Buffer.alloc(10 * MIB, 'x'), 'text/plain'))
    assert.equal(largest.status, 200, largest.text.slice(0, 200))
  })

  it('import-url: any status but 200 is 400 `fetch failed: <status>`', async () => {
    for (const status of [204, 404, 500]) {
      web.pages.set(`/s${status}`, (_, response) => response.writeHead(status).end())
      assert.equal(await refusal(`${web.url}/s${status}`), `400 {"error":"fetch failed: ${status}"}`)
    }
  })

  it('import-url: five redirects are followed, a sixth is refused', async () => {
    const c = client.collection()
    web.serve('/hop0', 'arrived')
    for (let at = 1; at <= 6; at++)
      web.pages.set(`/hop${at}`, (_, response) => response.writeHead(302, { location: `/hop${at - 1}` }).end())
    const arrived = await imported(c, `${web.url}/hop5`)
    assert.deepEqual([arrived.key, arrived.contentMd], ['hop5', 'arrived'])
    assert.equal(await refusal(`${web.url}/hop6`), '400 {"error":"fetch failed: more than 5 redirects"}')
  })

  it('import-url: a server that does not answer is given up after 10 s, others are imported meanwhile', { timeout: 60_000 }, async () => {
    web.pages.set('/never', () => undefined)
    const begin = performance.now()
    const never = refusal(`${web.url}/never`)
    assert.equal((await imported(client.collection(), web.serve('/quick', 'x'))).contentMd, 'x')
    assert.equal(await never, '400 {"error":"fetch failed: no answer within 10000 ms"}')
    assert.ok(performance.now() - begin >= 9_900)
  })

  it('import-url: nothing listens, no such host: 400, and the server goes on', async () => {
    assert.match(await refusal('http://127.0.0.1:1024/x'), /^400 \{"error":"fetch failed: ECONNREFUSED"\}$/)
    assert.match(await refusal('http://no-such-host.invalid/x'), /^400 \{"error":"fetch failed: \w+"\}$/)
  })

  it('import-url: a URL without a path needs a key', async () => {
    web.serve('/', 'home')
    assert.equal(await refusal(`${web.url}/`), '400 {"error":"cannot derive key from URL; provide key explicitly"}')
    assert.equal((await imported(client.collection(), `${web.url}/`, { key: 'home' })).contentMd, 'home')
  })

  it('import-url: collection, url and lang are required, and bad fields are refused before anything is fetched', async () => {
    let fetched = 0
    web.pages.set('/counted', (_, response) => {
      fetched += 1
      response.end('x')
    })
    const url = `${web.url}/counted`
    for (const missing of [
      { url, lang: 'en' },
      { collection: 'c', lang: 'en' },
      { collection: 'c', url },
    ])
      assert.equal(summary(await client.post('/v1/import-url', missing)), MISSING_FIELDS)
    for (const [name, bad] of [
      ['ttl', -1],
      ['meta', { a: 'b' }],
      ['key', 'k'.repeat(1025)],
      ['lang', 'l'.repeat(36)],
    ] as const)
      assert.match(await refusal(url, { [name]: bad }), new RegExp(`^400 \\{"error":"invalid ${name}`))
    for (const bad of ['ftp://example.com/x', 'file:///etc/passwd', 'no url', 'http://user:secret@example.com/x'])
      assert.match(await refusal(bad), /^400 \{"error":"invalid url: [a-z ]+"\}$/i)
    assert.equal(fetched, 0)
  })

  it('import-url: a schema holds for the page', async () => {
    const c = client.collection()
    assert.equal((await client.post('/v1/schema/set', { collection: c, schema: { required: ['title'] } })).status, 200)
    assert.match(summary(await asked(c, web.serve('/bare', 'x'))), /^400 \{"error":"schema validation failed: /)
    assert.equal((await imported(c, web.serve('/titled', '---\ntitle: T\n---\nx'))).contentMd, 'x')
  })

  it('import-url: HTML nested 50 000 deep is converted, and so is the next page', async () => {
    const deep = `${'<div>'.repeat(50_000)}deep${'</div>'.repeat(50_000)}`
    assert.equal((await imported(client.collection(), web.serve('/deep', deep, 'text/html'))).contentMd.trim(), 'deep')
    assert.equal((await imported(client.collection(), web.serve('/after', '<p>after</p>', 'text/html'))).contentMd.trim(), 'after')
  })

  it('import-url: gRPC, GraphQL and MCP import pages, too', async () => {
    const url = web.serve('/shared', '---\nt: 1\n---\nshared')
    const grpc = new GrpcClient(client.server.addressOf('grpc'))
    const byGrpc = await grpc.call('ImportURL', { collection: 'by-grpc', url, lang: 'en', meta: { m: { values: ['1'] } } })
    grpc.close()
    assert.deepEqual([byGrpc.key, byGrpc.content_md, byGrpc.meta], ['shared', 'shared', { m: { values: ['1'] }, t: { values: ['1'] } }])
    const mutation = `mutation { importURL(collection: "by-graphql", url: "${url}", lang: "en", meta: [{key: "m", values: ["1"]}]) { key contentMd } }`
    const { importURL } = await dataOf<{ importURL: Fields }>(client.server, mutation)
    assert.deepEqual(importURL, { key: 'shared', contentMd: 'shared' })
    assert.deepEqual((await client.get('by-graphql', 'shared'))?.meta, { m: ['1'], t: ['1'] })
    const mcp = new McpClient(client.server)
    await mcp.stateless('tools/call', { name: 'import_url', arguments: { collection: 'by-mcp', url, lang: 'en' } })
    assert.equal((await client.get('by-mcp', 'shared'))?.contentMd, 'shared')
  })
})

describe('import-url, with servers of their own', () => {
  it('import-url: addresses that are not public are refused, also behind a redirect', async (test) => {
    const web = new Web()
    await web.start()
    test.after(() => web.stop())
    const server = await startServer({ env: { SVC_OUTBOUND_ALLOWLIST: web.url.slice('http://'.length) } })
    test.after(() => server.stop())
    const asked = async (url: string): Promise<string> => summary(await server.post('/v1/import-url', { collection: 'c', url, lang: 'en' }))
    for (const host of ['127.0.0.1:9000', 'localhost:9000', '10.0.0.1', '169.254.169.254', '[::1]:9000', '0x7f.1:9000']) {
      const refused = /^400 \{"error":"(?:invalid url|fetch failed): the address is not a public one"\}$/
      assert.match(await asked(`http://${host}/x`), refused, host)
      web.pages.set('/inside', (_, response) => response.writeHead(302, { location: `http://${host}/x` }).end())
      assert.match(await asked(`${web.url}/inside`), refused, `redirect to ${host}`)
    }
    assert.match(await asked(web.serve('/allowed', 'x')), /^200 /)
  })

  it('import-url: is refused in read mode', async () => {
    const server = await startServer({ env: { SVC_MODE: 'read' } })
    try {
      const answer = await server.post('/v1/import-url', { collection: 'c', url: 'http://example.com/x', lang: 'en' })
      assert.equal(summary(answer), '403 {"error":"read-only mode"}')
    } finally {
      await server.stop()
    }
  })
})
