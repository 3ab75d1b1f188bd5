/**
 * Encryption at rest, over HTTP and in every file: docs/decisions/store/encryption.md.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openEnvironment } from '../../../src/store/environment.js'
import { untilAsked } from '../../harness/process/until.js'
import { runToEnd, type Server, startServer } from '../../harness/server/server.js'
import { collectionOf, sharedServer } from '../../harness/server/shared_server.js'

const KEY = randomBytes(32).toString('base64')
const OTHER_KEY = randomBytes(32).toString('base64')

/** Unique words in content, metadata, keys and settings, and in overwritten or deleted data. */
const CANARY = /zebrafink|kormoran|pirol|wiedehopf|stieglitz|eisvogel|gimpel|neuntoeter/i

/** Files of the data directory that contain a canary in any of the usual text encodings. */
async function filesWithCanaries(directory: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path)
    if (CANARY.test(bytes.toString('latin1')) || CANARY.test(bytes.toString('utf16le'))) found.push(path.slice(directory.length + 1))
  }
  return found
}

interface Job {
  readonly id: string
  readonly status: string
  readonly primaryKeyID: number
  readonly startedAt: number
  readonly finishedAt: number
  readonly scanned: number
  readonly reencrypted: number
  readonly skipped: number
  readonly errors: number
}

interface Counts {
  readonly collection: string
  readonly [count: string]: unknown
}

interface Hit {
  readonly document: { readonly key: string }
}

const summaryOf = ({ status, text }: { readonly status: number; readonly text: string }): string => `${status} ${text}`

class Client {
  server!: Server
  directory = ''
  async start(env: Record<string, string | undefined> = {}): Promise<void> {
    if (this.directory === '') this.directory = await mkdtemp(join(tmpdir(), 'mds-sealed-'))
    this.server = await startServer({ directory: this.directory, env: { SVC_ENCRYPTION_KEY: KEY, SVC_SPELL: 'true', ...env } })
  }

  async restart(env: Record<string, string | undefined> = {}): Promise<void> {
    await this.server.stop()
    await this.start(env)
  }

  async end(): Promise<void> {
    await this.server.stop()
    await rm(this.directory, { recursive: true, force: true })
  }

