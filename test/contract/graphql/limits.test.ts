/**
 * Bounds of GraphQL: documents that are refused before they run, switches, and what happens to requests when
 * the client goes, the thread ends, or the server shuts down.
 */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { getIntrospectionQuery } from 'graphql'
import { askGraphql, dataOf } from '../../harness/clients/graphql.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const nested = (levels: number): string => '{ a'.repeat(levels) + ' }'.repeat(levels)
const many = (count: number, field: (at: number) => string): string =>
  `{ ${Array.from({ length: count }, (_, at) => field(at)).join(' ')} }`
/** Fragments that double each other: 2 to the power of the levels fields. */
const doubling = (levels: number): string =>
  Array.from({ length: levels }, (_, at) => `fragment F${at} on Query { ${at === 0 ? '__typename' : `...F${at - 1} ...F${at - 1}`} }`).join(
    ' ',
  )

/** Documents that are over a bound, and what is said about them. */
const DEEP = [nested(11), /the depth is 11, at most 10 is allowed/] as const
const COMPLEX = [many(1001, () => '__typename'), /the complexity is 1001, at most 1000 is allowed/] as const
const ALIASED = [many(51, (at) => `a${at}: __typename`), /there are 51 aliases, at most 50 are allowed/] as const
const LONG = [many(1999, () => 'a'), /more that 2000 tokens/] as const
const CIRCULAR = ['{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }', /fragment A uses itself/] as const
const DOUBLING = [`{ ...F59 } ${doubling(60)}`, /the complexity is \S+, at most 1000 is allowed/] as const
const INTROSPECTING = [
  `{ __schema { types ${'{ fields { type '.repeat(8)}{ name }${' } }'.repeat(8)} } }`,
  /the depth of the introspection is/,
] as const
const REFUSED = [DEEP, COMPLEX, ALIASED, LONG, CIRCULAR, DOUBLING, INTROSPECTING]

