/**
 * Values that clients write into the text of a GraphQL query: the server reads such texts by what it knows of
 * earlier ones (docs/decisions/interfaces/graphql.md). A text with a comment is always read as a whole, which
 * shows what is right.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Server } from '../../harness/server/server.js'
import { sharedServer } from '../../harness/server/shared_server.js'

type ServerAnswer = Awaited<ReturnType<Server['post']>>

const KEYS = ['a', 'a longer key', 'é 漢', '#1', 'a,b:{c}', '', 'missing', 'also missing', '\\u0061', '\\"', '__proto__']

/** Fields run side by side, so their errors come in any order. */
function shown(answer: ServerAnswer): readonly unknown[] {
  const { errors = [], data } = answer.json<{ readonly errors?: readonly object[]; readonly data?: unknown }>()
  return [answer.status, data, errors.map((error) => JSON.stringify(error)).sort()]
}

describe('graphql: values in texts', () => {
  let server: Server
  before(async () => {
    server = await sharedServer()
    for (const key of ['a', 'a longer key', 'é 漢', '#1', 'a,b:{c}'])
      await server.post('/v1/add', { collection: 'graphql_texts', key, lang: 'en', contentMd: `text of ${key}`, meta: { k: [key] } })
  })
  after(() => server.stop())

  const ask = async (query: string): ReturnType<Server['post']> => await server.post('/graphql', { query })
  async function assertSame(queries: readonly string[]): Promise<void> {
    const [kept, read] = await Promise.all([Promise.all(queries.map(ask)), Promise.all(queries.map((query) => ask(`${query} # x`)))])
    for (const [at, answer] of kept.entries()) assert.deepEqual(shown(answer), shown(read[at]!), queries[at])
  }

  it('graphql: a query that differs from an earlier one in its strings alone gets its own answer and errors', async () => {
    await assertSame(
      KEYS.flatMap((key) => [
        `{ document(collection: "graphql_texts", key: "${key}", lang: "en") { key contentMd } }`,
        `{ a: document(collection: "graphql_texts", key: "${key}", lang: "en") { key } b: document(collection: "${key}", key: "a", lang: "en") { key } }`,
        // These leave the thread: others come before their answers.
        `{ search(input: {collection: "graphql_texts", filterMeta: [{key: "k", values: ["${key}", "a"]}]}) { edges { node { key } } } nobody: document(collection: "${key}", key: "${key}", lang: "en") { key } }`,
        `{ __type(name: "${key}") { name } x: users { username } y: userPermissions(username: "${key}") { read } }`,
      ]),
    )
    const found = await ask('{ document(collection: "graphql_texts", key: "a longer key", lang: "en") { contentMd } }')
    assert.deepEqual(found.json(), { data: { document: { contentMd: 'text of a longer key' } } })
    for (const key of ['a', 'a longer key']) {
      const text = `{ a: document(collection: "graphql_texts", key: "${key}", lang: "en") { key } b: document(collection: "no", key: "", lang: "") { key } }`
      const { errors } = (await ask(text)).json<{ readonly errors: readonly { readonly locations: readonly object[] }[] }>()
      assert.deepEqual(errors[0]?.locations, [{ line: 1, column: text.indexOf('b:') + 1 }])
    }
  })

  it('graphql: a query whose equal fields have other arguments than each other is refused, also after one that has not', async () => {
    const two = (key: string): string =>
      `{ document(collection: "graphql_texts", key: "a", lang: "en") { key } document(collection: "graphql_texts", key: "${key}", lang: "en") { lang } }`
    assert.equal((await ask(two('a'))).status, 200)
    const refused = await ask(two('b'))
    assert.equal(refused.status, 400)
    assert.match(refused.text, /they have differing arguments/)
  })

  it('graphql: a time in a text is looked at, also after another one that was right', async () => {
    const key = (time: string): string => `mutation { createAPIKey(input: {description: "d", expiresAt: "${time}"}) { description } }`
    assert.equal((await ask(key('2090-01-01T00:00:00Z'))).status, 200)
    const refused = await ask(key('soon'))
    assert.equal(refused.status, 400)
    assert.match(refused.text, /Time must be RFC 3339 text/)
  })
})
