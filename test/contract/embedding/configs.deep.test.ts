/**
 * Stored embedding configurations through the real server: shapes, statuses, the default, and the places that
 * must not contain keys.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { EMBEDDING_CONFIGS_MAX } from '../../../src/domain/settings/embedding_configs.js'
import { withoutHint } from '../../harness/clients/documents_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const KEY = 'sk-a-key-that-nobody-may-see'
const PATH = '/v1/embedding-configs'
const DRAFT = { id: 'one', name: 'One', provider: 'openai', model: 'text-embedding-3-small', dimensions: 1536 }

const NONE = { enabled: false, provider: 'none', model: '', dimensions: 0, apiUrl: '' }

describe('embedding configurations', () => {
  let server: Server
  before(async () => {
    server = await startServer()
  })
  after(() => server.stop())

  async function answerOf(method: string, path: string, body?: unknown): Promise<string> {
    const { status, text } = await server.request(method, path, body)
    return `${status} ${withoutHint(text)}`
  }
  const get = async (id: string): Promise<Record<string, unknown>> => (await server.get(`${PATH}/${encodeURIComponent(id)}`)).json()
  const list = async (): Promise<Record<string, unknown>[]> =>
    (await server.get(PATH)).json<{ configs: Record<string, unknown>[] }>().configs

  it('embedding config: POST answers 201 with the configuration, its key masked; GET gives it, alone and in the list', async () => {
    assert.deepEqual(await list(), [])
    const made = await server.post(PATH, { ...DRAFT, apiKey: KEY })
    assert.equal(made.status, 201)
    const { createdAt, ...shown } = made.json()
    assert.ok(Math.abs(Number(createdAt) - Date.now() / 1000) < 60)
    assert.deepEqual(shown, { ...DRAFT, apiUrl: '', apiKey: '', apiKeySet: true, isDefault: false })
    assert.deepEqual(await get('one'), made.json())
    assert.deepEqual(await list(), [made.json()])
  })

  it('embedding config: id, name, provider, model and dimensions are required, and nothing that could not work is stored', async () => {
    for (const field of Object.keys(DRAFT)) {
      const body = Object.fromEntries(Object.entries({ ...DRAFT, id: 'other' }).filter(([name]) => name !== field))
      assert.equal(await answerOf('POST', PATH, body), '400 {"error":"missing fields"}', field)
    }
    const post = (over: object): Promise<string> => answerOf('POST', PATH, { ...DRAFT, id: 'other', ...over })
    assert.match(await post({ provider: 'acme' }), /^400 .*invalid provider: must be one of openai, ollama, voyage, cohere, local/)
    assert.match(await post({ dimensions: 0 }), /^400 .*invalid dimensions/)
    assert.match(await post({ dimensions: 1e6 }), /^400 .*invalid dimensions: must be from 1 to 8192/)
    assert.match(await post({ dimensions: 'many' }), /^400 .*invalid dimensions/)
    assert.match(await post({ model: 'two words' }), /^400 .*invalid model/)
    assert.match(await post({ apiUrl: 'file:///etc/passwd' }), /^400 .*invalid apiUrl/)
    assert.match(await post({ apiUrl: 'https://user:word@a.example' }), /^400 .*invalid apiUrl: must not hold credentials/)
    assert.match(await post({ apiKey: 'a\r\nb' }), /^400 .*invalid apiKey/)
    for (const id of ['set-default', '.', '..', 'a/b']) assert.match(await post({ id }), /^400 .*invalid id/)
    assert.match(await post({ id: 'x'.repeat(129) }), /^400 .*invalid id: 129 bytes, at most 128/)
    assert.match(await post({ name: 'x'.repeat(257) }), /^400 .*invalid name: 257 bytes, at most 256/)
    assert.equal(await answerOf('POST', PATH, DRAFT), '409 {"error":"embedding config already exists"}')
    assert.equal((await list()).length, 1)
  })

  it('embedding config: PUT changes the named fields; an empty key keeps the stored one, null removes it', async () => {
    const put = (body: object): Promise<string> => answerOf('PUT', `${PATH}/one`, body)
    const before = await get('one')
    assert.equal(await put({ name: 'Uno', apiKey: '' }), `200 ${JSON.stringify({ ...before, name: 'Uno' })}`)
    assert.equal((await get('one')).apiKeySet, true)
    assert.match(await put({ apiKey: null, dimensions: 512 }), /"dimensions":512.*"apiKeySet":false/)
    assert.match(await put({ apiKey: KEY }), /"apiKeySet":true/)
    assert.match(await put({ dimensions: -1 }), /^400 /)
    assert.equal(await answerOf('PUT', `${PATH}/none`, { name: 'x' }), '404 {"error":"not found"}')
  })

  it('embedding config: a stored key is not sent to another address than it was given for', async () => {
    await server.post(PATH, { ...DRAFT, apiKey: KEY })
    const put = (body: object): Promise<string> => answerOf('PUT', `${PATH}/one`, body)
    assert.equal(
      await put({ apiUrl: 'https://elsewhere.example' }),
      '400 {"error":"apiKey is needed again with another provider or apiUrl"}',
    )
    assert.match(await put({ provider: 'voyage' }), /^400 /)
    assert.match(await put({ apiUrl: 'https://api.openai.com/v1/' }), /^200 /)
    assert.match(await put({ apiUrl: 'https://elsewhere.example', apiKey: 'another' }), /^200 /)
    assert.match(await put({ apiUrl: '', apiKey: KEY }), /^200 /)
  })

  it('embedding config: set-default, and the default can not be deleted; others are, with 204', async () => {
    await server.post(PATH, DRAFT)
    await server.post(PATH, { ...DRAFT, id: 'two', isDefault: true })
    assert.deepEqual((await list()).map(({ id, isDefault }) => [id, isDefault]), [['one', false], ['two', true]]) // prettier-ignore
    assert.equal(await answerOf('POST', `${PATH}/set-default`, { id: 'one' }), '200 {"message":"default config updated"}')
    assert.deepEqual((await list()).map(({ isDefault }) => isDefault), [true, false]) // prettier-ignore
    assert.equal(await answerOf('POST', `${PATH}/set-default`, { id: 'none' }), '404 {"error":"not found"}')
    assert.equal(await answerOf('POST', `${PATH}/set-default`, {}), '400 {"error":"missing fields"}')
    assert.equal(await answerOf('DELETE', `${PATH}/one`), '400 {"error":"cannot delete the default embedding config"}')
    assert.equal(await answerOf('DELETE', `${PATH}/two`), '204 ')
    assert.equal(await answerOf('DELETE', `${PATH}/two`), '404 {"error":"not found"}')
    assert.equal(await answerOf('GET', `${PATH}/two`), '404 {"error":"not found"}')
    assert.match(await answerOf('PUT', `${PATH}/one`, { isDefault: false }), /"isDefault":false/)
    assert.equal(await answerOf('DELETE', `${PATH}/one`), '204 ')
    assert.deepEqual(await list(), [])
  })

  it('embedding config: there are at most so many', async () => {
    for (let n = 0; n < EMBEDDING_CONFIGS_MAX; n++) assert.equal((await server.post(PATH, { ...DRAFT, id: `n${n}` })).status, 201)
    assert.match(await answerOf('POST', PATH, DRAFT), /^400 .*too many embedding configurations: at most 64/)
    for (let n = 0; n < EMBEDDING_CONFIGS_MAX; n++) await server.request('DELETE', `${PATH}/n${n}`)
  })

  it('embedding config: the key is in no file, no answer and no line of the log; it survives a restart, and a lost key file', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-embedding-'))
    const options = { directory }
    const first = await startServer(options)
    await first.post(PATH, { ...DRAFT, apiKey: KEY, isDefault: true })
    const shown = await Promise.all(['/v1/config', PATH, `${PATH}/one`, '/v1/stats', '/metrics'].map((path) => first.get(path)))
    for (const { status, text } of shown) assert.ok(status === 200 && !text.includes(KEY), text)
    await first.stop()
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    assert.ok(files.length > 1)
    for (const file of files) assert.ok(!readFileSync(join(file.parentPath, file.name)).includes(KEY), file.name)
    const second = await startServer(options)
    const [config] = (await second.get(PATH)).json<{ configs: Record<string, unknown>[] }>().configs
    assert.deepEqual([config?.apiKeySet, config?.isDefault], [true, true])
    await second.stop()
    rmSync(join(directory, 'secrets.key'))
    const third = await startServer(options)
    assert.equal((await third.get(PATH)).status, 200)
    assert.match(third.output(), /credentials .* embedding providers\) can't be opened/)
    assert.equal((await third.request('PUT', `${PATH}/one`, { apiKey: KEY })).status, 200)
    await third.stop()
    assert.ok(![first, second, third].some((each) => each.output().includes(KEY)))
    rmSync(directory, { recursive: true })
  })

  it('embedding config: the default is the active provider once set-default has answered, instead of the options, and after a restart', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-embedding-'))
    const env = { SVC_EMBEDDING_PROVIDER: 'openai', SVC_EMBEDDING_API_KEY: KEY, SVC_EMBEDDING_API_URL: 'http://127.0.0.1:9/v1/' }
    const openai = { enabled: true, provider: 'openai', model: 'text-embedding-3-small', dimensions: 1536, apiUrl: 'http://127.0.0.1:9/v1' }
    const ollama = { enabled: true, provider: 'ollama', model: 'all-minilm', dimensions: 384, apiUrl: 'http://localhost:11434' }
    const first = await startServer({ directory, env })
    const active = async (of: Server): Promise<unknown> => (await of.get('/v1/config')).json<{ vectorConfig: unknown }>().vectorConfig
    assert.deepEqual(await active(first), openai)
    await first.post(PATH, { id: 'local', name: 'Local', provider: 'ollama', model: 'all-minilm', dimensions: 384 })
    assert.deepEqual(await active(first), openai)
    await first.post(`${PATH}/set-default`, { id: 'local' })
    assert.deepEqual(await active(first), ollama)
    assert.match((await first.get('/metrics')).text, /^mddb_embedding_provider_configured 1$/m)
    await first.request('PUT', `${PATH}/local`, { dimensions: 200 })
    assert.deepEqual(await active(first), { ...ollama, dimensions: 200 })
    await first.stop()
    const second = await startServer({ directory, env })
    assert.deepEqual(await active(second), { ...ollama, dimensions: 200 })
    await second.request('PUT', `${PATH}/local`, { isDefault: false })
    assert.deepEqual(await active(second), openai)
    await second.post(PATH, { ...DRAFT, isDefault: true })
    assert.deepEqual(await active(second), { ...openai, enabled: false, apiUrl: 'https://api.openai.com/v1' })
    assert.match(second.output(), /has no API key, which openai needs/)
    await second.stop()
    assert.ok(![first, second].some((each) => each.output().includes(KEY)))
    rmSync(directory, { recursive: true })
  })

  it('embedding config: the key goes along with a rotation of the encryption keys', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-embedding-'))
    const [old, next] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string]
    const renewed = { SVC_ENCRYPTION_KEY: next, SVC_ENCRYPTION_KEY_ID: '2' }
    const first = await startServer({ directory, env: { SVC_ENCRYPTION_KEY: old } })
    await first.post(PATH, { ...DRAFT, apiKey: KEY, isDefault: true })
    await first.stop()
    const second = await startServer({ directory, env: { ...renewed, SVC_ENCRYPTION_KEYS_PREVIOUS: `[{"id":1,"key":"${old}"}]` } })
    const { id } = (await second.post('/v1/encryption/rotate', {})).json<{ id: string }>()
    const status = async (): Promise<string> => (await second.get(`/v1/encryption/jobs/${id}`)).json<{ status: string }>().status
    assert.equal(await untilAsked(status, (now) => now === 'completed' || now === 'failed'), 'completed')
    await second.stop()
    const third = await startServer({ directory, env: renewed })
    assert.match((await third.get('/v1/config')).text, /"vectorConfig":\{"enabled":true,"provider":"openai"/)
    await third.stop()
    rmSync(directory, { recursive: true })
  })

  it('embedding config: after a restore the default of the restored store is the active provider', async () => {
    const backed = await startServer()
    const active = async (): Promise<unknown> => (await backed.get('/v1/config')).json<{ vectorConfig: unknown }>().vectorConfig
    assert.deepEqual(await active(), NONE)
    await backed.post(PATH, { id: 'local', name: 'Local', provider: 'ollama', model: 'all-minilm', dimensions: 384, isDefault: true })
    const { to } = (await backed.get('/v1/backup?to=with-default.db')).json<{ to?: string; backup?: string }>()
    await backed.request('PUT', `${PATH}/local`, { isDefault: false })
    assert.deepEqual(await active(), NONE)
    const restored = await backed.post('/v1/restore', { from: to ?? 'with-default.db' })
    assert.equal(restored.status, 200, restored.text)
    await untilAsked(active, (now) => JSON.stringify(now) !== JSON.stringify(NONE))
    assert.match(JSON.stringify(await active()), /"provider":"ollama"/)
    await backed.stop()
  })

  it('SVC_EMBEDDING_AUTODETECT: a local Ollama is the provider where nothing is configured, and only there', async (test) => {
    const ollama = await EmbeddingServer.start(11_434).catch(() => undefined)
    if (ollama === undefined) {
      test.skip('PORT 11434 IS TAKEN: an Ollama runs on this machine')
      return
    }
    test.after(() => ollama.stop())
    ollama.ollamaModels = ['all-minilm:latest']
    const servedBy = async (env: Record<string, string | undefined>, wanted: string): Promise<Server> => {
      const started = await startServer({ env })
      test.after(() => started.stop())
      const provider = async (): Promise<string> =>
        (await started.get('/v1/config')).json<{ vectorConfig: { provider: string } }>().vectorConfig.provider
      await untilAsked(provider, (found) => found === wanted)
      return started
    }
    const found = await servedBy({ SVC_EMBEDDING_AUTODETECT: undefined }, 'ollama')
    const line = /embeddings: ollama all-minilm, 384 dimensions, found on this machine; SVC_EMBEDDING_AUTODETECT=0 leaves it alone/
    // What is printed comes by another way than what is answered.
    await untilAsked(() => found.output(), (text) => line.test(text)) // prettier-ignore
    for (const env of [{ SVC_EMBEDDING_AUTODETECT: '0' }, { SVC_EMBEDDING_AUTODETECT: '1', SVC_EMBEDDING_PROVIDER: 'none' }])
      assert.doesNotMatch((await servedBy(env, 'none')).output(), /embeddings:/)
  })
})
