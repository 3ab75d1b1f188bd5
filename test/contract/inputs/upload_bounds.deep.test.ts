/**
 * The bounds of `POST /v1/upload`, and what is left of files that are refused. service-1, "Document
 * operations"; decisions.md, "Inputs"; docs/decisions/documents/ingest.md.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, summary } from '../../harness/clients/documents_client.js'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { encodedForm, type FormParts, upload } from '../../harness/clients/upload_form.js'
import { pdfOf } from '../../harness/conversion/office_files.js'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

const MIB = 1024 * 1024
const HEAD: FormParts = [['collection', 'docs'], ['lang', 'en']] // prettier-ignore

function spoolFiles({ directory }: Pick<Server, 'directory'>): readonly string[] {
  return readdirSync(directory).filter((name) => name.startsWith('spool-'))
}

/** Processor time of the processes that the server has started, in hundredths of a second. */
function ticksOfChildren(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' '),
  )
  return children.filter(Boolean).reduce((sum, child) => sum + Number(readFileSync(`/proc/${child}/stat`, 'latin1').split(' ')[13]), 0)
}

/** Empty where the descriptor has been closed meanwhile. */
function targetOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`)
  } catch {
    return ''
  }
}

/** A file is removed just behind the answer. */
async function areRemoved(server: Server): Promise<void> {
  await untilAsked(() => spoolFiles(server), (files) => files.length === 0) // prettier-ignore
}

function residentBytes(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
  return Number(kib) * 1024
}

describe('upload: bounds', () => {
  let server: Server
  let client: DocumentsClient
  before(async () => {
    server = await startServer()
    client = new DocumentsClient(server)
  })
  after(() => server.stop())

  it('upload: maxSize bounds each file, in front of the file or behind it, and 413 names both numbers', async () => {
    const file = { name: 'a.md', content: 'x'.repeat(101) }
    const refused = '413 {"error":"file too large: 101 bytes, at most 100 are allowed"}'
    assert.equal(summary(await upload(server, [...HEAD, ['maxSize', '100'], file])), refused)
    assert.equal(summary(await upload(server, [...HEAD, file, ['maxSize', '100']])), refused)
    assert.equal((await upload(server, [...HEAD, file, ['maxSize', '101']])).status, 200)
    const both = await upload(server, [...HEAD, ['maxSize', '100'], file, { name: 'b.md', content: 'y' }])
    assert.deepEqual(both.json().errors, ['a.md: file too large: 101 bytes, at most 100 are allowed'])
  })

  it('upload: a file may have 10 485 760 bytes without maxSize, and 104 857 600 whatever maxSize says', async () => {
    const [most, more] = [
      { name: 'a.txt', content: Buffer.alloc(10 * MIB, 'a') },
      { name: 'a.txt', content: Buffer.alloc(10 * MIB + 1, 'a') },
    ]
    assert.equal((await upload(server, [...HEAD, most])).status, 200)
    assert.equal(
      summary(await upload(server, [...HEAD, more])),
      '413 {"error":"file too large: 10485761 bytes, at most 10485760 are allowed"}',
    )
    assert.equal(
      summary(await upload(server, [...HEAD, ['maxSize', '0'], more])),
      '413 {"error":"file too large: 10485761 bytes, at most 10485760 are allowed"}',
    )
    const huge = { name: 'a.html', content: Buffer.alloc(100 * MIB + 1, 'a') }
    const answer = await upload(server, [...HEAD, ['maxSize', '999999999999'], huge])
    assert.equal(summary(answer), '413 {"error":"file too large: 104857601 bytes, at most 104857600 are allowed"}')
  })

  it('upload: a text that is longer than a document may be is 413 with its length, also where a converter made it', async () => {
    const large: FormParts = [...HEAD, ['maxSize', String(100 * MIB)]]
    const text = await upload(server, [...large, { name: 'a.txt', content: Buffer.alloc(16 * MIB + 1, 'a') }])
    assert.equal(summary(text), '413 {"error":"file too large: its text has 16777217 bytes, at most 16777216 are allowed"}')
    const long = await upload(server, [...large, { name: 'a.txt', content: Buffer.alloc(40 * MIB, 'a') }])
    assert.equal(summary(long), '413 {"error":"file too large: 41943040 bytes of text, at most 16777216 are allowed"}')
    const page = await upload(server, [...large, { name: 'a.html', content: Buffer.alloc(17 * MIB, 'a') }])
    assert.match(summary(page), /^413 \{"error":"file too large: .*16777216/)
    await areRemoved(server)
  })

  it('upload: files of a request go to disk, not into memory, however fast their client sends', async () => {
    const fill = Buffer.alloc(99 * MIB, 'a')
    const large = (part: string): FormParts => [...HEAD, ['maxSize', String(100 * MIB)], { name: 'a.txt', content: fill, part }, { name: 'b.txt', content: fill, part }, { name: 'c.txt', content: fill, part }] // prettier-ignore
    // The first one loads what forms need. Parts of another name are no files, so nothing of them is kept.
    for (const part of ['other', 'files[]', 'files[]']) {
      const form = await encodedForm(large(part))
      const before = residentBytes(server.pid)
      let peak = before
      const socket = await RawSocket.open(server.port)
      socket.write(
        `POST /v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${form.headers['content-type'] ?? ''}\r\nContent-Length: ${form.body.length}\r\n\r\n`,
      )
      socket.write(form.body)
      const watch = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), 5)
      const answer = await socket.until((received) => received.endsWith('}'))
      clearInterval(watch)
      socket.destroy()
      if (part === 'other') continue
      assert.match(answer, /"failed":3/)
      assert.ok(peak - before < 60 * MIB, `${peak - before} bytes more`)
    }
    await areRemoved(server)
  })

  it('upload: a body that is no form, a form that ends early and one with too many parts are refused', async () => {
    const form = await encodedForm([...HEAD, { name: 'a.md', content: 'x'.repeat(1000) }])
    const type = form.headers['content-type'] ?? ''
    const refusal = (text: string): string => `400 ${JSON.stringify({ error: text })}`
    const noForm = 'invalid Content-Type: multipart/form-data is expected'
    const json = { collection: 'docs', lang: 'en', files: [{ name: 'a.md', bytes: 1, content: 'eA==' }] }
    assert.equal(summary(await server.post('/v1/upload', json)), refusal(noForm))
    assert.equal(summary(await server.post('/v1/upload', form.body, { 'content-type': 'multipart/form-data' })), refusal(noForm))
    const cut = await server.post('/v1/upload', form.body.subarray(0, form.body.length - 700), { 'content-type': type })
    assert.equal(summary(cut), refusal('invalid form: Unexpected end of form'))
    const none = await server.post('/v1/upload', 'none', { 'content-type': type })
    assert.equal(summary(none), refusal('invalid form: Unexpected end of form'))
    const files = Array.from({ length: 101 }, (_, at) => ({ name: `${at}.md`, content: 'x', part: 'files[]' }))
    assert.equal(summary(await upload(server, [...HEAD, ...files])), refusal('invalid form: more than 100 files'))
    const fields = Array.from({ length: 65 }, (_, at): [string, string] => [`f${at}`, ''])
    assert.equal(summary(await upload(server, [...fields, { name: 'a.md', content: 'x' }])), refusal('invalid form: more than 64 fields'))
    const long = await upload(server, [...HEAD, ['meta', 'x'.repeat(MIB + 1)], { name: 'a.md', content: 'x' }])
    assert.equal(summary(long), refusal('invalid form: meta has more than 1048576 bytes'))
    await areRemoved(server)
  })

  it('upload: a field of the form or of the query named files names no file of the server', async () => {
    const given = JSON.stringify([{ name: 'a.md', bytes: 1, spooled: 'spool-0000000000000000' }])
    assert.equal(summary(await upload(server, [...HEAD, ['files', given]])), '400 {"error":"missing fields"}')
    const form = await encodedForm(HEAD)
    const answer = await server.post(`/v1/upload?files=${encodeURIComponent(given)}`, form.body, form.headers)
    assert.equal(summary(answer), '400 {"error":"missing fields"}')
  })

  it('upload: a file name is never a path: nothing is written outside of the data directory or left in it', async () => {
    // The reserve is made some time after the start.
    const files = () => readdirSync(server.directory).filter((name) => name !== 'RESERVE').sort() // prettier-ignore
    const before = files()
    for (const name of [
      '../../outside.md',
      '/tmp/outside.md',
      '..\\..\\outside.md',
      'a\0b.md',
      '%2e%2e%2foutside.md',
      'CON.md',
      `${'x'.repeat(1000)}.md`,
    ]) {
      const answer = await upload(server, [...HEAD, { name, content: 'x' }])
      assert.ok(answer.status === 200 || answer.status === 400, answer.text)
      if (answer.status === 200) assert.doesNotMatch(answer.json<{ key: string }>().key, /[/\\]/)
    }
    await areRemoved(server)
    assert.deepEqual(files(), before)
  })

  it('upload: a hostile file costs its own request: 400 with the reason, and the server goes on', async () => {
    const files: FormParts = [
      { name: 'a.pdf', content: pdfOf([[12, 'x']]).subarray(0, 200) },
      { name: 'b.docx', content: 'PK\x03\x04 cut off' },
      { name: 'c.odt', content: Buffer.alloc(1000, 0xff) },
      { name: 'd.tex', content: '\\newcommand{\\a}{\\a\\a}\\begin{document}\\a\\end{document}' },
    ]
    for (const file of files) {
      const answer = await upload(server, [...HEAD, file])
      assert.match(summary(answer), /^400 \{"error":"conversion failed: [^/]+"\}$/)
    }
    assert.equal((await upload(server, [...HEAD, { name: 'deep.html', content: '<div>'.repeat(50_000) }])).status, 200)
    await areRemoved(server)
  })

  it('upload: the files of a client that leaves are removed', async () => {
    const form = await encodedForm([...HEAD, { name: 'a.html', content: Buffer.alloc(4 * MIB, 'a') }])
    const socket = await RawSocket.open(server.port)
    socket.write(
      `POST /v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${form.headers['content-type'] ?? ''}\r\nContent-Length: ${form.body.length}\r\n\r\n`,
    )
    socket.write(form.body.subarray(0, 2 * MIB))
    await untilAsked(() => spoolFiles(server), (files) => files.length === 1) // prettier-ignore
    socket.reset()
    await untilAsked(() => spoolFiles(server), (files) => files.length === 0) // prettier-ignore
  })

  it('upload: bodies that are declared too long are 413, and however many come, others are received', async () => {
    const bytes = 2 * 1024 * MIB
    for (let at = 0; at < 150; at++) {
      const socket = await RawSocket.open(server.port)
      socket.write(
        `POST /v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${bytes}\r\n\r\n`,
      )
      assert.match(await socket.until((received) => received.endsWith('}')), /^HTTP\/1\.1 413 [^]*request body too large/)
      socket.destroy()
    }
    assert.equal((await upload(server, [...HEAD, { name: 'a.md', content: 'x' }])).status, 200)
    await areRemoved(server)
  })

  it('upload: a file that has come is closed, however many are still to come', async () => {
    const files = Array.from({ length: 100 }, (_, at) => ({ name: `${at}.md`, content: 'x', part: 'files[]' }))
    const form = await encodedForm([...HEAD, ...files])
    const socket = await RawSocket.open(server.port)
    socket.write(
      `POST /v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${form.headers['content-type'] ?? ''}\r\nContent-Length: ${form.body.length}\r\n\r\n`,
    )
    socket.write(form.body.subarray(0, form.body.length - 20))
    const openFiles = (): number =>
      readdirSync(`/proc/${server.pid}/fd`).filter((fd) => targetOf(server.pid, fd).includes('/spool-')).length
    await untilAsked(() => spoolFiles(server).length, (count) => count === 100) // prettier-ignore
    await untilAsked(openFiles, (count) => count <= 1)
    socket.destroy()
    await areRemoved(server)
  })

  it('upload: a client that leaves ends its upload: no further file is stored, and nothing is logged as a fault', async () => {
    const own = await startServer()
    assert.equal((await upload(own, [['collection', 'warm'], ['lang', 'en'], { name: 'a.html', content: 'x' }])).status, 200)
    const idle = ticksOfChildren(own.pid)
    const page = `<p>${'word '.repeat(1_500_000)}</p>`
    const form = await encodedForm([
      ...HEAD,
      ['maxSize', String(20 * MIB)],
      { name: 'a.html', content: page },
      { name: 'b.md', content: 'x' },
    ])
    const socket = await RawSocket.open(own.port)
    socket.write(
      `POST /v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${form.headers['content-type'] ?? ''}\r\nContent-Length: ${form.body.length}\r\n\r\n`,
    )
    socket.write(form.body)
    // The converter is at it: its file is no longer needed.
    await untilAsked(() => ticksOfChildren(own.pid), (ticks) => ticks >= idle + 15) // prettier-ignore
    socket.reset()
    await areRemoved(own)
    // The same page takes as long, and began later: behind it the first one has been converted.
    const other: FormParts = [
      ['collection', 'other'],
      ['lang', 'en'],
      ['maxSize', String(20 * MIB)],
    ]
    for (const name of ['c.html', 'd.html']) assert.equal((await upload(own, [...other, { name, content: page }])).status, 200)
    const stored = await new DocumentsClient(own).keys('docs')
    assert.equal(await own.stop(), 0)
    assert.deepEqual(stored, [])
    assert.doesNotMatch(own.output(), / error |"level":"error"/)
  })

  it('upload: files that a killed server has left are removed at the next start', async () => {
    const form = await encodedForm([...HEAD, { name: 'a.html', content: Buffer.alloc(4 * MIB, 'a') }])
    const killed = await startServer()
    const socket = await RawSocket.open(killed.port)
    socket.write(
      `POST /v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${form.headers['content-type'] ?? ''}\r\nContent-Length: ${form.body.length}\r\n\r\n`,
    )
    socket.write(form.body.subarray(0, 2 * MIB))
    await untilAsked(() => spoolFiles(killed), (files) => files.length === 1) // prettier-ignore
    await killed.kill()
    socket.destroy()
    assert.equal(spoolFiles(killed).length, 1)
    const again = await startServer({ directory: killed.directory })
    const left = spoolFiles(again)
    await again.stop()
    assert.deepEqual(left, [])
  })

  it('upload: upload_file writes a file from base64 over MCP, with the name and the metadata of an upload', async () => {
    const mcp = new McpClient(server)
    const given = { collection: 'by-mcp', lang: 'en', filename: 'Page One.html', content: Buffer.from('<h1>T</h1>').toString('base64') }
    await mcp.stateless('tools/call', { name: 'upload_file', arguments: { ...given, meta: { a: 'b' }, ttl: 60 } })
    const stored = await client.get('by-mcp', 'page-one')
    assert.equal(stored?.contentMd, '# T\n')
    assert.deepEqual(stored?.meta, { a: ['b'], upload_format: ['html'], upload_filename: ['Page One.html'], upload_converted: ['true'] })
    assert.equal(stored?.expiresAt, stored.addedAt + 60)
    await mcp.stateless('tools/call', { name: 'upload_file', arguments: { ...given, key: 'own', filename: 'a.md', content: 'eA==' } })
    assert.equal((await client.get('by-mcp', 'own'))?.contentMd, 'x')
    const wrong = await mcp.stateless('tools/call', { name: 'upload_file', arguments: { ...given, content: '{}' } })
    assert.match(JSON.stringify(wrong), /invalid content: base64 is expected/)
    await areRemoved(server)
  })
})

describe('upload: rights', () => {
  it('upload: needs the right to write the collection, and is refused in read mode before its body is read', async () => {
    const server = await startServer({ env: ACCESS_ENV })
    const admin = new Admin(server)
    await admin.register('reader')
    await admin.grant('reader', 'docs', { read: true })
    const form = await encodedForm([...HEAD, { name: 'a.md', content: 'x' }])
    assert.equal((await server.post('/v1/upload', form.body, { ...form.headers, ...asUser('reader') })).status, 403)
    assert.equal((await server.post('/v1/upload', form.body, form.headers)).status, 401)
    await areRemoved(server)
    await server.stop()
    const reading = await startServer({ env: { SVC_MODE: 'read' } })
    const refused = await reading.post('/v1/upload', form.body, form.headers)
    await reading.stop()
    assert.equal(summary(refused), '403 {"error":"read-only mode"}')
  })
})
