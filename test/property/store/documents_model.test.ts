/**
 * Random sequences of add, add-batch, update, delete, set-ttl, get, search and full-text search over HTTP
 * have the same answers as documents in a plain Map. Every run uses its own collection on one server.
 * fast-check prints the seed and shrinks failures. Identity rules: service-1, "Document".
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../harness/property.js'
import { type Server, startServer, type TestResponse } from '../../harness/server/server.js'

const RUNS = 50
const TTL = 5000

type Meta = Readonly<Record<string, readonly string[]>>

interface Stored {
  key: string
  meta: Meta
  contentMd: string
  expires: boolean
  revisions: number
  readonly spellings: Set<string>
}

type Operation =
  | { readonly kind: 'add' | 'batch'; readonly key: string; readonly contentMd: string; readonly meta: Meta; readonly ttl: number }
  | { readonly kind: 'update'; readonly key: string; readonly contentMd?: string; readonly meta?: Meta; readonly ttl?: number }
  | { readonly kind: 'setTtl'; readonly key: string; readonly ttl: number }
  | { readonly kind: 'delete' | 'get'; readonly key: string }
  | { readonly kind: 'search'; readonly filterMeta: Meta; readonly asc: boolean; readonly limit: number; readonly offset: number }
  | { readonly kind: 'fts'; readonly word: string }

const WORDS = ['walrus', 'penguin', 'otter']
const key = fc.constantFrom('a', 'A', 'b', 'B', 'ö', 'Ö', 'a|b', '🙂')
const values = fc.array(fc.constantFrom('red', 'blue', 'Red', ''), { maxLength: 3 })
const meta: fc.Arbitrary<Meta> = fc.dictionary(fc.constantFrom('colour', 'constructor', 'x y'), values, {
  maxKeys: 3,
  noNullPrototype: true,
})
/** Text beside words that no markdown rule joins to them and that does not hide them. */
const noise = fc.string({ unit: fc.constantFrom('x', 'é', '🙂', '"', '\\', '\u0001', '\u2028'), maxLength: 5 })
const contentMd = fc.array(fc.oneof(fc.constantFrom(...WORDS), noise), { maxLength: 6 }).map((parts) => parts.join(' \n'))
const ttl = fc.constantFrom(0, TTL)

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('add' as const, 'batch' as const), key, contentMd, meta, ttl }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('update' as const), key, contentMd, meta, ttl }, { requiredKeys: ['kind', 'key'] }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('setTtl' as const), key, ttl }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'get' as const), key }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('search' as const),
      filterMeta: meta,
      asc: fc.boolean(),
      limit: fc.integer({ min: 1, max: 4 }),
      offset: fc.nat(4),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fts' as const), word: fc.constantFrom(...WORDS) }) },
)

/** One run: the model, and the server's answers to the same operations. */
class Run {
  readonly #server: Server
  readonly #collection: string
  readonly #documents = new Map<string, Stored>()

  constructor(server: Server, collection: string) {
    this.#server = server
    this.#collection = collection
  }

  async step(op: Operation): Promise<void> {
    switch (op.kind) {
      case 'add':
        return this.#expectDocument(await this.#send('POST', '/v1/add', { ...op, lang: 'en' }), this.#put(op.key, op))
      case 'batch': {
        const isNew = !this.#documents.has(op.key.toLowerCase())
        const answer = await this.#send('POST', '/v1/add-batch', { documents: [{ ...op, lang: 'en' }] })
        this.#put(op.key, op)
        return assert.deepEqual(answer.json(), { added: isNew ? 1 : 0, updated: isNew ? 0 : 1, failed: 0, errors: [] })
      }
      case 'update':
        return this.#update(op)
      case 'setTtl': {
        const document = this.#find(op.key)
        if (document !== undefined) document.expires = op.ttl > 0
        return this.#expectDocument(await this.#send('POST', '/v1/set-ttl', { ...op, lang: 'en' }), document)
      }
      case 'get':
        return this.#expectDocument(await this.#send('POST', '/v1/get', { ...op, lang: 'en' }), this.#find(op.key))
      case 'delete': {
        const isThere = this.#find(op.key) !== undefined && this.#documents.delete(op.key.toLowerCase())
        const answer = await this.#send('POST', '/v1/delete', { ...op, lang: 'en' })
        return assert.equal(answer.status, isThere ? 200 : 404, answer.text)
      }
      case 'search':
        return this.#search(op)
      case 'fts':
        return this.#fulltext(op.word)
    }
  }

