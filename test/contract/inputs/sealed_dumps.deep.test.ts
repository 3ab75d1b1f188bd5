/**
 * What requests send lies sealed in the data directory where the server has a key of encryption at rest:
 * while it comes, while it is imported, while a job waits, and after a kill.
 * docs/decisions/store/encryption.md.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { encodedForm, upload } from '../../harness/clients/upload_form.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { dumpXml, pageOf } from '../../harness/wiki_dumps.js'
import { documentsIn, dumpFiles, endedJob, type ImportAnswer, importWiki, wikiJob } from '../../harness/wiki_imports.js'

const KEY = randomBytes(32).toString('base64')
const OTHER_KEY = randomBytes(32).toString('base64')
const CANARY = 'wiedehopf'
const PAGES = 100
/** Two seconds' work, most of which leaves nothing behind. */
const EMPTY = 40
const DUMP = Buffer.from(
  dumpXml([
    ...Array.from({ length: PAGES }, (_, index) => pageOf(`Page ${index}`, `${CANARY} ${index}`)),
    ...Array.from({ length: EMPTY }, () => pageOf('Empty', `{{${CANARY}}}\n`.repeat(60_000))),
  ]),
)

function directoryOf(test: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'mds-sealed-dumps-'))
  test.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

async function sealing(test: TestContext, directory: string, env: Record<string, string> = { SVC_ENCRYPTION_KEY: KEY }): Promise<Server> {
  const server = await startServer({ directory, env })
  test.after(() => server.kill())
  const config = await server.request('PUT', '/v1/collection-config', { collection: 'vault', encrypted: true })
  assert.equal(config.status, 200, config.text)
  return server
}

/** Names of files with the canary. */
function plaintextIn(directory: string): readonly string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => {
    const path = join(directory, name)
    return (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false) && readFileSync(path).includes(CANARY)
  })
}

