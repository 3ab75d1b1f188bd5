/** Webhooks over gRPC, GraphQL and MCP, in metrics, in health, and in read mode. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { dataOf } from '../../harness/clients/graphql.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { register, WEBHOOK_ENV, WebhookReceiver } from '../../harness/webhook_receiver.js'

const URL = 'https://hooks.invalid/h'

interface Listed {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly collection: string
}

describe('webhooks over other protocols', () => {
  let server: Server
  let grpc: GrpcClient
  before(async () => {
    server = await startServer({ env: WEBHOOK_ENV })
    grpc = GrpcClient.of(server)
  })
  after(async () => {
    grpc.close()
    await server.stop()
  })

  const listed = async (): Promise<readonly Listed[]> => (await server.get('/v1/webhooks')).json<Listed[]>()

  it('webhooks: gRPC registers with a secret, lists and deletes', async () => {
    const made = await grpc.call<Listed & { readonly secret: string; readonly created_at: string }>('RegisterWebhook', {
      url: URL,
      events: ['insert'],
      collection: 'a',
      headers: { 'x-a': 'b' },
    })
    assert.match(made.secret, /^whsec_/)
    const { webhooks } = await grpc.call<{ readonly webhooks: readonly Listed[] }>('ListWebhooks', {})
    assert.deepEqual(webhooks.map(({ id, url, events, collection }) => [id, url, events, collection]), [[made.id, URL, ['insert'], 'a']]) // prettier-ignore
    assert.deepEqual(await grpc.call('DeleteWebhook', { id: made.id }), { status: 'deleted', id: made.id })
    assert.deepEqual(await listed(), [])
  })

  it('webhooks: GraphQL registers with a secret, lists those of a collection and deletes', async () => {
    const query = 'mutation($input: RegisterWebhookInput!) { registerWebhook(input: $input) { id url events collection createdAt secret } }'
    const input = { url: URL, events: ['insert', 'delete'], collection: '' }
    const { registerWebhook: made } = await dataOf<{ registerWebhook: Listed & { secret: string; createdAt: string } }>(server, query, {
      input,
    })
    assert.match(made.secret, /^whsec_/)
    assert.ok(Math.abs(Date.parse(made.createdAt) - Date.now()) < 60_000, made.createdAt)
    const hooks = 'query($of: String) { webhooks(collection: $of) { id url events collection } }'
    const { secret: _, createdAt: __, ...hook } = made
    assert.deepEqual(await dataOf(server, hooks, {}), { webhooks: [hook] })
    assert.deepEqual(await dataOf(server, hooks, { of: 'other' }), { webhooks: [] })
    assert.deepEqual(await dataOf(server, 'mutation($id: ID!) { deleteWebhook(id: $id) }', { id: made.id }), { deleteWebhook: true })
    assert.deepEqual(await listed(), [])
  })

  it('webhooks: MCP registers with a secret, lists and deletes', async () => {
    const client = new McpClient(server)
    const called = async (name: string, args: object): Promise<string> => {
      const { rpc } = await client.stateless('tools/call', { name, arguments: args })
      assert.notEqual(rpc.result.isError, true, name)
      return rpc.result.content[0]?.text ?? ''
    }
    const made = JSON.parse(await called('register_webhook', { url: URL, events: ['doc.added'], collection: 'm' })) as Listed & {
      secret: string
    }
    assert.match(made.secret, /^whsec_/)
    assert.ok((await called('list_webhooks', {})).includes(made.id))
    await called('delete_webhook', { id: made.id })
    assert.deepEqual(await listed(), [])
  })
})

describe('webhooks in operation', () => {
  const directory = mkdtempSync(join(tmpdir(), 'mds-webhooks-'))
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('webhooks: mddb_webhooks_total counts them, health warns while one is suspended, and read mode refuses changes and sends nothing', async () => {
    const receiver = await WebhookReceiver.start()
    receiver.answer = () => null
    const server = await startServer({ directory, env: { ...WEBHOOK_ENV, SVC_WEBHOOK_BACKLOG_MAX: '1' } })
    const { id } = await register(server, { url: receiver.url(), events: ['doc.added'] })
    assert.equal(/^mddb_webhooks_total (\d+)$/m.exec((await server.get('/metrics')).text)?.[1], '1')
    for (const key of ['a', 'b']) await server.post('/v1/add', { collection: 'c', key, lang: 'en', contentMd: 'x' })
    const warned = async (): Promise<boolean> => (await server.get('/health')).text.includes('"code":"webhooks_suspended"')
    await untilAsked(warned, (isWarned) => isWarned)
    await server.post(`/v1/webhooks/${id}/resume`, {})
    await untilAsked(warned, (isWarned) => !isWarned)
    await server.stop()
    const posts = receiver.posts.length
    const reader = await startServer({ directory, env: { ...WEBHOOK_ENV, SVC_MODE: 'read' } })
    try {
      for (const [path, fields] of [
        ['', { url: URL, events: ['insert'] }],
        ['/delete', { id }],
      ] as const) {
        const { status, text } = await reader.post(`/v1/webhooks${path}`, fields)
        assert.deepEqual([status, text], [403, '{"error":"read-only mode"}'])
      }
      assert.equal((await reader.get('/v1/webhooks')).json<Listed[]>()[0]?.id, id)
      assert.equal(receiver.posts.length, posts)
    } finally {
      await reader.stop()
      await receiver.stop()
    }
  })
})