  /** Compares the whole collection: documents, counts, revisions, metadata. */
  async compareAll(): Promise<void> {
    for (const word of WORDS) await this.#fulltext(word)
    await this.#search({ filterMeta: {}, asc: true, limit: 100, offset: 0 })
    const expected: Record<string, string[]> = {}
    for (const [name, list] of [...this.#documents.values()].flatMap((document) => Object.entries(document.meta))) {
      if (list.length > 0) expected[name] = [...new Set([...(Object.hasOwn(expected, name) ? (expected[name] ?? []) : []), ...list])].sort()
    }
    const metaKeys = await this.#server.get(`/v1/meta-keys?collection=${this.#collection}`)
    assert.deepEqual(metaKeys.json().meta, expected)
    for (const document of this.#documents.values()) {
      for (const spelling of document.spellings) {
        const { total } = (await this.#send('POST', '/v1/revisions', { key: spelling, lang: 'en' })).json()
        assert.equal(total, document.revisions, spelling)
      }
    }
  }

  async #update(op: Operation & { readonly kind: 'update' }): Promise<void> {
    const answer = await this.#send('PATCH', '/v1/update', { ...op, lang: 'en' })
    if (op.contentMd === undefined && op.meta === undefined && op.ttl === undefined) {
      return assert.equal(`${answer.status} ${answer.text}`, '400 {"error":"no fields to update"}')
    }
    const document = this.#find(op.key)
    if (document !== undefined) {
      document.contentMd = op.contentMd ?? document.contentMd
      document.meta = op.meta ?? document.meta
      document.expires = op.ttl === undefined ? document.expires : op.ttl > 0
      document.revisions++
    }
    this.#expectDocument(answer, document)
  }

  async #search(op: Omit<Operation & { readonly kind: 'search' }, 'kind'>): Promise<void> {
    const answer = await this.#send('POST', '/v1/search', { ...op, sort: 'key' })
    const passing = [...this.#documents.values()].filter((document) =>
      Object.entries(op.filterMeta).every(([name, wanted]) => {
        const list = Object.hasOwn(document.meta, name) ? (document.meta[name] ?? []) : []
        return wanted.some((value) => list.includes(value))
      }),
    )
    passing.sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)) * (op.asc ? 1 : -1))
    const page = passing.slice(op.offset, op.offset + op.limit)
    const found = answer.json<Record<string, unknown>[]>()
    assert.deepEqual(found.map(visiblePart), page.map(expectedPart))
    assert.equal(answer.headers['x-total-count'], String(passing.length))
  }

  async #fulltext(word: string): Promise<void> {
    const { results } = (await this.#send('POST', '/v1/fts', { query: word, limit: 100 })).json<{
      results: { document: { key: string } }[]
    }>()
    const expected = [...this.#documents.values()].filter((document) => document.contentMd.split(/[ \n]+/).includes(word))
    assert.deepEqual(new Set(results.map(({ document }) => document.key)), new Set(expected.map((document) => document.key)), word)
  }

  #put(spelling: string, fields: { readonly contentMd: string; readonly meta: Meta; readonly ttl: number }): Stored {
    const old = this.#documents.get(spelling.toLowerCase())
    const spellings = (old?.spellings ?? new Set<string>()).add(spelling)
    const { contentMd: content, meta: newMeta } = fields
    const stored = {
      key: spelling,
      meta: newMeta,
      contentMd: content,
      expires: fields.ttl > 0,
      revisions: (old?.revisions ?? 0) + 1,
      spellings,
    }
    this.#documents.set(spelling.toLowerCase(), stored)
    return stored
  }

  #find(spelling: string): Stored | undefined {
    const document = this.#documents.get(spelling.toLowerCase())
    return document?.spellings.has(spelling) === true ? document : undefined
  }

  #expectDocument(answer: TestResponse, document: Stored | undefined): void {
    if (document === undefined) return assert.equal(`${answer.status} ${answer.text}`, '404 {"error":"not found"}')
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(visiblePart(answer.json()), expectedPart(document))
  }

  #send(method: string, path: string, body: object): Promise<TestResponse> {
    return this.#server.request(method, path, { collection: this.#collection, ...body })
  }
}

function visiblePart({ key: spelling, meta: shown, contentMd: content, expiresAt }: Readonly<Record<string, unknown>>): unknown {
  return { key: spelling, meta: shown, contentMd: content, expires: expiresAt !== undefined }
}

function expectedPart({ key: spelling, meta: expected, contentMd: content, expires }: Stored): unknown {
  return { key: spelling, meta: expected, contentMd: content, expires }
}

describe('documents over HTTP against a Map', () => {
  let server: Server
  let runs = 0
  before(async () => {
    server = await startServer()
  })
  after(() => server.stop())

  it('documents: any sequence of writes and reads answers like a Map of the identity rules', async () => {
    const property = fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 30 }), async (operations) => {
      const run = new Run(server, `run-${++runs}`)
      for (const op of operations) await run.step(op)
      await run.compareAll()
    })
    await holds(property, { numRuns: RUNS })
  })
})
