/** Deliveries to webhooks: attempts, order, dead letters, suspension, restarts, and rights. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { untilAsked, untilHolds } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { register, WEBHOOK_ENV, WebhookReceiver } from '../../harness/webhook_receiver.js'

const ALL = ['doc.added', 'doc.updated', 'doc.deleted']
/** Attempts of a delivery, the first included. */
const ATTEMPTS = 12
/** A wait of six hours is shorter than a second. */
const HASTE = { ...WEBHOOK_ENV, SVC_LIMIT_WEBHOOK_WAIT_PERCENT: '0' }

interface Delivery {
  readonly id: string
  readonly status: string
  readonly key: string
  readonly attempts: number
  readonly httpStatus?: number
  readonly error?: string
  readonly nextAttemptAt?: number
}

interface Page {
  readonly deliveries: readonly Delivery[]
  readonly hasMore: boolean
  readonly nextCursor?: string
}

const folder = mkdtempSync(join(tmpdir(), 'mds-deliveries-'))
const servers: Server[] = []
const receivers: WebhookReceiver[] = []
after(async () => {
  for (const server of servers) await server.kill()
  for (const receiver of receivers) await receiver.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function start(env: Readonly<Record<string, string>>, directory = mkdtempSync(join(folder, 'db-'))): Promise<Server> {
  const server = await startServer({ env, directory })
  servers.push(server)
  return server
}

async function receive(): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start()
  receivers.push(receiver)
  return receiver
}

const add = async (server: Server, key: string, contentMd = 'x', headers = {}): Promise<void> => {
  const answer = await server.request('POST', '/v1/add', { collection: 'c', key, lang: 'en', contentMd }, headers)
  assert.equal(answer.status, 200, answer.text)
}

async function page(server: Server, hook: string, query = '', headers = {}): Promise<Page> {
  return (await server.request('GET', `/v1/webhooks/${hook}/deliveries?${query}`, undefined, headers)).json<Page>()
}

async function untilDelivered(server: Server, hook: string): Promise<void> {
  await untilAsked(
    () => page(server, hook),
    ({ deliveries }) => deliveries.length === 0,
  )
}

const keysOf = (receiver: WebhookReceiver, path = 'hook'): readonly string[] => receiver.of(path).map(({ payload }) => payload.key)

describe('deliveries to webhooks', () => {
  it('deliveries: a refused one is sent again after 1, 5 and 15 s from the first, under its id, until it is accepted', async () => {
    const [server, receiver] = [await start(WEBHOOK_ENV), await receive()]
    const { id } = await register(server, { url: receiver.url(), events: ALL, collection: 'c' })
    receiver.answer = () => (receiver.posts.length < 4 ? 503 : 200)
    await add(server, 'a')
    const posts = await receiver.until(4)
    assert.equal(new Set(posts.map((post) => post.id)).size, 1)
    const [first, ...later] = posts.map(({ at }) => at)
    const waits = later.map((at) => Math.round(at - (first ?? 0)))
    // A hundredth of the contract's waits, and what a busy machine adds.
    for (const [at, least] of [10, 50, 150].entries())
      assert.ok((waits[at] ?? 0) >= least - 5 && (waits[at] ?? 0) < least + 2_000, String(waits))
    await untilDelivered(server, id)
    assert.equal(receiver.posts.length, 4)
  })

  it('deliveries: a redirect, a connection that is refused and an answer of 500 are failures, which the list names', async () => {
    const [server, receiver] = [await start({ ...WEBHOOK_ENV, SVC_LIMIT_WEBHOOK_WAIT_PERCENT: '100' }), await receive()]
    const gone = await WebhookReceiver.start()
    const nowhere = gone.url()
    await gone.stop()
    receiver.answer = ({ path }) => (path === '/moved' ? 302 : 500)
    const targets = [receiver.url('moved'), receiver.url('broken'), nowhere]
    const hooks = await Promise.all(targets.map((url) => register(server, { url, events: ALL, collection: 'c' })))
    await add(server, 'a')
    const failures = await Promise.all(
      hooks.map(async ({ id }) => {
        const { deliveries } = await untilAsked(() => page(server, id), ({ deliveries: [one] }) => (one?.attempts ?? 0) > 0) // prettier-ignore
        const [{ httpStatus, error, nextAttemptAt } = {} as Delivery] = deliveries
        assert.ok((nextAttemptAt ?? 0) > Date.now() / 1000 - 60)
        return [httpStatus, error] as const
      }),
    )
    assert.deepEqual(failures.slice(0, 2), [[302, 'answered 302'], [500, 'answered 500']]) // prettier-ignore
    assert.equal(failures[2]?.[0], undefined)
    assert.match(String(failures[2]?.[1]), /ECONNREFUSED/)
    assert.deepEqual(receiver.of('elsewhere'), [], 'no redirect was followed')
  })

  it('deliveries: after twelve attempts one is a dead letter, which is listed by pages and can be replayed', async () => {
    const [server, receiver] = [await start(HASTE), await receive()]
    const { id } = await register(server, { url: receiver.url(), events: ALL, collection: 'c' })
    receiver.answer = ({ payload: { key } }) => (key === 'good' ? 200 : 400)
    for (const key of ['bad', 'good', 'worse']) await add(server, key)
    const dead = await untilAsked(() => page(server, id, 'status=dead'), ({ deliveries }) => deliveries.length === 2) // prettier-ignore
    assert.deepEqual(dead.deliveries.map(({ key, status, attempts, httpStatus }) => [key, status, attempts, httpStatus]), [['bad', 'dead', ATTEMPTS, 400], ['worse', 'dead', ATTEMPTS, 400]]) // prettier-ignore
    const first = await page(server, id, 'status=dead&limit=1')
    assert.deepEqual([first.deliveries.length, first.hasMore], [1, true])
    assert.deepEqual((await page(server, id, `status=dead&limit=1&cursor=${first.nextCursor}`)).deliveries, dead.deliveries.slice(1))
    assert.equal(keysOf(receiver).filter((key) => key === 'bad').length, ATTEMPTS)
    receiver.answer = () => 200
    const [bad] = dead.deliveries
    const replayed = await server.post(`/v1/webhooks/${id}/deliveries/${bad?.id}/replay`, {})
    assert.deepEqual([replayed.status, replayed.json()], [200, { status: 'waiting', id: bad?.id }])
    await untilHolds(() => keysOf(receiver).filter((key) => key === 'bad').length === ATTEMPTS + 1, () => 'it was not sent again') // prettier-ignore
    await untilDelivered(server, id)
    assert.deepEqual((await page(server, id, 'status=dead')).deliveries.map(({ key }) => key), ['worse']) // prettier-ignore
    for (const unknown of [`${id}:1`, bad?.id, `${'0'.repeat(16)}:${bad?.id.split(':')[1]}`, 'x'])
      assert.equal((await server.post(`/v1/webhooks/${id}/deliveries/${unknown}/replay`, {})).status, 404, unknown)
  })

  it('deliveries: those about one document keep their order behind a failure, and other documents pass', async () => {
    const [server, receiver] = [await start({ ...WEBHOOK_ENV, SVC_LIMIT_WEBHOOK_WAIT_PERCENT: '20' }), await receive()]
    const { id } = await register(server, { url: receiver.url(), events: ALL, collection: 'c' })
    let refused = 0
    receiver.answer = ({ payload: { key } }) => (key === 'a' && ++refused <= 2 ? 500 : 200)
    for (const text of ['1', '2', '3']) await add(server, 'a', text)
    for (const key of ['b', 'd', 'e']) await add(server, key)
    await untilDelivered(server, id)
    const ofA = receiver.posts.filter(({ payload }) => payload.key === 'a').map(({ payload }) => payload.document?.contentMd)
    assert.deepEqual(ofA, ['1', '1', '1', '2', '3'])
    const texts = receiver.posts.map(({ payload: { key, document } }) => `${key}${document?.contentMd}`)
    for (const key of ['b', 'd', 'e']) assert.ok(texts.indexOf(`${key}x`) < texts.lastIndexOf('a1'), texts.join())
  })

  it('deliveries: a receiver that does not answer holds up no other, and one address has eight posts at a time', async () => {
    const [server, slow, fast] = [await start(WEBHOOK_ENV), await receive(), await receive()]
    await register(server, { url: slow.url(), events: ALL, collection: 'c' })
    const { id } = await register(server, { url: fast.url(), events: ALL, collection: 'c' })
    slow.answer = () => null
    const documents = Array.from({ length: 40 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: 'x' }))
    await server.post('/v1/add-batch', { collection: 'c', documents })
    await fast.until(40)
    await untilDelivered(server, id)
    assert.equal(slow.posts.length, 8)
    slow.answer = () => 200
    slow.release()
    await slow.until(40)
    assert.equal(new Set(keysOf(slow)).size, 40)
  })

  it('deliveries: those that were not accepted before a kill are sent by the next start, and none is missing', async () => {
    const [directory, receiver] = [mkdtempSync(join(folder, 'db-')), await receive()]
    const first = await start(WEBHOOK_ENV, directory)
    const { id } = await register(first, { url: receiver.url(), events: ALL, collection: 'c' })
    receiver.answer = ({ payload: { key } }) => (key === 'held' ? null : 200)
    for (const key of ['one', 'held', 'two']) await add(first, key)
    await receiver.until(3)
    await first.kill()
    receiver.answer = () => 200
    const second = await start(WEBHOOK_ENV, directory)
    await untilDelivered(second, id)
    assert.deepEqual([...new Set(keysOf(receiver))].sort(), ['held', 'one', 'two'])
    const ids = receiver.posts.filter(({ payload }) => payload.key === 'held').map((post) => post.id)
    assert.deepEqual([ids.length, new Set(ids).size], [2, 1])
  })

  it('deliveries: a webhook with a full backlog is suspended, says from where on, and goes on when it is resumed', async () => {
    const [server, receiver] = [
      await start({ ...WEBHOOK_ENV, SVC_WEBHOOK_BACKLOG_MAX: '3', SVC_LIMIT_WEBHOOK_WAIT_PERCENT: '100' }),
      await receive(),
    ]
    const { id } = await register(server, { url: receiver.url(), events: ALL, collection: 'c' })
    receiver.answer = () => null
    for (let at = 0; at < 5; at++) await add(server, `k${at}`)
    const suspended = async (): Promise<string | undefined> =>
      (await server.get('/v1/webhooks')).json<{ suspended?: string }[]>()[0]?.suspended
    assert.match((await untilAsked(suspended, (reason) => reason !== undefined)) ?? '', /nothing is recorded since LSN \d+/)
    receiver.answer = () => 200
    receiver.release()
    await untilDelivered(server, id)
    assert.deepEqual(keysOf(receiver).toSorted(), ['k0', 'k1', 'k2'])
    const resumed = (await server.post(`/v1/webhooks/${id}/resume`, {})).json<{ suspendedAt: number; resumedAt: number }>()
    assert.ok(resumed.suspendedAt < resumed.resumedAt, JSON.stringify(resumed))
    assert.equal(await suspended(), undefined)
    await add(server, 'later')
    await receiver.until(4)
    assert.equal(keysOf(receiver).at(-1), 'later')
  })

  it('deliveries: a document whose collection was deleted before it could be sent holds up nothing', async () => {
    const [server, receiver] = [await start({ ...WEBHOOK_ENV, SVC_LIMIT_WEBHOOK_WAIT_PERCENT: '20' }), await receive()]
    const { id } = await register(server, { url: receiver.url('gone'), events: ALL, collection: 'gone' })
    await register(server, { url: receiver.url(), events: ALL, collection: 'c' })
    // Its bodies are removed between the third attempt and the fourth.
    receiver.answer = ({ path }) => (path === '/gone' && receiver.of('gone').length < 4 ? 500 : 200)
    await server.post('/v1/add', { collection: 'gone', key: 'a', lang: 'en', contentMd: 'x' })
    await receiver.until(1, 'gone')
    await server.post('/v1/delete-collection', { collection: 'gone' })
    await receiver.until(4, 'gone')
    await untilDelivered(server, id)
    await add(server, 'later')
    await receiver.until(1)
    assert.deepEqual(receiver.of('gone').map(({ payload }) => [payload.event, payload.key]).slice(-2), [['doc.added', 'a'], ['doc.deleted', '']]) // prettier-ignore
  })

  it('deliveries: after a restore, and after another of the same backup, no id stands for another change', async () => {
    const [server, receiver] = [await start(WEBHOOK_ENV), await receive()]
    const { id } = await register(server, { url: receiver.url(), events: ALL, collection: 'c' })
    assert.equal((await server.get('/v1/backup?to=b')).status, 200)
    for (const key of ['before', 'once', 'twice']) {
      if (key !== 'before') assert.equal((await server.post('/v1/restore', { from: 'b' })).status, 200)
      await add(server, key)
      await receiver.until(receiver.posts.length === 0 ? 1 : new Set(keysOf(receiver)).size + 1)
      await untilDelivered(server, id)
    }
    assert.deepEqual(keysOf(receiver), ['before', 'once', 'twice'])
    assert.equal(new Set(receiver.posts.map((post) => post.id)).size, 3)
  })

  it('deliveries: a private address is refused at registration, and a name that leads to one when it is dialled', async () => {
    const server = await start({ SVC_LIMIT_WEBHOOK_WAIT_PERCENT: '100' })
    const refused = await server.post('/v1/webhooks', { url: 'http://127.0.0.1:9/h', events: ALL })
    assert.deepEqual([refused.status, refused.json<{ error: string }>().error], [400, 'invalid url: the address is not a public one'])
    const { id } = await register(server, { url: 'http://localhost:9999/h', events: ALL, collection: 'c' })
    await add(server, 'a')
    const { deliveries } = await untilAsked(() => page(server, id), ({ deliveries: [one] }) => (one?.attempts ?? 0) > 0) // prettier-ignore
    assert.match(deliveries[0]?.error ?? '', /not a public one/)
  })

  it('deliveries: a webhook needs the administrator of its collection, and is sent nothing once its creator is not', async () => {
    const [server, receiver] = [await start({ ...ACCESS_ENV, ...WEBHOOK_ENV }), await receive()]
    const admin = new Admin(server)
    await admin.register('chief')
    await admin.grant('chief', 'c', { admin: true })
    const fields = { url: receiver.url(), events: ALL }
    for (const collection of ['d', ''])
      assert.equal((await server.request('POST', '/v1/webhooks', { ...fields, collection }, asUser('chief'))).status, 403, collection)
    const { id } = await register(server, { ...fields, collection: 'c' }, asUser('chief'))
    await add(server, 'a', 'x', admin.headers)
    await receiver.until(1)
    await admin.grant('chief', 'c', { write: true })
    await add(server, 'b', 'x', admin.headers)
    const waiting = await untilAsked(() => page(server, id, '', admin.headers), ({ deliveries }) => deliveries.length === 1) // prettier-ignore
    assert.equal(waiting.deliveries[0]?.attempts, 0)
    const [listed] = (await server.request('GET', '/v1/webhooks', undefined, admin.headers)).json<{ readonly suspended?: string }[]>()
    assert.equal(listed?.suspended, 'chief may not administer c')
    assert.equal((await server.request('GET', '/v1/webhooks', undefined, asUser('chief'))).status, 403)
    await admin.grant('chief', 'c', { admin: true })
    await receiver.until(2)
    assert.deepEqual(keysOf(receiver), ['a', 'b'])
  })
})
