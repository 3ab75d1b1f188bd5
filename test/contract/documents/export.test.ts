/**
 * Export of collections as NDJSON and ZIP, in parts: contents, names, and clients that are slow, stop reading
 * or disconnect. service-1, "Export, backup, maintenance"; http.md, section 1; names: security.md, "File
 * paths".
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { EXPORT_NAME_BYTES_MAX } from '../../../src/domain/export/entry_names.js'
import type { DocumentJson, Fields } from '../../harness/clients/documents_client.js'
import { DocumentsClient, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { readZip } from '../../harness/zip_files.js'

/** More than the sockets of both sides buffer, so that a client that does not read stops the server. */
const LARGE_DOCUMENTS = 2400
const LARGE_CONTENT_BYTES = 10_000
/** Few words, because what is written is not what is tested. */
const FILLER = `word ${'-'.repeat(95)}`
const STALL_MS = 1500

/** Resolves after the loop has read its sockets once more. */
async function soon(value: boolean): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve))
  return value
}

describe('export', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.start({ env: { SVC_LIMIT_PART_STALL_MS_MAX: String(STALL_MS) } })
    const documents = Array.from({ length: LARGE_DOCUMENTS }, (_, number) => ({
      key: `k${number}`,
      lang: 'en',
      contentMd: `${number} `.padEnd(LARGE_CONTENT_BYTES, FILLER),
      meta: { even: [String(number % 2 === 0)] },
    }))
    for (let at = 0; at < LARGE_DOCUMENTS; at += 500) await client.addBatch('large', documents.slice(at, at + 500))
  })
  after(() => client.stop())

  const lines = async (collection: string, fields: Fields = {}): Promise<DocumentJson[]> => {
    const answer = await client.post('/v1/export', { collection, format: 'ndjson', ...fields })
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'application/x-ndjson'], answer.text.slice(0, 200))
    assert.ok(answer.text === '' || answer.text.endsWith('\n'))
    return answer.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as DocumentJson)
  }
  const files = async (collection: string): Promise<ReadonlyMap<string, string>> => {
    const answer = await client.post('/v1/export', { collection, format: 'zip' })
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'application/zip'], answer.text.slice(0, 200))
    return readZip(answer.body)
  }
  /** Requests the large collection and reads nothing. */
  const askOnly = async (format: string): Promise<RawSocket> => {
    const socket = await RawSocket.open(client.server.port)
    socket.pause()
    const body = JSON.stringify({ collection: 'large', format })
    socket.write(`POST /v1/export HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    return socket
  }

  describe('"NDJSON: one Document per line"', () => {
    it('export: every line is the Document that get answers, whatever its characters, and nothing expired or deleted is among them', async () => {
      const c = client.collection()
      const texts = ['', 'plain', 'a\nb\r\n"quoted" \\ \u2028 \u0000', '漢字 ü 😀', 'x'.repeat(100_000)]
      for (const [at, contentMd] of texts.entries()) await client.add(c, `Doc ${at}`, { contentMd, meta: { n: [String(at), 'ü"'] } })
      await client.add(c, 'gone')
      await client.delete(c, 'gone')
      await client.add(c, 'later', { ttl: 3600 })
      await client.add(c, 'doc 1', { contentMd: 'written again', lang: 'EN' })
      const expected = await Promise.all(
        [...texts.keys()].map((at) => client.get(c, at === 1 ? 'doc 1' : `Doc ${at}`, at === 1 ? { lang: 'EN' } : {})),
      )
      assert.deepEqual(await lines(c), [...expected, await client.get(c, 'later')])
    })

    it('export: filterMeta selects documents with any of the values of every key, also if they are few of many', async () => {
      const c = client.collection()
      for (let at = 0; at < 40; at++)
        await client.add(c, `k${at}`, { meta: { a: [String(at % 4)], ...(at % 3 === 0 ? { b: ['x'] } : {}) } })
      const keys = async (filterMeta: Fields): Promise<string[]> => (await lines(c, { filterMeta })).map(({ key }) => key)
      assert.deepEqual(await keys({ a: ['1', '2'], b: ['x'] }), ['k6', 'k9', 'k18', 'k21', 'k30', 'k33'])
      assert.deepEqual(await keys({ b: [] }), [])
      const having = (await lines(c, { hasMeta: ['b'] })).map(({ key }) => key)
      assert.deepEqual(
        having,
        Array.from({ length: 14 }, (_, at) => `k${at * 3}`),
      )
      assert.deepEqual(await keys({ c: ['x'] }), [])
      assert.equal((await lines('large', { filterMeta: { even: ['true'] } })).length, LARGE_DOCUMENTS / 2)
      assert.deepEqual(await lines('large', { filterMeta: { even: ['neither'] } }), [])
    })

    it('export: what one server exports another one imports to the same checksum', async () => {
      const exported = await lines('large')
      assert.equal(exported.length, LARGE_DOCUMENTS)
      const other = await DocumentsClient.shared()
      const copy = other.collection()
      try {
        for (let at = 0; at < exported.length; at += 500) await other.addBatch(copy, exported.slice(at, at + 500))
        assert.equal(await other.checksum(copy), await client.checksum('large'))
      } finally {
        await other.stop()
      }
    })

    it('export: without format it is NDJSON; another format and a missing collection are refused', async () => {
      const c = client.collection()
      await client.add(c, 'one')
      for (const format of [undefined, null]) assert.equal((await lines(c, { format })).length, 1)
      for (const format of ['', 'NDJSON'])
        assert.equal(summary(await client.post('/v1/export', { collection: c, format })), '400 {"error":"unsupported format"}')
      assert.equal(summary(await client.post('/v1/export', { collection: 'large', format: 'tar' })), '400 {"error":"unsupported format"}')
      assert.equal(summary(await client.post('/v1/export', { format: 'zip' })), MISSING_FIELDS)
    })

    it('export: a collection that is not there is 404 with a hint; one without documents is empty', async () => {
      for (const format of [undefined, 'ndjson', 'zip']) {
        const { status, headers, text } = await client.post('/v1/export', { collection: 'nothing', format })
        const { error, hint } = JSON.parse(text) as { readonly error: string; readonly hint: string }
        assert.deepEqual([status, headers['content-type'], error], [404, 'application/json; charset=utf-8', 'not found'])
        assert.match(hint, /^`collection`: there is no collection of this name; GET \/v1\/stats lists them\.$/)
      }
      const c = client.collection()
      await client.add(c, 'gone')
      await client.delete(c, 'gone')
      assert.deepEqual([await lines(c), [...(await files(c))]], [[], []])
    })
  })

  describe('"ZIP: files named `{key}.{lang}.md`"', () => {
    it('export: a ZIP contains the text of every document under its key and language', async () => {
      const c = client.collection()
      await client.add(c, 'hello-world', { contentMd: '# Hello\n\nü 😀' })
      await client.add(c, 'hello-world', { contentMd: 'Hallo', lang: 'de_DE' })
      await client.add(c, 'empty')
      assert.deepEqual(
        [...(await files(c))],
        [
          ['hello-world.en.md', '# Hello\n\nü 😀'],
          ['hello-world.de_DE.md', 'Hallo'],
          ['empty.en.md', ''],
        ],
      )
    })

    it('export: no name of a ZIP leaves its folder, means anything to a file system, is too long or comes twice', async () => {
      const c = client.collection()
      const keys = [
        '../../etc/passwd',
        '..',
        '/abs',
        'C:\\x',
        'a/b',
        'a-b',
        'a.b',
        'a-b-6',
        'ü',
        'y'.repeat(900),
        'y'.repeat(901),
        '%2e%2e%2f',
        ' ',
        '.hidden',
      ]
      for (const key of keys) await client.add(c, key, { contentMd: key })
      const found = [...(await files(c))]
      assert.deepEqual(
        found.map(([, text]) => text),
        keys,
      )
      const names = found.map(([name]) => name)
      for (const name of names) {
        assert.match(name, /^[A-Za-z0-9_-]+\.en\.md$/)
        assert.ok(Buffer.byteLength(name) <= EXPORT_NAME_BYTES_MAX)
      }
      assert.equal(new Set(names.map((name) => name.toLowerCase())).size, keys.length)
      assert.deepEqual(names.slice(0, 2), ['------etc-passwd.en.md', '--.en.md'])
      assert.deepEqual(names.slice(4, 6), ['a-b.en.md', 'a-b-6.en.md'])
    })

    it('export: a ZIP of thousands of documents is whole, and leaves no file behind', async () => {
      const found = await files('large')
      assert.equal(found.size, LARGE_DOCUMENTS)
      assert.equal(found.get('k17.en.md'), '17 '.padEnd(LARGE_CONTENT_BYTES, FILLER))
      assert.deepEqual(
        readdirSync(client.server.directory).filter((name) => name.startsWith('spool')),
        [],
      )
    })
  })

  describe('back pressure', () => {
    it('export: a client that reads nothing is disconnected, and its memory and queue slot are freed', async () => {
      const sockets = await Promise.all(Array.from({ length: 12 }, (_, at) => askOnly(at % 2 === 0 ? 'ndjson' : 'zip')))
      // A paused socket does not notice its end, so the server's count of unsent bytes is polled.
      const open = async (): Promise<boolean> => (await metric('answers_unsent_bytes')) > 0
      await client.until(open, 'answers that nobody takes')
      await client.until(async () => !(await open()), 'the end of those connections')
      for (const socket of sockets) socket.destroy()
      assert.equal((await lines('large')).length, LARGE_DOCUMENTS)
    })

    it('export: clients that go in the middle leave nothing open, however many', async () => {
      for (let round = 0; round < 3; round++) {
        const sockets = await Promise.all(Array.from({ length: 10 }, (_, at) => askOnly(at % 2 === 0 ? 'ndjson' : 'zip')))
        for (const socket of sockets) socket.resume()
        await client.until(() => soon(sockets.every((socket) => socket.length > 0)), 'the first bytes')
        for (const socket of sockets) socket.reset()
      }
      const found = await Promise.all(Array.from({ length: 10 }, () => lines('large')))
      assert.deepEqual(
        found.map(({ length }) => length),
        Array.from({ length: 10 }, () => LARGE_DOCUMENTS),
      )
    })

    it('export: a slow client gets every byte', async () => {
      const socket = await askOnly('ndjson')
      for (let pauses = 0; pauses < 3; pauses++) {
        await client.until(async () => (await metric('answers_unsent_bytes')) > 0, 'a full socket')
        const before = socket.length
        socket.resume()
        await client.until(() => soon(socket.length > before + 3_000_000), 'more bytes')
        socket.pause()
      }
      socket.resume()
      await client.until(() => soon(socket.endsWith('\r\n0\r\n\r\n')), 'the end')
      assert.equal(socket.text.split('"contentMd"').length - 1, LARGE_DOCUMENTS)
      socket.destroy()
    })

    it('export: a collection that is deleted in the middle ends the answer incomplete', async () => {
      const c = client.collection()
      const documents = Array.from({ length: 2000 }, (_, number) => ({ key: `k${number}`, lang: 'en', contentMd: '-'.repeat(20_000) }))
      await client.addBatch(c, documents.slice(0, 1000))
      await client.addBatch(c, documents.slice(1000))
      const socket = await RawSocket.open(client.server.port)
      socket.pause()
      const body = JSON.stringify({ collection: c, format: 'ndjson' })
      socket.write(`POST /v1/export HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      await client.until(async () => (await metric('answers_unsent_bytes')) > 0, 'the first part')
      await client.post('/v1/delete-collection', { collection: c })
      socket.resume()
      await client.until(() => soon(socket.isClosed), 'the end of the connection')
      assert.ok(!socket.endsWith('\r\n0\r\n\r\n'))
    })
  })

  const metric = async (name: string): Promise<number> => {
    const { text } = await client.server.get('/metrics')
    const found = new RegExp(`^\\S*${name}\\S* (\\S+)$`, 'm').exec(text)
    assert.ok(found, `metric ${name}`)
    return Number(found[1])
  }
})
