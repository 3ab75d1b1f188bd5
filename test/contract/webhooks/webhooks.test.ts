/** Webhooks: registration, and what their receivers are sent for each kind of change. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { type Hook, isSignedBy, type Payload, register, WEBHOOK_ENV, WebhookReceiver } from '../../harness/webhook_receiver.js'

const ALL = ['doc.added', 'doc.updated', 'doc.deleted']
const KEY = { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64') }

interface Listed {
  readonly deliveries: readonly { readonly id: string; readonly status: string; readonly key: string }[]
}

let server: Server
let receiver: WebhookReceiver
before(async () => {
  receiver = await WebhookReceiver.start()
  server = await startServer({ env: { ...WEBHOOK_ENV, ...KEY } })
})
after(async () => {
  await server.stop()
  await receiver.stop()
})

async function add(collection: string, key: string, contentMd: string, more: object = {}): Promise<void> {
  const answer = await server.post('/v1/add', { collection, key, lang: 'en', contentMd, ...more })
  assert.equal(answer.status, 200, answer.text)
}

async function refusalOf(fields: object): Promise<readonly [number, unknown]> {
  const answer = await server.post('/v1/webhooks', fields)
  return [answer.status, answer.json<{ readonly error: string }>().error]
}

const shown = ({ event, type, collection, key, lang }: Payload): readonly string[] => [event, type, collection, key, lang]

describe('registration of webhooks', () => {
  it('webhooks: a registration answers id, URL, events, collection, time and, this once, the secret', async () => {
    const url = receiver.url('registered')
    const { secret, ...hook } = (await server.post('/v1/webhooks', { url, events: ['insert', 'doc.deleted'], collection: 'Notes' })).json<
      Hook & { readonly createdAt: number }
    >()
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.match(hook.id, /^[0-9a-f]{16}$/)
    assert.ok(Math.abs(hook.createdAt - Date.now() / 1000) < 60)
    assert.deepEqual(hook, { id: hook.id, url, events: ['insert', 'doc.deleted'], collection: 'Notes', createdAt: hook.createdAt })
    assert.deepEqual((await server.get('/v1/webhooks?collection=notes')).json(), [hook])
    assert.deepEqual((await server.post('/v1/webhooks/delete', { id: hook.id })).json(), { status: 'deleted', id: hook.id })
    assert.deepEqual((await server.get('/v1/webhooks?collection=notes')).json(), [])
    for (const path of ['delete', `${hook.id}/resume`, `${hook.id}/rotate-secret`])
      assert.equal((await server.post(`/v1/webhooks/${path}`, { id: hook.id })).status, 404, path)
  })

  it('webhooks: the list is a bare array in order of registration, without secrets and values of headers', async () => {
    const hooks = [
      await register(server, { url: receiver.url('l'), events: ALL, collection: 'listed', headers: { authorization: 'Bearer x' } }),
    ]
    hooks.push(await register(server, { url: receiver.url('l'), events: ALL, collection: 'listed' }))
    const text = (await server.get('/v1/webhooks?collection=listed')).text
    const listed = JSON.parse(text) as readonly { readonly id: string; readonly headers?: readonly string[] }[]
    assert.deepEqual(listed.map(({ id }) => id), hooks.map(({ id }) => id)) // prettier-ignore
    assert.deepEqual(listed[0]?.headers, ['authorization'])
    for (const hidden of [...hooks.map(({ secret }) => secret), 'Bearer']) assert.ok(!text.includes(hidden))
  })

  it('webhooks: a registration without URL or events, or with an unknown event, header or address is 400', async () => {
    const [url, events] = ['https://example.com/h', ALL]
    assert.deepEqual(await refusalOf({ events }), [400, 'missing fields'])
    assert.deepEqual(await refusalOf({ url, events: [] }), [400, 'missing fields'])
    assert.deepEqual(await refusalOf({ url, events: ['doc.moved'] }), [400, 'invalid event: doc.moved'])
    assert.equal((await refusalOf({ url, events: ['ops.disk_usage_high'], collection: 'a' }))[0], 400)
    assert.deepEqual(await refusalOf({ url: 'ftp://example.com/', events }), [400, 'invalid url: only http and https are allowed'])
    for (const headers of [{ 'webhook-id': 'x' }, { 'X-MDDB-Event': 'x' }, { 'a b': 'x' }, { a: 'x\r\nb: c' }, { host: 'x' }])
      assert.equal((await refusalOf({ url, events, headers }))[0], 400, JSON.stringify(headers))
  })
})

describe('what is sent to webhooks', () => {
  it('webhooks: added, updated and deleted documents are posted with payload and headers, signed', async () => {
    const hook = await register(server, {
      url: receiver.url('crud'),
      events: ['insert', 'update', 'delete'],
      collection: 'crud',
      headers: { 'x-own': 'mine' },
    })
    await add('Crud', 'Page', 'first', { meta: { tags: ['a'] } })
    await add('crud', 'Page', 'second')
    await server.post('/v1/delete', { collection: 'crud', key: 'Page', lang: 'en' })
    const posts = await receiver.until(3, 'crud')
    assert.deepEqual(
      posts.map(({ payload }) => shown(payload)),
      [
        ['doc.added', 'insert', 'Crud', 'Page', 'en'],
        ['doc.updated', 'update', 'Crud', 'Page', 'en'],
        ['doc.deleted', 'delete', 'Crud', 'Page', 'en'],
      ],
    )
    const [added, , deleted] = posts
    assert.deepEqual([added?.payload.document?.contentMd, added?.payload.document?.meta], ['first', { tags: ['a'] }])
    assert.equal(deleted?.payload.document, undefined)
    for (const post of posts) {
      const { headers, payload } = post
      assert.ok(isSignedBy(post, hook.secret), post.body)
      assert.ok(!isSignedBy({ ...post, body: `${post.body} ` }, hook.secret))
      assert.equal(headers['content-type'], 'application/json')
      assert.deepEqual([headers['x-mddb-event'], headers['x-mddb-webhook-id'], headers['x-own']], [payload.event, hook.id, 'mine'])
      assert.match(post.id, new RegExp(`^${hook.id}:\\d+$`))
      assert.ok(Math.abs(payload.timestamp - Date.now() / 1000) < 60)
    }
  })

  it('webhooks: PATCH, set-ttl, batches and a deleted collection are told; what was there before, other collections and events are not', async () => {
    await add('ways', 'before', 'x')
    await register(server, { url: receiver.url('ways'), events: ALL, collection: 'ways' })
    await register(server, { url: receiver.url('deletions'), events: ['doc.deleted'], collection: 'ways' })
    await server.request('PATCH', '/v1/update', { collection: 'ways', key: 'before', lang: 'en', contentMd: 'y' })
    await server.post('/v1/set-ttl', { collection: 'ways', key: 'before', lang: 'en', ttl: 1000 })
    const documents = ['a', 'b'].map((key) => ({ key, lang: 'en', contentMd: key }))
    await server.post('/v1/add-batch', { collection: 'ways', documents })
    await add('elsewhere', 'a', 'x')
    await server.post('/v1/delete-collection', { collection: 'ways' })
    const posts = await receiver.until(5, 'ways')
    assert.deepEqual(posts.map(({ payload: { event, key } }) => `${event} ${key}`).sort(), [
      'doc.added a',
      'doc.added b',
      'doc.deleted ',
      'doc.updated before',
      'doc.updated before',
    ])
    const [dropped] = await receiver.until(1, 'deletions')
    assert.deepEqual([dropped?.payload.key, dropped?.payload.detail], ['', { deletedCount: 3 }])
    assert.equal(posts.at(-1)?.payload.event, 'doc.deleted', 'the deletion of a collection comes last')
  })

  it('webhooks: an expired document is told as deleted', async () => {
    await register(server, { url: receiver.url('expiry'), events: ['doc.deleted'], collection: 'expiring' })
    await add('expiring', 'short', 'x', { ttl: 1 })
    const [post] = await receiver.until(1, 'expiry')
    assert.deepEqual(post === undefined ? [] : shown(post.payload), ['doc.deleted', 'delete', 'expiring', 'short', 'en'])
  })

  it('webhooks: one without a collection is told of all collections; skipWebhooks and the profile fast tell nobody', async () => {
    const { id } = await register(server, { url: receiver.url('all'), events: ['doc.added'] })
    const document = (url: string): object => ({ documents: [{ url, lang: 'en', contentMd: 'x' }] })
    await server.post('/v1/ingest', { collection: 'quiet', ...document('https://a.example/1'), options: { skipWebhooks: true } })
    await server.post('/v1/ingest', { collection: 'quiet', ...document('https://a.example/2'), options: { profile: 'fast' } })
    await server.post('/v1/ingest', { collection: 'loud', ...document('https://a.example/3') })
    await add('other', 'last', 'x')
    const posts = await receiver.until(2, 'all')
    assert.deepEqual(posts.map(({ payload: { collection } }) => collection), ['loud', 'other']) // prettier-ignore
    await server.post('/v1/webhooks/delete', { id })
  })

  it('webhooks: documents of an encrypted collection go without text and metadata, unless the webhook asks for them', async () => {
    await server.request('PUT', '/v1/collection-config', { collection: 'vault', encrypted: true })
    const hook = await register(server, { url: receiver.url('sealed'), events: ALL, collection: 'vault' })
    await register(server, { url: receiver.url('unsealed'), events: ALL, collection: 'vault', includeSealed: true })
    await add('vault', 'secret-key', 'secret text', { meta: { who: ['me'] } })
    await server.post('/v1/delete', { collection: 'vault', key: 'secret-key', lang: 'en' })
    const [added, deleted] = await receiver.until(2, 'sealed')
    const { document, ...rest } = added?.payload ?? ({} as Payload)
    assert.deepEqual(shown(rest), ['doc.added', 'insert', 'vault', 'secret-key', 'en'])
    assert.deepEqual([document?.key, document?.contentMd, document?.meta], ['secret-key', undefined, undefined])
    assert.deepEqual([deleted?.payload.key, deleted?.payload.lang], ['secret-key', 'en'])
    const [whole] = await receiver.until(2, 'unsealed')
    assert.deepEqual([whole?.payload.document?.contentMd, whole?.payload.document?.meta], ['secret text', { who: ['me'] }])
    await untilAsked(async () => (await server.get(`/v1/webhooks/${hook.id}/deliveries`)).json<Listed>(), ({ deliveries }) => deliveries.length === 0) // prettier-ignore
  })

  it('webhooks: after a rotation both secrets sign, and the document is shown as the change made it', async () => {
    const hook = await register(server, { url: receiver.url('rotated'), events: ALL, collection: 'rotated' })
    receiver.answer = () => null
    await add('rotated', 'a', 'first')
    await receiver.until(1, 'rotated')
    const { secret, previousUntil } = (await server.post(`/v1/webhooks/${hook.id}/rotate-secret`, {})).json<
      Hook & { previousUntil: number }
    >()
    assert.notEqual(secret, hook.secret)
    assert.ok(previousUntil > Date.now() / 1000 + 80_000)
    await add('rotated', 'a', 'second')
    receiver.answer = () => 204
    receiver.release()
    await add('rotated', 'a', 'third')
    const [first, second, third] = await receiver.until(3, 'rotated')
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    assert.deepEqual([first, second, third].map(({ payload }) => payload.document?.contentMd), ['first', 'second', 'third']) // prettier-ignore
    assert.deepEqual([isSignedBy(first, hook.secret), isSignedBy(first, secret)], [true, false])
    assert.deepEqual([isSignedBy(third, hook.secret), isSignedBy(third, secret)], [true, true])
  })
})
