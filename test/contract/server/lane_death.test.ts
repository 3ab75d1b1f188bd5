/**
 * A lane that runs out of memory ends alone: the log gives the reason, its requests are answered 503, and the
 * next ones are served. The limit of its heap is lowered, so that an ordinary request exceeds it.
 */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { untilHolds } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

let server: Server
before(async () => {
  // 32 MB for bodies, and almost nothing besides.
  server = await startServer({ env: { SVC_LIMIT_LANE_HEAP_MB_MAX: '4', SVC_MAX_BODY_BYTES: String(8 << 20) } })
})
after(() => server.stop())

it('a lane that runs out of memory says so in the log, its request is answered 503, and the server goes on', async () => {
  await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: 'text' })
  const values = Array.from({ length: 850_000 }, (_, at) => `"${at}"`).join(',')
  const answer = await server.post('/v1/search', `{"collection":"c","filterMeta":{"a":[${values}]}}`)
  assert.equal(answer.status, 503)
  assert.equal(answer.text, '{"error":"the thread of this request has died, please retry"}')
  assert.equal(answer.headers['retry-after'], '1')
  assert.equal((await server.post('/v1/get', { collection: 'c', key: 'k', lang: 'en' })).status, 200)
  await untilHolds(
    () => /lane died/.test(server.output()),
    () => server.output(),
  )
  assert.match(server.output(), /a read lane died.*memory limit: JS heap out of memory/)
  assert.equal((await server.post('/v1/search', { collection: 'c' })).status, 200)
})