describe('bounds of graphql', () => {
  let server: Server
  before(async () => {
    server = await startServer()
    await dataOf(server, '{ __typename }')
  })
  after(() => server.stop())

  const refusesIt =
    ([document, message]: readonly [string, RegExp]) =>
    async (): Promise<void> => {
      const { status, data, errors } = await askGraphql(server, document)
      assert.equal(status, 400)
      assert.equal(data, undefined)
      assert.match(errors[0]!.message, message)
      assert.equal(errors[0]?.extensions?.code, 'BAD_USER_INPUT')
    }
  it('graphql: a depth of 11 is refused with 400 before anything runs', refusesIt(DEEP))
  it('graphql: a complexity of 1 001, each field counted once, is refused', refusesIt(COMPLEX))
  it('graphql: 51 aliases are refused', refusesIt(ALIASED))
  it('graphql: 2 001 tokens are refused', refusesIt(LONG))
  it('graphql: fragments that use each other in a circle are refused', refusesIt(CIRCULAR))
  it('graphql: fragments that double the fields 60 times are refused', refusesIt(DOUBLING))
  it('graphql: an introspection of many levels is refused', refusesIt(INTROSPECTING))

  it('graphql: 100 documents in one request are refused', async () => {
    const answer = await server.post(
      '/graphql',
      Array.from({ length: 100 }, () => ({ query: '{ __typename }' })),
    )
    assert.equal(answer.status, 400)
  })

  it('graphql: what is at its bounds is executed', async () => {
    assert.equal((await askGraphql(server, nested(10))).errors[0]?.message.includes('depth'), false)
    // 2 000 tokens.
    await dataOf(
      server,
      many(300, () => '__typename')
        .concat(' #')
        .padEnd(4000, '_'),
    )
    assert.match(
      (
        await askGraphql(
          server,
          many(1998, () => 'a'),
        )
      ).errors[0]!.message,
      /the complexity is 1998/,
    )
    // 50 aliases with 19 fields each are 1 000 fields.
    const fields = '{ pageInfo { hasNextPage hasPreviousPage startCursor endCursor totalCount } totalCount'.concat(
      ' __typename'.repeat(12),
      ' }',
    )
    await dataOf(
      server,
      many(50, (at) => `a${at}: search(input: {collection: "none"}) ${fields}`),
    )
    await dataOf(server, getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, directiveIsRepeatable: true }))
  })

  it('graphql: refused documents take at most 5 ms of the thread', async () => {
    for (const [document, message] of REFUSED) {
      const times: number[] = []
      for (let round = 0; round < 15; round++) {
        const begun = performance.now()
        await askGraphql(server, document)
        times.push(performance.now() - begun)
      }
      // The quickest: the others have waited for the machine.
      assert.ok(Math.min(...times) < 5, `${String(message)}: ${Math.min(...times)} ms`)
    }
  })

  it('graphql: a text that differs in the content of its strings only is not taken for another one', async () => {
    const add = (key: string, content: string): Promise<unknown> =>
      dataOf(
        server,
        `mutation { addDocument(input: {collection: "forms", key: "${key}", lang: "en", contentMd: """${content}"""}) { id } }`,
      )
    await add('a', 'first "quoted" # not a comment')
    await add('b', 'second')
    const contentOf = async (key: string): Promise<unknown> =>
      await dataOf(server, `{ document(collection: "forms", key: "${key}", lang: "en") { contentMd } } # "${key}`)
    assert.deepEqual(await contentOf('a'), { document: { contentMd: 'first "quoted" # not a comment' } })
    assert.deepEqual(await contentOf('b'), { document: { contentMd: 'second' } })
    // The same form but for what is in a comment or a string.
    const { status } = await askGraphql(server, '{ document(collection: "forms", key: "a", lang: "en") { contentMd } } #\n } "')
    assert.equal(status, 400)
  })

  it('graphql: a default value that is no time is refused, whatever was valid before', async () => {
    const document = (time: string): string =>
      `mutation($t: Time = "${time}") { createAPIKey(input: {description: "x", expiresAt: $t}) { key } }`
    await askGraphql(server, document('2030-01-01T00:00:00Z'))
    assert.equal((await askGraphql(server, document('never'))).status, 400)
  })

  it('graphql: a body of 10 MB that is no request is answered, and the server goes on', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        server.post('/graphql', at % 2 === 0 ? '['.repeat(10 << 20) : { query: `{ ${'a '.repeat(5 << 20)}` }),
      ),
    )
    for (const { status } of answers) assert.ok(status === 400 || status === 503, String(status))
    await dataOf(server, '{ __typename }')
  })

  it('graphql: a document of more than a million characters is refused', async () => {
    const { status, errors } = await askGraphql(server, `{ __typename } #${'x'.repeat(1 << 20)}`)
    assert.equal(status, 400)
    assert.match(errors[0]!.message, /at most 1048576 are allowed/)
  })

  it('graphql: variables that would take more memory than a body may are refused before they are built', async () => {
    const query = JSON.stringify('query($m: [Int]) { documents(m: $m) { id } }')
    for (const [variables, text] of [
      [`[${'[],'.repeat(1_048_576)}[]]`, 'JSON has more than 1048576 objects and lists'],
      ['['.repeat(100_000).concat(']'.repeat(100_000)), 'JSON is nested deeper than 64 levels'],
    ]) {
      const { status, text: body } = await server.post('/graphql', `{"query":${query},"variables":{"m":${variables}}}`)
      assert.equal(status, 400)
      assert.equal((JSON.parse(body) as { errors: readonly { message: string }[] }).errors[0]?.message, text)
    }
  })

  it('graphql: members that a request does not have are not built', async () => {
    const answer = await server.post('/graphql', `{"query":"{ __typename }","extensions":[${'[],'.repeat(1_048_576)}[]]}`)
    assert.deepEqual(answer.json(), { data: { __typename: 'Query' } })
  })

  it('graphql: long content comes by variables', async () => {
    const contentMd = 'word '.repeat(1 << 20)
    const query = 'mutation($input: AddDocumentInput!) { addDocument(input: $input) { contentMd } }'
    const { addDocument } = await dataOf<{ addDocument: { contentMd: string } }>(server, query, {
      input: { collection: 'long', key: 'k', lang: 'en', contentMd },
    })
    assert.equal(addDocument.contentMd.length, contentMd.length)
  })
})

