/**
 * An export of one server is imported by another through add-batch, a bulk ingest job and `mds import`, with
 * every field, and exported again byte for byte, revisions excepted. Issue 15, point B1;
 * docs/decisions/documents/documents.md.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DocumentsClient, type Fields, summary } from '../../harness/clients/documents_client.js'
import { spawn } from '../../harness/process/owned_processes.js'

const BIN = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..', 'bin', 'mds.mjs')
const DAY = 86_400

describe('export and import', () => {
  let client: DocumentsClient
  let copy: DocumentsClient
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mds-round-trip-'))
    ;[client, copy] = await Promise.all([DocumentsClient.start(), DocumentsClient.start()])
  })
  after(async () => {
    await Promise.all([client.stop(), copy.stop()])
    rmSync(folder, { recursive: true })
  })

  const now = (): number => Math.floor(Date.now() / 1000)
  const exported = async (from: DocumentsClient, collection: string, format = 'ndjson'): Promise<Buffer> => {
    const answer = await from.post('/v1/export', { collection, format })
    assert.equal(answer.status, 200)
    return answer.body
  }
  const linesOf = (bytes: Buffer): Fields[] => {
    const lines = bytes.toString().split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as Fields)
  }
  /** Documents of every kind, some of them with times in the distant past. */
  const fill = async (collection: string): Promise<void> => {
    const stated = [
      { key: 'Old Key', lang: 'en_GB', contentMd: '# Ä\r\n%%a%%', meta: { b: ['2', '1'], a: [] }, addedAt: 1, updatedAt: 1_000_000_000 },
      { key: 'dies', lang: 'en', contentMd: '', expiresAt: now() + DAY, addedAt: 5, updatedAt: 5 },
      {
        key: 'far',
        lang: 'en',
        contentMd: '😀',
        expiresAt: 4_294_967_295 + 99 * 365 * DAY,
        addedAt: 4_294_967_295,
        updatedAt: 4_294_967_295,
      },
      { key: 'code.ts', lang: 'x', contentMd: 'export const a = 1', meta: { kind: ['code'], __proto: ['p'] }, saveRevision: false },
      { key: 'ΟΔΟΣ|a\\"', lang: 'el', contentMd: 'x'.repeat(70_000) },
    ]
    assert.equal((await client.post('/v1/add-batch', { collection, documents: stated, keepTimes: true })).json().added, stated.length)
    await client.add(collection, 'plain', { ttl: 3600, meta: { tags: ['"q"'] } })
    await client.add(collection, 'plain', { contentMd: 'again', ttl: 7200 })
  }
  const sameAs = async (collection: string, before: readonly [Buffer, Buffer]): Promise<void> => {
    assert.equal((await exported(copy, collection)).toString(), before[0].toString())
    assert.ok((await exported(copy, collection, 'zip')).equals(before[1]), 'the ZIP file')
    assert.equal(await copy.checksum(collection), await client.checksum(collection))
  }
  /** Both servers could ignore the stated times alike: they are looked for in the first export. */
  const both = async (collection: string): Promise<readonly [Buffer, Buffer]> => {
    const lines = await exported(client, collection)
    const old = linesOf(lines).find(({ contentMd }) => contentMd === '# Ä\r\n%%a%%')
    assert.deepEqual([old?.addedAt, old?.updatedAt], [1, 1_000_000_000])
    return [lines, await exported(client, collection, 'zip')]
  }

  it('round trip: add-batch with keepTimes takes every field of an export, and the next export is byte-equal, NDJSON and ZIP', async () => {
    await fill('by-batch')
    const before = await both('by-batch')
    const documents = linesOf(before[0])
    assert.deepEqual([...new Set(documents.flatMap((document) => Object.keys(document)))].sort(), ['addedAt', 'contentMd', 'expiresAt', 'id', 'key', 'lang', 'meta', 'updatedAt']) // prettier-ignore
    const answer = await copy.post('/v1/add-batch', { collection: 'by-batch', documents, keepTimes: true })
    assert.deepEqual(answer.json(), { added: documents.length, updated: 0, failed: 0, errors: [] })
    await sameAs('by-batch', before)
    assert.equal(
      (await copy.post('/v1/add-batch', { collection: 'by-batch', documents, keepTimes: true })).json().updated,
      documents.length,
    )
    await sameAs('by-batch', before)
    await copy.server.kill()
    copy = await DocumentsClient.start({ directory: copy.server.directory })
    await sameAs('by-batch', before)
  })

  it('round trip: a bulk ingest job with keepTimes does the same', async () => {
    await fill('by-job')
    const before = await both('by-job')
    const { id } = (await copy.post('/v1/bulk-ingest-job', { collection: 'by-job', documents: linesOf(before[0]), keepTimes: true })).json()
    await copy.until(async () => (await copy.server.get(`/v1/bulk-ingest-job/${String(id)}`)).json().status === 'completed', 'the job')
    await sameAs('by-job', before)
  })

  it('round trip: mds import --keep-times does the same, also of many batches', async () => {
    await fill('by-file')
    const many = Array.from({ length: 40 }, (_, at) => ({ key: `m${at}`, lang: 'en', contentMd: `${at}`, addedAt: at, updatedAt: at + 1 }))
    await client.post('/v1/add-batch', { collection: 'by-file', documents: many, keepTimes: true })
    const before = await both('by-file')
    const file = join(folder, 'export.ndjson')
    writeFileSync(file, before[0])
    const args = ['import', file, '-c', 'by-file', '--keep-times', '--batch', '3', '--url', copy.server.url]
    const child = spawn(process.execPath, [BIN, ...args], { env: { ...process.env, XDG_STATE_HOME: folder }, stdio: 'ignore' })
    assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0)
    await sameAs('by-file', before)
  })

  it('export: a ZIP whose temporary file can not be written is 503 and names the reason; NDJSON needs none', async () => {
    await client.add('spooled', 'k')
    // The bulk lane opens the directory at its first request.
    await exported(client, 'spooled')
    const { directory } = client.server
    renameSync(directory, `${directory}-away`)
    try {
      const refused = await client.post('/v1/export', { collection: 'spooled', format: 'zip' })
      assert.equal(summary(refused), '503 {"error":"export failed: the temporary file in the data directory can not be written (ENOENT)"}')
      assert.equal(refused.headers['retry-after'], '5')
      assert.equal(linesOf(await exported(client, 'spooled')).length, 1)
    } finally {
      renameSync(`${directory}-away`, directory)
    }
    assert.ok((await exported(client, 'spooled', 'zip')).length > 0)
  })

  it('add-batch: without keepTimes times are those of the write, but the expiry is taken over: nothing becomes permanent', async () => {
    await fill('plainly')
    const documents = linesOf(await exported(client, 'plainly'))
    const began = now()
    await copy.post('/v1/add-batch', { collection: 'plainly', documents })
    for (const [at, line] of linesOf(await exported(copy, 'plainly')).entries()) {
      const { addedAt, updatedAt, ...rest } = line
      const { addedAt: _added, updatedAt: _updated, ...asked } = documents[at] ?? {}
      assert.deepEqual(rest, asked)
      assert.ok(Number(addedAt) >= began && Number(updatedAt) >= began)
    }
  })

  it('add-batch: expiresAt sets the time of expiry; 0 means none; with a ttl, or out of bounds, it is refused for that document', async () => {
    const c = client.collection()
    const document = { lang: 'en', contentMd: 'walrus' }
    const add = async (fields: Fields, more: Fields = {}): Promise<string> =>
      summary(await client.post('/v1/add-batch', { collection: c, documents: [{ key: 'k', ...document, ...fields }], ...more }))
    assert.match(await add({ expiresAt: now() + 2 }), /"added":1/)
    assert.equal((await client.get(c, 'k'))?.contentMd, 'walrus')
    await client.until(async () => (await client.post('/v1/get', { collection: c, key: 'k', lang: 'en' })).status === 404, 'the expiry')
    assert.match(await add({ key: 'past', expiresAt: 1 }), /"added":1/)
    assert.equal((await client.post('/v1/get', { collection: c, key: 'past', lang: 'en' })).status, 404, 'an export that was kept too long')
    assert.match(await add({ key: 'ever', expiresAt: 0 }), /"added":1/)
    assert.equal((await client.get(c, 'ever'))?.expiresAt, undefined)
    assert.match(await add({ expiresAt: now() + 99, ttl: 0 }), /"added":1/)
    assert.match(await add({ expiresAt: now() + 99, ttl: 5 }), /invalid expiresAt: ttl is given, too/)
    for (const expiresAt of [-1, 0.5, '9', 1e300, true, {}])
      assert.match(await add({ expiresAt }), /invalid expiresAt/, JSON.stringify(expiresAt))
    for (const time of [-1, 0.5, '9', 4_294_967_296, 1e300]) {
      assert.match(await add({ addedAt: time }, { keepTimes: true }), /invalid addedAt/, String(time))
      assert.match(await add({ updatedAt: time }, { keepTimes: true }), /invalid updatedAt/, String(time))
      assert.match(await add({ addedAt: time, updatedAt: time }), /"updated":1/, 'not looked at without keepTimes')
    }
    assert.match(await add({}, { keepTimes: 'yes' }), /^400 .*invalid keepTimes/)
  })

  it('add-batch: with keepTimes an older updatedAt does not go behind the state that is there, so that past states are found', async () => {
    const c = client.collection()
    const write = (contentMd: string, updatedAt: number): Promise<unknown> =>
      client.post('/v1/add-batch', {
        collection: c,
        keepTimes: true,
        documents: [{ key: 'k', lang: 'en', contentMd, addedAt: 7, updatedAt }],
      })
    await write('first', 1000)
    await write('second', 2000)
    await write('third', 500)
    assert.deepEqual([(await client.get(c, 'k'))?.updatedAt, (await client.get(c, 'k'))?.addedAt], [2000, 7])
    assert.deepEqual((await client.revisions(c, 'k')).map(({ timestamp }) => timestamp), [2000, 2000, 1000]) // prettier-ignore
    const asOf = async (second: number): Promise<unknown> => (await client.post('/v1/get', { collection: c, key: 'k', lang: 'en', asOf: second })).json().contentMd // prettier-ignore
    assert.deepEqual([await asOf(1500), await asOf(2000)], ['first', 'third'])
  })
})
