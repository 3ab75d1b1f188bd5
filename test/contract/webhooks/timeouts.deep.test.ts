/** Receivers that do not answer, and that answer without an end: what takes ten seconds. */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, it } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { register, WEBHOOK_ENV, WebhookReceiver } from '../../harness/webhook_receiver.js'

const POST_MS = 10_000
/** Far more than is read of an answer, and than fits into buffers of sockets. */
const ENDLESS_BYTES = 256 * 1024 * 1024

interface Page {
  readonly deliveries: readonly { readonly attempts: number; readonly error?: string }[]
}

let server: Server
before(async () => {
  server = await startServer({ env: { ...WEBHOOK_ENV, SVC_LIMIT_WEBHOOK_WAIT_PERCENT: '100' } })
})
after(() => server.stop())

const page = async (hook: string): Promise<Page> => (await server.get(`/v1/webhooks/${hook}/deliveries`)).json<Page>()

it('deliveries: a receiver has ten seconds', async () => {
  const receiver = await WebhookReceiver.start()
  receiver.answer = () => null
  const { id } = await register(server, { url: receiver.url(), events: ['doc.added'], collection: 'slow' })
  const begun = performance.now()
  await server.post('/v1/add', { collection: 'slow', key: 'a', lang: 'en', contentMd: 'x' })
  const { deliveries } = await untilAsked(() => page(id), ({ deliveries: [one] }) => (one?.attempts ?? 0) > 0) // prettier-ignore
  const ms = performance.now() - begun
  assert.ok(ms >= POST_MS && ms < 2 * POST_MS - 1_000, String(ms))
  assert.equal(deliveries[0]?.error, `no answer within ${POST_MS} ms`)
  await receiver.stop()
})

it('deliveries: at most 16 KB of an answer are read', async () => {
  let sent = 0
  const piece = Buffer.alloc(64 * 1024, 'x')
  const write = (response: ServerResponse): void => {
    while (!response.destroyed && sent < ENDLESS_BYTES) {
      sent += piece.length
      if (!response.write(piece)) return void response.once('drain', () => write(response))
    }
    response.end()
  }
  const endless = createServer((request, response) => {
    request.resume().on('end', () => write(response.writeHead(200)))
  })
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
  const { port } = endless.address() as AddressInfo
  const { id } = await register(server, { url: `http://127.0.0.1:${port}/`, events: ['doc.added'], collection: 'endless' })
  await server.post('/v1/add', { collection: 'endless', key: 'a', lang: 'en', contentMd: 'x' })
  await untilAsked(
    () => page(id),
    ({ deliveries }) => deliveries.length === 0 && sent > 0,
  )
  assert.ok(sent < ENDLESS_BYTES / 4, `${sent} bytes were taken`)
  endless.closeAllConnections()
  endless.close()
})