const QUERY = `mutation($d: [AddBatchDocumentInput!]!) { a: addBatch(collection: "a", documents: $d) { added }
  b: addBatch(collection: "b", documents: $d) { added } }`
const DOCUMENTS = Array.from({ length: 3000 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: 'word '.repeat(50) }))

/** Until a lane has a batch. */
async function untilBusy(server: Server): Promise<void> {
  await untilAsked(
    () => server.get('/metrics'),
    ({ text }) => /^mddb_lane_in_flight\{queue="heavy"\} [1-9]/m.test(text),
  )
}

describe('life of graphql', () => {
  it('graphql: SVC_GRAPHQL_ENABLED=false takes endpoint and playground away', async () => {
    const server = await startServer({ env: { SVC_GRAPHQL_ENABLED: 'false' } })
    try {
      assert.equal((await server.post('/graphql', { query: '{ __typename }' })).status, 404)
      assert.equal((await server.get('/playground')).status, 404)
    } finally {
      await server.stop()
    }
  })

  it('graphql: a thread that runs out of memory is replaced, and its requests are answered 503', async () => {
    const server = await startServer({ env: { SVC_LIMIT_GRAPHQL_HEAP_MB_MAX: '24' } })
    try {
      const contentMd = 'word '.repeat(200_000)
      await dataOf(server, 'mutation($d: AddDocumentInput!) { addDocument(input: $d) { id } }', {
        d: { collection: 'c', key: 'k', lang: 'en', contentMd },
      })
      // 50 MB in 50 steps: if one step of a parser goes far beyond the limit, V8 ends the process and not the
      // thread.
      const query = many(50, (at) => `a${at}: search(input: {collection: "c"}) { edges { node { contentMd } } }`)
      const answer = await server.post('/graphql', { query })
      assert.equal(answer.status, 503, answer.text)
      assert.deepEqual(answer.json(), { error: 'outcome unknown' })
      assert.equal((await server.get('/health')).status, 200)
      const again = await untilAsked(
        () => server.post('/graphql', { query: '{ __typename }' }),
        ({ status }) => status !== 503,
      )
      assert.deepEqual(again.json(), { data: { __typename: 'Query' } })
    } finally {
      await server.stop()
    }
  })

  it('graphql: requests that were accepted before a shutdown are finished', async () => {
    const server = await startServer()
    await dataOf(server, '{ __typename }')
    const accepted = dataOf(server, QUERY, { d: DOCUMENTS })
    await Promise.race([accepted, untilBusy(server)])
    process.kill(server.pid, 'SIGTERM')
    assert.deepEqual(await accepted, { a: { added: 3000 }, b: { added: 3000 } })
    assert.equal(await server.ended, 0)
    await server.stop()
  })

  it('graphql: a client that disconnects ends its request: what follows in the document does not run', async () => {
    const server = await startServer()
    try {
      await dataOf(server, '{ __typename }')
      const gone = request({ port: server.port, host: '127.0.0.1', method: 'POST', path: '/graphql' })
      gone.on('error', () => undefined)
      gone.end(JSON.stringify({ query: QUERY, variables: { d: DOCUMENTS } }))
      await untilBusy(server)
      gone.destroy()
      await untilAsked(
        () => server.get('/metrics'),
        ({ text }) => /^mddb_aborted_requests_total [2-9]/m.test(text) && /^mddb_lane_in_flight\{queue="heavy"\} 0/m.test(text),
      )
      const { stats } = await dataOf<{ stats: { collections: readonly { name: string }[] } }>(server, '{ stats { collections { name } } }')
      assert.ok(!stats.collections.some(({ name }) => name === 'b'))
    } finally {
      await server.stop()
    }
  })
})
