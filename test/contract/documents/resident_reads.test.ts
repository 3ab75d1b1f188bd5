/**
 * Gets that the event loop answers itself: which they are, that nobody can tell them from those of a lane,
 * and that a metric counts them.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer, type TestResponse } from '../../harness/server/server.js'

const KEY = Buffer.alloc(32, 7).toString('base64')

for (const loops of ['1', '2']) {
  describe(`gets with ${loops} event loops`, () => {
    let server: Server
    before(async () => {
      server = await startServer({ args: ['--http-loops', loops], env: { SVC_ENCRYPTION_KEY: KEY } })
    })
    after(() => server.stop())

    const count = async (name: string): Promise<number> =>
      Number(new RegExp(`^mddb_${name}_total (\\d+)$`, 'm').exec((await server.get('/metrics')).text)?.[1])
    const answeredOnLoop = (): Promise<number> => count('documents_answered_on_loop')

    /** Asks, and tells whether the loop has answered. */
    const asked = async (body: unknown, headers = {}, query = ''): Promise<readonly [TestResponse, boolean]> => {
      const before = await answeredOnLoop()
      const answer = await server.post(`/v1/get${query}`, body, headers)
      return [answer, (await answeredOnLoop()) > before]
    }
    const add = async (document: object): Promise<void> => {
      const { status, text } = await server.post('/v1/add', { collection: 'Notes', lang: 'en', meta: { a: ['1', 'ä'] }, ...document })
      assert.equal(status, 200, text)
    }

    it('resident reads: a plain get is answered on the loop, and every other read alike by a lane', async () => {
      await add({ key: 'plain', contentMd: 'plain "text" ä\n' })
      await add({ key: 'Spelled One', contentMd: 'text' })
      await add({ key: 'long', contentMd: 'long '.repeat(20_000) })
      await add({ key: 'middle', contentMd: 'middle '.repeat(2_000) })
      await add({ key: 'ä', contentMd: 'text' })
      await add({ key: 'with "quotes"', contentMd: 'text' })
      await add({ key: 'expiring', contentMd: 'text', ttl: 1 })
      await add({ key: 'template', contentMd: 'Hello %%name%%' })
      const names = (key: string, change = {}): object => ({ collection: 'notes', key, lang: 'en', ...change })
      const gzip = { 'accept-encoding': 'gzip' }
      const cases: readonly (readonly [isOnLoop: boolean, ...Parameters<typeof asked>])[] = [
        [true, names('plain')],
        [true, names('plain', { collection: 'NOTES' })],
        [true, ' { "lang" : "en", "key":"pl\\u0061in" ,"collection":"Notes"}\n'],
        [true, names('Spelled One')],
        [true, names('middle')],
        [true, names('template')],
        [true, names('plain'), gzip],
        [false, names('middle'), gzip],
        [false, names('spelled one')],
        [false, names('plain', { lang: 'EN' })],
        [false, names('long')],
        [false, names('ä')],
        [false, names('with "quotes"')],
        [false, names('nothing')],
        [false, names('plain', { collection: 'other' })],
        [false, names('plain', { collection: '' })],
        [false, names('plain', { key: 7 })],
        [false, names('template', { env: { name: 'Ada' } })],
        [false, names('plain', { asOf: 4_000_000_000 })],
        [false, names('plain', { unknown: true })],
        [false, { collection: 'notes', key: 'plain' }, {}, '?lang=en'],
        [false, '{"collection":"notes","key":"plain","lang":"en"'],
        [false, ['notes', 'plain', 'en']],
        [false, names('plain', { key: 'x'.repeat(5_000) })],
        [false, names('pl\0ain')],
      ]
      for (const [isOnLoop, ...question] of cases) {
        const [answer, wasOnLoop] = await asked(...question)
        const what = JSON.stringify(question).slice(0, 200)
        assert.equal(wasOnLoop, isOnLoop, what)
        if (!isOnLoop || answer.status !== 200) continue
        // An empty map of variables leaves the read to a lane.
        const read = typeof question[0] === 'string' ? names('plain') : (question[0] as object)
        const [byLane, laneOnLoop] = await asked({ ...read, env: {} }, question[1])
        assert.equal(laneOnLoop, false)
        assert.deepEqual([byLane.status, byLane.text], [answer.status, answer.text], what)
        assert.deepEqual({ ...byLane.headers, date: '' }, { ...answer.headers, date: '' }, what)
      }
      await untilAsked(
        () => asked(names('expiring')),
        ([{ status }, wasOnLoop]) => status === 404 && !wasOnLoop,
      )
      for (const name of ['loop_page_faults', 'http_loop_deaths']) assert.ok((await count(name)) >= 0, name)
    })

    it('resident reads: a document of a sealed collection is read by a lane', async () => {
      await add({ collection: 'secret', key: 'k', contentMd: 'sealed text' })
      const names = { collection: 'secret', key: 'k', lang: 'en' }
      assert.equal((await asked(names))[1], true)
      assert.equal((await server.request('PUT', '/v1/collection-config', { collection: 'secret', encrypted: true })).status, 200)
      await add({ collection: 'secret', key: 'k', contentMd: 'sealed text' })
      const [answer, wasOnLoop] = await asked(names)
      assert.deepEqual([answer.json().contentMd, wasOnLoop], ['sealed text', false])
    })
  })
}

it('resident reads: with tracking of reads every get is for a lane, which counts it', async () => {
  const server = await startServer({ env: { SVC_TEMPORAL: 'true' } })
  assert.equal((await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: 'text' })).status, 200)
  assert.equal((await server.post('/v1/get', { collection: 'c', key: 'k', lang: 'en' })).status, 200)
  assert.match((await server.get('/metrics')).text, /^mddb_documents_answered_on_loop_total 0$/m)
  await server.stop()
})