/** Sends the first `bytes` of a request. */
async function sent(server: Server, path: string, type: string, body: Buffer, bytes = body.length): Promise<RawSocket> {
  const socket = await RawSocket.open(server.port)
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`)
  socket.write(body.subarray(0, bytes))
  return socket
}

/** Once something of a request has been written. */
async function untilWritten({ directory }: Server): Promise<void> {
  const sizes = (): number[] =>
    dumpFiles({ directory }).map((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0)
  await untilAsked(sizes, ([size = 0]) => size > 200_000)
}

const untilStored = (server: Server): Promise<number> => untilAsked(() => documentsIn(server, 'vault'), (count) => count === PAGES) // prettier-ignore
const untilGone = (server: Server): Promise<unknown> => untilAsked(() => dumpFiles(server), ({ length }) => length === 0) // prettier-ignore

describe('what requests send, at rest', () => {
  it('encryption: a dump is in no file as plaintext while it comes and while it is imported', async (test) => {
    const server = await sealing(test, directoryOf(test))
    const path = '/v1/import-wiki?collection=vault&lang=en&batchSize=20'
    const coming = await sent(server, path, 'application/octet-stream', DUMP, 1_000_000)
    await untilWritten(server)
    assert.deepEqual(plaintextIn(server.directory), [])
    coming.reset()
    await untilGone(server)
    const importing = await sent(server, path, 'application/octet-stream', DUMP)
    await untilStored(server)
    assert.equal(dumpFiles(server).length, 1)
    assert.deepEqual(plaintextIn(server.directory), [])
    const answer = await importing.until((received) => received.endsWith('}'))
    assert.match(answer, new RegExp(`"imported":${PAGES},"skipped":${EMPTY},"failed":0`))
    await untilGone(server)
  })

  it('encryption: the dump of a job is sealed until the job ends, after a kill and with another primary key too', async (test) => {
    const directory = directoryOf(test)
    const server = await sealing(test, directory)
    const { id } = (await importWiki(server, 'vault', DUMP, { batchSize: 20, job: true })).json<{ id: string }>()
    await untilStored(server)
    assert.deepEqual(dumpFiles(server), [`wiki-jobs/${id}`])
    assert.deepEqual(plaintextIn(directory), [])
    await server.kill()
    assert.deepEqual(plaintextIn(directory), [])
    const previous = JSON.stringify([{ id: 1, key: KEY }])
    const rotated = { SVC_ENCRYPTION_KEY: OTHER_KEY, SVC_ENCRYPTION_KEY_ID: '2', SVC_ENCRYPTION_KEYS_PREVIOUS: previous }
    const next = await sealing(test, directory, rotated)
    const { status, total, added, skipped } = await endedJob(next, id)
    assert.deepEqual([status, total, added, skipped], ['completed', PAGES + EMPTY, PAGES, EMPTY])
    await untilGone(next)
    assert.deepEqual(plaintextIn(directory), [])
  })

  it('encryption: a job whose key is not configured any more fails and names the key', async (test) => {
    const directory = directoryOf(test)
    const server = await startServer({ directory, env: { SVC_ENCRYPTION_KEY: KEY } })
    test.after(() => server.kill())
    const { id } = (await importWiki(server, 'open', DUMP, { batchSize: 5, job: true })).json<{ id: string }>()
    await untilAsked(() => wikiJob(server, id), ({ added }) => added === PAGES) // prettier-ignore
    await server.kill()
    const next = await startServer({ directory, env: { SVC_ENCRYPTION_KEY: OTHER_KEY, SVC_ENCRYPTION_KEY_ID: '2' } })
    test.after(() => next.kill())
    const { status, added, errors } = await endedJob(next, id)
    assert.deepEqual([status, added], ['failed', PAGES])
    assert.deepEqual(errors, ["the dump can't be read: the encryption key with id 1 is not configured"])
  })

  it('encryption: the dump of a job that is cut off fails the job, behind the pages before, and names the reason', async (test) => {
    const directory = directoryOf(test)
    const server = await startServer({ directory, env: { SVC_ENCRYPTION_KEY: KEY } })
    test.after(() => server.kill())
    const { id } = (await importWiki(server, 'open', DUMP, { batchSize: 5, job: true })).json<{ id: string }>()
    await server.kill()
    const dump = join(directory, 'wiki-jobs', id)
    truncateSync(dump, statSync(dump).size - 1)
    const next = await startServer({ directory, env: { SVC_ENCRYPTION_KEY: KEY } })
    test.after(() => next.kill())
    const { status, errors } = await endedJob(next, id)
    assert.deepEqual([status, errors], ['failed', ["the dump can't be read: the file was changed or is cut off"]])
  })

  it('encryption: an uploaded file is in no file as plaintext while it comes, and is stored whole, on every way in', async (test) => {
    const server = await sealing(test, directoryOf(test))
    const text = `${CANARY} `.repeat(100_000)
    const head = [['collection', 'vault'], ['lang', 'en']] as const // prettier-ignore
    const form = await encodedForm([...head, { name: 'coming.html', content: text }])
    const coming = await sent(server, '/v1/upload', form.headers['content-type'] ?? '', Buffer.from(form.body), 600_000)
    await untilWritten(server)
    assert.deepEqual(plaintextIn(server.directory), [])
    coming.reset()
    await untilGone(server)
    const page = `<h1>T</h1><p>${text}</p>`
    const files = [{ name: 'a.md', content: text }, { name: 'b.html', content: page }, { name: 'c.md', content: '' }] // prettier-ignore
    for (const file of files) assert.equal((await upload(server, [...head, file])).status, 200, file.name)
    const given = { collection: 'vault', lang: 'en', filename: 'd.html', content: Buffer.from(page).toString('base64') }
    await new McpClient(server).stateless('tools/call', { name: 'upload_file', arguments: given })
    const stored = async (key: string): Promise<string> =>
      (await server.post('/v1/get', { collection: 'vault', key, lang: 'en' })).json<{ contentMd: string }>().contentMd
    assert.equal(await stored('a'), text)
    for (const key of ['b', 'd']) assert.equal(await stored(key), `# T\n\n${text.trim()}\n`)
    await untilGone(server)
    assert.deepEqual(plaintextIn(server.directory), [])
  })

  it('encryption: without a key of encryption a dump lies as it was sent, so the search through the files works', async (test) => {
    const server = await startServer()
    test.after(() => server.stop())
    const answer = importWiki(server, 'open', DUMP, { batchSize: 20 })
    await untilAsked(() => documentsIn(server, 'open'), (count) => count === PAGES) // prettier-ignore
    assert.ok(plaintextIn(server.directory).some((name) => name.startsWith('spool-')))
    assert.equal((await answer).json<ImportAnswer>().imported, PAGES)
  })
})
