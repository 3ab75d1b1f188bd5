/** GraphQL's fields about accounts: logins, users, API keys, groups and permissions. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { askGraphql, dataOf } from '../../harness/clients/graphql.js'
import { ACCESS_ENV, asUser } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/

describe('graphql with access control', () => {
  let server: Server
  before(async () => {
    server = await startServer({ env: ACCESS_ENV })
  })
  after(() => server.stop())
  const admin = asUser('admin')

  it('graphql: login answers a token, with which me answers the account', async () => {
    const login = 'mutation($p: String!) { login(username: "admin", password: $p) { token expiresAt } }'
    const { login: payload } = await dataOf<{ login: { token: string; expiresAt: string } }>(server, login, {
      p: 'the password of the administrator',
    })
    assert.ok(Date.parse(payload.expiresAt) > Date.now())
    assert.match(payload.expiresAt, TIME)
    const { me } = await dataOf<{ me: Record<string, unknown> }>(server, '{ me { username admin createdAt } }', undefined, {
      authorization: `Bearer ${payload.token}`,
    })
    assert.equal(me['username'], 'admin')
    assert.equal(me['admin'], true)
    assert.match(String(me['createdAt']), TIME)
    const wrong = await askGraphql(server, login, { p: 'wrong' })
    assert.deepEqual(
      wrong.errors.map(({ message, path, extensions }) => ({ message, path, extensions })),
      [{ message: 'authentication failed', path: ['login'], extensions: { code: 'UNAUTHENTICATED' } }],
    )
    assert.equal(wrong.data, null)
  })

  it('graphql: register creates a user, whom users lists', async () => {
    const { register } = await dataOf<{ register: Record<string, unknown> }>(
      server,
      'mutation { register(username: "eve", password: "the password of eve") { username admin createdAt } }',
      undefined,
      admin,
    )
    assert.deepEqual([register['username'], register['admin']], ['eve', false])
    const { users } = await dataOf<{ users: readonly { username: string }[] }>(
      server,
      '{ users { username admin createdAt } }',
      undefined,
      admin,
    )
    assert.deepEqual(
      users.map(({ username }) => username),
      ['admin', 'eve'],
    )
    const twice = await askGraphql(
      server,
      'mutation { register(username: "eve", password: "the password of eve") { username } }',
      undefined,
      admin,
    )
    assert.equal(twice.errors[0]?.extensions?.code, 'CONFLICT')
  })

  it('graphql: createAPIKey creates a key that is valid until its time', async () => {
    const query = 'mutation($input: CreateAPIKeyInput!) { createAPIKey(input: $input) { key description expiresAt createdAt } }'
    const expiresAt = '2030-01-01T01:00:00+01:00'
    const { createAPIKey } = await dataOf<{ createAPIKey: Record<string, string | null> }>(
      server,
      query,
      { input: { description: 'of a test', expiresAt } },
      admin,
    )
    assert.equal(createAPIKey['description'], 'of a test')
    assert.equal(createAPIKey['expiresAt'], '2030-01-01T00:00:00Z')
    const endless = await dataOf<{ createAPIKey: Record<string, string | null> }>(server, query, { input: { description: '' } }, admin)
    assert.equal(endless.createAPIKey['expiresAt'], null)
    const { me } = await dataOf<{ me: { username: string } }>(server, '{ me { username } }', undefined, {
      'x-api-key': createAPIKey['key']!,
    })
    assert.equal(me.username, 'admin')
  })

  it('graphql: setPermission, userPermissions, and those of groups', async () => {
    const grant = { collection: 'docs', read: true, write: false, admin: false }
    await dataOf(server, 'mutation { register(username: "bob", password: "the password of bob") { username } }', undefined, admin)
    const run = (query: string, variables?: object): Promise<Record<string, unknown>> => dataOf(server, query, variables, admin)
    assert.deepEqual(
      await run('mutation($input: SetPermissionInput!) { setPermission(input: $input) }', { input: { username: 'bob', ...grant } }),
      { setPermission: true },
    )
    assert.deepEqual(await run('{ userPermissions(username: "bob") { username collection read write admin } }'), {
      userPermissions: [{ username: 'bob', ...grant }],
    })
    const { createGroup } = await run(
      'mutation { createGroup(input: {name: "writers", description: "d", members: ["bob"]}) { name description members createdAt } }',
    )
    assert.match(String((createGroup as Record<string, unknown>)['createdAt']), TIME)
    assert.deepEqual(await run('mutation { updateGroup(name: "writers", description: "new", members: []) { description members } }'), {
      updateGroup: { description: 'new', members: [] },
    })
    assert.deepEqual(await run('{ groups { name description members } }'), {
      groups: [{ name: 'writers', description: 'new', members: [] }],
    })
    assert.deepEqual(
      await run('mutation($input: SetGroupPermissionInput!) { setGroupPermission(input: $input) }', {
        input: { groupName: 'writers', ...grant },
      }),
      { setGroupPermission: true },
    )
    assert.deepEqual(await run('{ groupPermissions(groupName: "writers") { groupName collection read write admin } }'), {
      groupPermissions: [{ groupName: 'writers', ...grant }],
    })
    assert.deepEqual(await run('mutation { deleteGroup(name: "writers") }'), { deleteGroup: true })
    assert.deepEqual(await run('{ groups { name } }'), { groups: [] })
  })
})