  async ok<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.server.request(method, path, body)
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`)
    return answer.json<T>()
  }

  post = <T = Record<string, unknown>>(path: string, body: unknown): Promise<T> => this.ok<T>('POST', path, body)

  encrypt = (collection: string, encrypted = true): Promise<unknown> => this.ok('PUT', '/v1/collection-config', { collection, encrypted })

  add = (collection: string, key: string, contentMd: string, meta: Record<string, string[]> = {}): Promise<Record<string, unknown>> =>
    this.post('/v1/add', { collection, key, lang: 'en', contentMd, meta })

  /** Polls until the end of a bulk ingest. */
  async ingested(id: string): Promise<{ readonly status: string; readonly failed: number; readonly errors?: readonly string[] }> {
    const job = (): Promise<{ status: string; failed: number; errors?: string[] }> => this.ok('GET', `/v1/bulk-ingest-job/${id}`)
    return untilAsked(job, ({ status }) => status === 'completed' || status === 'failed')
  }

  /** Polls until the end of a rotation. */
  async rotated(id: string): Promise<Job> {
    const job = (): Promise<Job> => this.ok<Job>('GET', `/v1/encryption/jobs/${id}`)
    return untilAsked(job, ({ status }) => status === 'completed' || status === 'failed')
  }

  async counts(collection: string): Promise<Counts | undefined> {
    const { collections } = await this.ok<{ collections: Counts[] }>('GET', '/v1/encryption/status')
    return collections.find((counts) => counts.collection === collection)
  }

  async found(collection: string, query: string, more: Record<string, unknown> = {}): Promise<string[]> {
    const { results } = await this.post<{ results: Hit[] }>('/v1/fts', { collection, query, ...more })
    return results.map(({ document }) => document.key).sort()
  }
}

describe('encryption at rest', () => {
  const client = new Client()
  before(() => client.start())
  after(() => client.end())

  it('no plaintext of an encrypted collection is in any file, while every kind of request is answered', async () => {
    await client.encrypt('vault')
    await client.ok('PUT', '/v1/collection-config', { collection: 'vault', description: 'all about the Wiedehopf', maxRevisions: 0 })
    await client.add('vault', 'birds/Zebrafink', 'The kormoran dives. The kormoran eats fish.', { kind: ['pirol'], year: ['1999'] })
    await client.add('vault', 'birds/gimpel', `A long text of ${'the stieglitz sings and '.repeat(800)}`, {
      kind: ['finch'],
      year: ['2004'],
    })
    await client.add('vault', 'gone', 'eisvogel', { kind: ['eisvogel'] })
    await client.add('vault', 'birds/Zebrafink', 'The kormoran rests near the eisvogel.', { kind: ['pirol'], year: ['2001'] })
    await client.add('vault', 'BIRDS/zebrafink', 'The kormoran swims near the eisvogel.', { kind: ['pirol'], year: ['2001'] })
    await client.post('/v1/delete', { collection: 'vault', key: 'gone', lang: 'en' })
    await client.post('/v1/synonyms', { collection: 'vault', term: 'neuntoeter', synonyms: ['kormoran'] })
    await client.post('/v1/stopwords', { collection: 'vault', words: ['wiedehopf'] })

    const ask = async (): Promise<void> => {
      const get = await client.post<{ contentMd: string }>('/v1/get', { collection: 'vault', key: 'birds/Zebrafink', lang: 'en' })
      assert.equal(get.contentMd, 'The kormoran swims near the eisvogel.')
      assert.equal((await client.server.post('/v1/get', { collection: 'vault', key: 'birds/zebrafink', lang: 'en' })).status, 404)
      assert.equal((await client.server.post('/v1/get', { collection: 'vault', key: 'gone', lang: 'en' })).status, 404)
      assert.deepEqual(await client.found('vault', 'kormoran'), ['BIRDS/zebrafink'])
      assert.deepEqual(await client.found('vault', 'neuntoeter'), ['BIRDS/zebrafink'], 'synonyms')
      assert.deepEqual(await client.found('vault', '"stieglitz sings"', { mode: 'phrase' }), ['birds/gimpel'])
      assert.deepEqual(await client.found('vault', 'stiegl*', { mode: 'wildcard' }), ['birds/gimpel'])
      assert.deepEqual(await client.found('vault', 'kormorann', { fuzzy: 1 }), ['BIRDS/zebrafink'])
      const search = await client.post<Hit['document'][]>('/v1/search', { collection: 'vault', filterMeta: { kind: ['pirol'] } })
      assert.deepEqual(
        search.map(({ key }) => key),
        ['BIRDS/zebrafink'],
      )
      const revisions = await client.post<{ revisions: unknown[] }>('/v1/revisions', {
        collection: 'vault',
        key: 'BIRDS/zebrafink',
        lang: 'en',
      })
      assert.equal(revisions.revisions.length, 3)
    }
    await ask()
    assert.deepEqual(await filesWithCanaries(client.directory), [])
    await client.restart()
    await ask()
    assert.deepEqual(await filesWithCanaries(client.directory), [])
    await client.server.kill()
    await client.start()
    await ask()
    assert.deepEqual(await filesWithCanaries(client.directory), [])
  })

  it('documents of an encrypted collection that a bulk ingest refuses are named by their index in the request and quoted in no file', async () => {
    await client.encrypt('vault')
    await client.post('/v1/schema/set', { collection: 'vault', schema: { properties: { kind: { enum: ['finch'] } } } })
    const documents = [
      { key: 'refused/zebrafink', lang: 'en', contentMd: 'kormoran', meta: { kind: ['pirol'] } },
      { key: 'refused/gimpel', lang: 'en', contentMd: 'kormoran', meta: { eisvogel: 'no list' } },
      { key: 'refused/stieglitz', lang: 'en', contentMd: 'kormoran', ttl: -1 },
    ]
    const submitted = await client.server.post('/v1/bulk-ingest-job', { collection: 'vault', documents })
    const job = await client.ingested(submitted.json<{ id: string }>().id)
    assert.deepEqual([job.status, job.failed], ['failed', 3])
    assert.deepEqual(job.errors, ['documents[0]: schema validation failed', 'documents[1]: invalid meta', 'documents[2]: invalid ttl'])
    assert.deepEqual(await filesWithCanaries(client.directory), [])
    await client.post('/v1/schema/delete', { collection: 'vault' })
  })

  it('an unencrypted collection beside it is found as plaintext in the files, so the search through the files works', async () => {
    await client.add('open', 'doc', 'neuntoeter')
    assert.deepEqual(await filesWithCanaries(client.directory), ['gen-000001/truth.mdb'])
    await client.post('/v1/delete-collection', { collection: 'open' })
  })

  it('credentials of a configuration are never stored as plaintext, in any collection, and work after a restart', async () => {
    const storage = { endpoint: 'https://s3.example', bucket: 'b', accessKey: 'a', secretKey: 'neuntoeter-wiedehopf-secret' }
    await client.ok('PUT', '/v1/collection-config', {
      collection: 'plain',
      storageConfig: storage,
      cms: { url: 'https://c.example', apiKey: 'wiedehopf-cms' },
    })
    const secret = /wiedehopf-secret|wiedehopf-cms/
    const bytes = await readFile(join(client.directory, 'gen-000001', 'truth.mdb'))
    assert.doesNotMatch(bytes.toString('latin1'), secret)
    await client.restart()
    const { config } = await client.ok<{ config: { storageConfig: Record<string, unknown>; cms: Record<string, unknown> } }>(
      'GET',
      '/v1/collection-config?collection=plain',
    )
    assert.equal(config.storageConfig.secretKeySet, true)
    assert.equal(config.cms.apiKeySet, true)
  })

  it('a start without the key, with another key or an invalid one is refused in one line that does not show it', async () => {
    await client.server.stop()
    const refused = async (env: Record<string, string | undefined>, expected: RegExp): Promise<void> => {
      const { code, output } = await runToEnd({ directory: client.directory, env })
      assert.equal(code, 2, output)
      assert.match(output, expected)
      for (const value of Object.values(env))
        if (value !== undefined && value.length > 8) assert.ok(!output.includes(value), 'shows the key')
    }
    await refused({}, /collection vault is encrypted and SVC_ENCRYPTION_KEY is not set/)
    await refused({ SVC_ENCRYPTION_KEY: OTHER_KEY }, /encryption key with id 1 is not the one/)
    await refused({ SVC_ENCRYPTION_KEY: OTHER_KEY, SVC_ENCRYPTION_KEY_ID: '2' }, /collection vault has data under encryption key id 1/)
    await refused(
      { SVC_ENCRYPTION_KEY: 'c2hvcnRlciB0aGFuIDMyIGJ5dGVz' },
      /SVC_ENCRYPTION_KEY: base64 of 32 bytes expected, and this is of 21/,
    )
    await refused({ SVC_ENCRYPTION_KEY: 'not base64 at all!' }, /SVC_ENCRYPTION_KEY: base64 of 32 bytes expected, and this is not base64/)
    await refused({ SVC_ENCRYPTION_KEY: KEY, SVC_ENCRYPTION_KEY_ID: '256' }, /SVC_ENCRYPTION_KEY_ID: a whole number from 1 to 255/)
    await client.start()
  })

  it('a start that has lost the key of stored credentials says so in one line, and serves', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-credentials-'))
    try {
      let server = await startServer({ directory })
      const config = { collection: 'shop', cms: { url: 'https://cms.example', apiKey: 'cms-secret' } }
      assert.equal((await server.request('PUT', '/v1/collection-config', config)).status, 200)
      assert.equal(await server.stop(), 0)
      server = await startServer({ directory })
      assert.doesNotMatch(server.output(), /credentials in the configuration/)
      assert.equal(await server.stop(), 0)
      rmSync(join(directory, 'secrets.key'))
      server = await startServer({ directory })
      assert.match(
        server.output(),
        /^\S+Z (?:warn|error) the credentials in the configuration of shop can't be opened: .* the file secrets\.key, which is missing/m,
      )
      assert.ok(!existsSync(join(directory, 'secrets.key')), 'no key is made that would hide what is missing')
      assert.equal((await server.post('/v1/add', { collection: 'other', key: 'k', lang: 'en', contentMd: 'x' })).status, 200)
      assert.equal(await server.stop(), 0)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('a restore reports the missing key and leaves the served store unchanged', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-keys-'))
    try {
      const get = async (): Promise<number> => (await server.post('/v1/get', { collection: 'vault', key: 'k', lang: 'en' })).status
      const restored = async (): Promise<string> => summaryOf(await server.post('/v1/restore', { from: 'old.db' }))
      let server = await startServer({ directory, env: { SVC_ENCRYPTION_KEY: KEY } })
      await server.request('PUT', '/v1/collection-config', { collection: 'vault', encrypted: true })
      await server.post('/v1/add', { collection: 'vault', key: 'k', lang: 'en', contentMd: 'x' })
      assert.equal((await server.get('/v1/backup?to=old.db')).status, 200)
      await server.post('/v1/delete-collection', { collection: 'vault' })
      assert.equal(await server.stop(), 0)
      const backup = 'restore failed: backup old.db is unreadable: '
      for (const [env, reason] of [
        [{}, 'collection vault is encrypted and SVC_ENCRYPTION_KEY is not set'],
        [
          SECOND_KEY,
          'collection vault has data under encryption key id 1, which neither SVC_ENCRYPTION_KEY_ID nor SVC_ENCRYPTION_KEYS_PREVIOUS names',
        ],
        [{ SVC_ENCRYPTION_KEY: OTHER_KEY }, 'the encryption key with id 1 is not the one that this data was encrypted with'],
      ] as const) {
        server = await startServer({ directory, env })
        assert.equal(await restored(), `500 {"error":"${backup}${reason}"}`)
        assert.equal(await get(), 404)
        assert.equal(await server.stop(), 0)
      }
      server = await startServer({ directory, env: { SVC_ENCRYPTION_KEY: KEY } })
      assert.equal(await restored(), '200 {"restored":"old.db"}')
      assert.equal(await get(), 200)
      assert.equal(await server.stop(), 0)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('without a key a collection cannot be encrypted', async () => {
    const bare = await sharedServer()
    const answer = await bare.request('PUT', '/v1/collection-config', { collection: collectionOf('vault'), encrypted: true })
    assert.match(summaryOf(answer), /^400 {"error":"invalid encrypted: SVC_ENCRYPTION_KEY is not set"/)
    await bare.stop()
  })
})

const SECOND_KEY = { SVC_ENCRYPTION_KEY: OTHER_KEY, SVC_ENCRYPTION_KEY_ID: '2' }
const BOTH_KEYS = { ...SECOND_KEY, SVC_ENCRYPTION_KEYS_PREVIOUS: JSON.stringify([{ id: 1, key: KEY }]) }
/** The second key is primary again; the first returns under another id. */
const SECOND_KEY_LAST = { ...SECOND_KEY, SVC_ENCRYPTION_KEYS_PREVIOUS: JSON.stringify([{ id: 3, key: KEY }]) }
const DOCUMENTS = 1_200

describe('rotation of keys', () => {
  const client = new Client()
  before(async () => {
    await client.start()
    for (let batch = 0; batch < 4; batch++) {
      const documents = Array.from({ length: DOCUMENTS / 4 }, (_, at) => {
        const number = batch * (DOCUMENTS / 4) + at
        return { key: `Gimpel/${number}`, lang: 'en', contentMd: `kormoran number${number}`, meta: { kind: [`pirol${number % 7}`] } }
      })
      await client.post('/v1/add-batch', { collection: 'birds', documents })
    }
    await client.add('birds', 'gimpel/0', 'kormoran again', {})
    await client.post('/v1/synonyms', { collection: 'birds', term: 'neuntoeter', synonyms: ['kormoran'] })
    await client.add('other', 'doc', 'nothing of note')
  })
  after(() => client.end())

  const complete = async (): Promise<void> => {
    assert.deepEqual(await client.found('birds', 'number777'), ['Gimpel/777'])
    assert.deepEqual(await client.found('birds', 'again'), ['gimpel/0'])
    for (const number of [0, 1, DOCUMENTS - 1]) {
      const { meta } = await client.post<{ meta: Record<string, string[]> }>('/v1/get', {
        collection: 'birds',
        key: `Gimpel/${number}`,
        lang: 'en',
      })
      assert.deepEqual(meta, number === 0 ? {} : { kind: [`pirol${number % 7}`] })
    }
    const { total } = await client.post<{ total: number }>('/v1/fts', { collection: 'birds', query: 'kormoran', limit: 5_000 })
    assert.equal(total, DOCUMENTS)
  }

  it('status counts plaintext rows and rows under the primary and previous keys; turning encryption on seals later writes', async () => {
    const none = { withPrimary: 0, withLegacy: 0, plaintext: 0, unknownKey: 0 }
    assert.deepEqual(await client.counts('birds'), {
      collection: 'birds',
      encrypted: false,
      total: DOCUMENTS + 1,
      ...none,
      plaintext: DOCUMENTS + 1,
    })
    await client.encrypt('birds')
    await client.add('birds', 'new', 'kormoran new')
    await client.post('/v1/delete', { collection: 'birds', key: 'new', lang: 'en' })
    await client.add('birds', 'gimpel/0', 'kormoran again')
    assert.deepEqual(await client.counts('birds'), {
      collection: 'birds', encrypted: true, total: DOCUMENTS + 2, ...none, plaintext: DOCUMENTS + 1, withPrimary: 1,
    }) // prettier-ignore
    await complete()
  })

  it('rotate seals plaintext rows; a second request returns the running job; after a restart no file contains plaintext', async () => {
    await client.encrypt('birds').then(() => client.add('birds', 'gimpel/0', 'kormoran again'))
    const job = await client.post<Job>('/v1/encryption/rotate', {})
    assert.match(job.id, /^rot-[0-9a-f]{16}$/)
    assert.deepEqual([job.status, job.finishedAt], ['queued', 0])
    assert.equal((await client.post<Job>('/v1/encryption/rotate', { collection: 'birds' })).id, job.id, 'single flight')
    const done = await client.rotated(job.id)
    assert.deepEqual([done.status, done.errors, done.primaryKeyID], ['completed', 0, 1], JSON.stringify(done))
    assert.equal(done.scanned, done.reencrypted + done.skipped)
    assert.ok(done.reencrypted >= 3 * DOCUMENTS, JSON.stringify(done))
    assert.ok(done.finishedAt >= done.startedAt && done.startedAt > 1.7e18, 'nanoseconds')
    assert.equal((await client.counts('birds'))?.plaintext, 0)
    await complete()
    await client.restart()
    await complete()
    assert.deepEqual(await filesWithCanaries(client.directory), [])
  })

  it('a rotation to another key goes on after kill -9 while documents are read and written; then the old key is not needed', async () => {
    await client.restart(BOTH_KEYS)
    assert.equal((await client.counts('birds'))?.withLegacy, (await client.counts('birds'))?.total)
    const { id } = await client.post<Job>('/v1/encryption/rotate', { collection: '' })
    const job = (): Promise<Job> => client.ok<Job>('GET', `/v1/encryption/jobs/${id}`)
    for (let round = 0; round < 3; round++) {
      const { scanned } = await job()
      for (let now = await job(); now.scanned < scanned + 600 && now.status !== 'completed'; now = await job()) {
        if (now.scanned > 0) assert.equal(now.status, 'running')
        await client.add('birds', `during/${round}`, 'wiedehopf')
        await complete()
      }
      await client.server.kill()
      await client.start(BOTH_KEYS)
    }
    const done = await client.rotated(id)
    assert.deepEqual([done.status, done.errors], ['completed', 0], JSON.stringify(done))
    assert.equal((await client.counts('birds'))?.withLegacy, 0)
    await client.restart(SECOND_KEY)
    await complete()
    assert.deepEqual(await client.found('birds', 'wiedehopf'), ['during/0', 'during/1', 'during/2'])
    assert.deepEqual(await filesWithCanaries(client.directory), [])
    const { jobs } = await client.ok<{ jobs: Job[] }>('GET', '/v1/encryption/jobs')
    assert.deepEqual([jobs.length, jobs[0]?.id], [2, id], 'newest first')
  })

  it('a rotation that meets a damaged row fails with its name, and leaves the row and the old key’s use as they are', async () => {
    await client.server.stop()
    const environment = openEnvironment(join(client.directory, 'gen-000001'))
    const [row] = [...environment.heads.getRange({ limit: 1 })]
    assert.ok(row !== undefined)
    const [key, whole] = [Buffer.from(row.key), Buffer.from(row.value)]
    const damaged = Buffer.from(whole)
    damaged[60] = (damaged[60] as number) ^ 1
    environment.root.transactionSync(() => void environment.heads.put(key, damaged))
    await environment.root.close()
    await client.start({
      SVC_ENCRYPTION_KEY: KEY,
      SVC_ENCRYPTION_KEY_ID: '3',
      SVC_ENCRYPTION_KEYS_PREVIOUS: JSON.stringify([{ id: 2, key: OTHER_KEY }]),
    })
    const { id } = await client.post<Job>('/v1/encryption/rotate', {})
    const done = await client.rotated(id)
    assert.deepEqual([done.status, done.errors], ['failed', 1], JSON.stringify(done))
    assert.match(String((done as { lastError?: string }).lastError), /^corrupt record state [0-9a-f]{16}: its seal \(key id 2\) is broken/)
    assert.equal((await client.counts('birds'))?.withLegacy, 1)
    await client.server.stop()
    const { output } = await runToEnd({ directory: client.directory, env: { SVC_ENCRYPTION_KEY: KEY, SVC_ENCRYPTION_KEY_ID: '3' } })
    assert.match(output, /collection birds has data under encryption key id 2/)
    const repaired = openEnvironment(join(client.directory, 'gen-000001'))
    repaired.root.transactionSync(() => void repaired.heads.put(key, whole))
    await repaired.root.close()
    await client.start(SECOND_KEY_LAST)
    const again = await client.post<Job>('/v1/encryption/rotate', {})
    assert.equal((await client.rotated(again.id)).status, 'completed')
    await complete()
  })

  it('encryption that was switched off: new rows are plaintext, a rotation decrypts the others, and the server starts without a key', async () => {
    await client.encrypt('birds', false)
    const { id } = await client.post<Job>('/v1/encryption/rotate', {})
    const done = await client.rotated(id)
    assert.deepEqual([done.status, done.errors], ['completed', 0], JSON.stringify(done))
    const counts = await client.counts('birds')
    assert.equal(counts?.plaintext, counts?.total)
    await client.restart({ SVC_ENCRYPTION_KEY: undefined })
    await complete()
    assert.notDeepEqual(await filesWithCanaries(client.directory), [])
  })

  it('without a key: status says so, a rotation is refused, there are no jobs', async () => {
    const status = await client.ok<Record<string, unknown>>('GET', '/v1/encryption/status')
    assert.deepEqual([status.enabled, status.primaryKeyID, status.previousKeyIDs], [false, 0, []])
    const rotate = await client.server.post('/v1/encryption/rotate', {})
    assert.equal(`${rotate.status} ${rotate.text}`, '400 {"error":"encryption not configured"}')
    const jobs = await client.server.get('/v1/encryption/jobs')
    assert.equal(`${jobs.status} ${jobs.text}`, '404 {"error":"encryption not configured"}')
    await client.restart({ SVC_MODE: 'read' })
    const unknown = await client.server.get('/v1/encryption/jobs/rot-0')
    assert.equal(`${unknown.status} ${unknown.text}`, '404 {"error":"not found"}')
    assert.equal((await client.server.post('/v1/encryption/rotate', {})).status, 403)
  })
})
