/** Floods on GraphQL, which is on the port of HTTP: bodies, documents, and answers that nobody reads. */
import { Agent, request } from 'node:http'
import { type Flood, openSocket, postOf, repeat, untilEnd } from './flood.js'

const PATH = '/graphql'
const bodyOf = (query: string): string => JSON.stringify({ query })
const MB = 1e6
const LARGE = bodyOf(`{ __typename } #${'x'.repeat(10 * MB)}`)
const VALUES = `{"query":"{ __typename }","variables":{"a":[${'0,'.repeat(5 * MB - 100)}0]}}`
const DEEP = bodyOf('{ a'.repeat(10) + ' }'.repeat(10))
const BRACKETS = bodyOf('{a'.repeat(300_000))
const SEARCH = '{ search(input: { collection: "large", limit: 10 }) { edges { node { key contentMd } } } }'
const ONE = 'search(input: { collection: "large", limit: 10 }) { edges { node { key contentMd } } }'
const ALIASES = bodyOf(`{ ${Array.from({ length: 50 }, (_, at) => `a${at}: ${ONE}`).join(' ')} }`)
const GETS = bodyOf(
  `{ ${Array.from({ length: 50 }, (_, at) => `a${at}: document(collection: "healthy", key: "k", lang: "en") { key }`).join(' ')} }`,
)

export function graphqlFloods(port: number): readonly Flood[] {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const post = async (body: string): Promise<void> =>
    await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const asked = request({ host: '127.0.0.1', port, agent, method: 'POST', path: PATH, headers }, (answer) => {
        answer.resume().on('end', resolve).on('error', reject)
      })
      asked.on('error', reject).end(body)
    })
  const posting = (what: string, times: number, body: string): Flood => ({
    surface: 'graphql',
    what,
    send: async (end) => await repeat(times, end, async () => await post(body)),
  })
  const sockets = (what: string, count: number, bytes: Buffer, reads = true): Flood => ({
    surface: 'graphql',
    what,
    send: async (end) => {
      for (let n = 0; n < count; n++) openSocket(port, bytes, end, { again: true, reads })
      await untilEnd(end)
    },
  })
  return [
    posting('documents of 10 MB', 4, LARGE),
    posting('variables of 10 MB, five million values', 4, VALUES),
    posting('deep documents, as fast as they come', 16, DEEP),
    posting('documents of 300 000 brackets', 4, BRACKETS),
    posting('50 aliases of a search of 1 MB', 16, ALIASES),
    posting('50 gets in a document, as fast as they come', 16, GETS),
    sockets('500 bodies that never end', 500, postOf(PATH, bodyOf(SEARCH)).subarray(0, -5)),
    sockets('500 searches of 1 MB that nobody reads', 500, postOf(PATH, bodyOf(SEARCH)), false),
    sockets('100 answers of 50 MB that nobody reads', 100, postOf(PATH, ALIASES), false),
  ]
}
