/**
 * Bad input: an immediate error and no partial effect. service-2, "Errors": "400: invalid JSON, missing
 * required fields (message `missing fields`)"; docs/decisions/interfaces/http-conventions.md. After every
 * refusal the statistics and the document must be unchanged.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'

type Body = Readonly<Record<string, unknown>>

interface Case {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  /** A valid body. */
  readonly body: Body
  readonly required: readonly string[]
  /** Kind of every field. */
  readonly fields: Readonly<Record<string, keyof typeof WRONG>>
}

/** Values of the wrong type or out of range, by kind of field. */
const WRONG = {
  text: [1, 0, 1.5, true, false, [], ['x'], {}, { x: 'y' }],
  count: ['1', 'x', '', true, [], [1], {}, -1, 0.5, -1e300],
  time: ['1', 'x', '', true, [], [1], {}, 0.5],
  flag: ['true', '', 0, 1, [], {}],
  metadata: ['x', '', 1, true, ['x'], { a: 'x' }, { a: 1 }, { a: {} }, { a: [1] }, { a: ['x', true] }, { a: [['x']] }, { a: [{}] }],
  texts: ['x', 1, true, ['x'], { a: 1 }, { a: true }, { a: [] }, { a: {} }],
  list: ['x', '', 1, true, {}, { 0: {} }],
} as const satisfies Record<string, readonly unknown[]>

const ID = { collection: 'guarded', key: 'doc', lang: 'en' }
const ID_FIELDS = { collection: 'text', key: 'text', lang: 'text' } as const
const ID_REQUIRED = ['collection', 'key', 'lang']

const CASES: readonly Case[] = [
  {
    method: 'POST',
    path: '/v1/add',
    body: { ...ID, contentMd: 'changed' },
    required: [...ID_REQUIRED, 'contentMd'],
    fields: { ...ID_FIELDS, contentMd: 'text', meta: 'metadata', ttl: 'count' },
  },
  {
    method: 'POST',
    path: '/v1/add-batch',
    body: { collection: 'guarded', documents: [{ key: 'doc', lang: 'en', contentMd: 'changed' }] },
    required: ['collection', 'documents'],
    fields: { collection: 'text', documents: 'list' },
  },
  { method: 'POST', path: '/v1/get', body: ID, required: ID_REQUIRED, fields: { ...ID_FIELDS, env: 'texts' } },
  { method: 'POST', path: '/v1/doc-meta', body: ID, required: ['collection', 'key'], fields: ID_FIELDS },
  {
    method: 'POST',
    path: '/v1/search',
    body: { collection: 'guarded' },
    required: ['collection'],
    fields: { collection: 'text', filterMeta: 'metadata', sort: 'text', asc: 'flag', limit: 'count', offset: 'count' },
  },
  {
    method: 'PATCH',
    path: '/v1/update',
    body: { ...ID, contentMd: 'changed' },
    required: ID_REQUIRED,
    fields: { ...ID_FIELDS, contentMd: 'text', meta: 'metadata', ttl: 'count' },
  },
  { method: 'POST', path: '/v1/delete', body: ID, required: ID_REQUIRED, fields: ID_FIELDS },
  {
    method: 'POST',
    path: '/v1/delete-batch',
    body: { collection: 'guarded', documents: [{ key: 'doc', lang: 'en' }] },
    required: ['collection', 'documents'],
    fields: { collection: 'text', documents: 'list' },
  },
  {
    method: 'POST',
    path: '/v1/delete-collection',
    body: { collection: 'guarded' },
    required: ['collection'],
    fields: { collection: 'text' },
  },
  {
    method: 'POST',
    path: '/v1/set-ttl',
    body: { ...ID, ttl: 1 },
    required: [...ID_REQUIRED, 'ttl'],
    fields: { ...ID_FIELDS, ttl: 'count' },
  },
  { method: 'POST', path: '/v1/revisions', body: ID, required: ID_REQUIRED, fields: ID_FIELDS },
  {
    method: 'POST',
    path: '/v1/revisions/restore',
    body: { ...ID, timestamp: 1 },
    required: [...ID_REQUIRED, 'timestamp'],
    fields: { ...ID_FIELDS, timestamp: 'time', revision: 'count' },
  },
  {
    method: 'POST',
    path: '/v1/truncate',
    body: { collection: 'guarded', keepRevs: 5 },
    required: ['collection', 'keepRevs'],
    fields: { collection: 'text', keepRevs: 'count' },
  },
  {
    method: 'POST',
    path: '/v1/export',
    body: { collection: 'guarded', format: 'ndjson' },
    required: ['collection'],
    fields: { collection: 'text', format: 'text', filterMeta: 'metadata' },
  },
]

describe('bad input', () => {
  let client: DocumentsClient
  let original: unknown
  before(async () => {
    client = await DocumentsClient.start()
    await client.add('guarded', 'doc', { contentMd: 'first', meta: { a: ['0'] } })
    await client.add('guarded', 'doc', { contentMd: 'walrus', meta: { a: ['1'] } })
    original = await state()
  })
  after(() => client.stop())

  const state = async (): Promise<unknown> => {
    const { databaseSize, uptime, indexQueue, ...counts } = (await client.server.get('/v1/stats')).json()
    assert.ok(databaseSize !== undefined && uptime !== undefined && indexQueue !== undefined)
    return [counts, await client.get('guarded', 'doc'), await client.revisions('guarded', 'doc'), await client.found('guarded', 'walrus')]
  }
  const refusal = async ({ method, path }: Case, body: unknown, what: string): Promise<string> => {
    const answer = await client.server.request(method, path, body)
    assert.equal(answer.status, 400, `${path} ${what}: ${summary(answer).slice(0, 300)}`)
    const fields = answer.json()
    assert.deepEqual(Object.keys(fields), 'hint' in fields ? ['error', 'hint'] : ['error'], what)
    return String(fields.error)
  }
  const unchanged = async (what: string): Promise<void> => assert.deepEqual(await state(), original, `${what} changed something`)

  it('bad input: a field of the wrong type is 400, names the field, and nothing is changed, for every field of every operation', async () => {
    for (const one of CASES) {
      for (const [field, kind] of Object.entries(one.fields)) {
        for (const value of WRONG[kind]) {
          const text = await refusal(one, { ...one.body, [field]: value }, `${field}: ${JSON.stringify(value)}`)
          if (value === '' && one.required.includes(field)) assert.match(text, /^(missing fields|invalid )/, `${one.path} ${field}`)
          else assert.match(text, new RegExp(`^invalid ${field}`), `${one.path} ${field}: ${JSON.stringify(value)}`)
        }
      }
      await unchanged(one.path)
    }
  })

  it('bad input: a required field that is missing, null or empty is 400 missing fields, and nothing is changed', async () => {
    for (const one of CASES) {
      for (const field of one.required) {
        const { [field]: _, ...without } = one.body
        assert.equal(await refusal(one, without, `without ${field}`), 'missing fields')
        assert.equal(await refusal(one, { ...one.body, [field]: null }, `${field}: null`), 'missing fields')
        if (one.fields[field] === 'text' && field !== 'contentMd') {
          assert.equal(await refusal(one, { ...one.body, [field]: '' }, `${field}: empty`), 'missing fields')
        }
      }
      await unchanged(one.path)
    }
  })

  it('bad input: invalid JSON and JSON other than an object are 400 invalid JSON, an empty body and {} are 400 missing fields', async () => {
    const broken = [
      '{',
      '{"collection":',
      '{"collection":"guarded",}',
      "{'a':1}",
      'nonsense',
      '\u0000',
      '{"a":"\u0001"}',
      '{"a":NaN}',
      '{}{}',
      '\ufeff{}',
    ]
    const others = ['[]', '[{"collection":"guarded"}]', '"text"', '1', 'true', 'null', '[[]]', ' "x" ']
    for (const one of CASES) {
      for (const body of [...broken, ...others]) assert.equal(await refusal(one, body, body), 'invalid JSON', `${one.path} ${body}`)
      for (const body of ['', '{}', ' {\n} ']) assert.equal(await refusal(one, body, JSON.stringify(body)), 'missing fields')
    }
    assert.equal(summary(await client.server.request('POST', '/v1/add')), MISSING_FIELDS, 'no body at all')
    await unchanged('a body that is no object')
  })

  it('bad input: invalid UTF-8 anywhere in a body is 400 invalid UTF-8', async () => {
    const bytes = [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80]]
    for (const one of CASES) {
      for (const spoiled of bytes) {
        const text = JSON.stringify({ ...one.body, contentMd: 'MARK', key: 'doc', unheardOf: 'MARK' })
        const [head = '', middle = ''] = text.split('MARK')
        const body = Buffer.concat([Buffer.from(head), Buffer.from(spoiled), Buffer.from(`${middle}"}`)])
        assert.equal(await refusal(one, body, spoiled.join(' ')), 'invalid UTF-8', one.path)
      }
    }
    await unchanged('invalid UTF-8')
  })

  it('bad input: JSON that is nested deeper than 64 levels is 400, even 100 000 levels', async () => {
    for (const one of CASES) {
      for (const depth of [64, 1000, 100_000]) {
        const deep = '['.repeat(depth) + ']'.repeat(depth)
        const text = await refusal(one, JSON.stringify({ ...one.body, deep: 'HERE' }).replace('"HERE"', deep), String(depth))
        assert.match(text, /nested deeper than 64|invalid JSON/)
      }
    }
    await unchanged('deep JSON')
  })

  it('bad input: tens of megabytes of brackets are 400 and end no lane', async () => {
    const bytes = 16 << 20
    for (const [hostile, text] of [
      ['['.repeat(bytes), /nested deeper than 64/],
      ['{"a":'.repeat(bytes / 5), /nested deeper than 64/],
      [`[${'{},'.repeat(bytes / 3)}{}]`, /more than 1048576 objects and lists/],
    ] as const) {
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => client.server.post('/v1/add-batch', `{"collection":"guarded","documents":${hostile}`)),
      )
      for (const answer of answers) {
        assert.equal(answer.status, 400)
        assert.match(answer.text, text)
      }
    }
    assert.doesNotMatch(client.server.output(), /lane died/)
    await unchanged('brackets')
  })

  it('bad input: a body of 100 MiB is 413, changes nothing, and the server goes on', async () => {
    const answer = await client.server.post('/v1/add', Buffer.alloc(100 * 1024 * 1024, 0x20))
    assert.equal(summary(answer), '413 {"error":"request body too large"}')
    await unchanged('100 MiB')
  })

  it('bad input: a body of repeated keys counts the last, as JSON parsers do', async () => {
    const answer = await client.server.post('/v1/get', '{"collection":"x","collection":"guarded","key":"doc","lang":"en"}')
    assert.equal(answer.status, 200)
  })

  describe('bounds of names: collection 128, key 1 024, lang 35 bytes of UTF-8', () => {
    const longest = { collection: 'ö'.repeat(64), key: 'ü'.repeat(512), lang: `en_${'x'.repeat(32)}` }
    /** 512 letters of 2 bytes that have 3 bytes in lower case. */
    const growing = 'İ'.repeat(512)

    it('bounds: collection, key and lang of exactly their bound work in every operation', async () => {
      for (const key of [longest.key, growing]) {
        const id = { ...longest, key }
        assert.equal((await client.post('/v1/add', { ...id, contentMd: 'walrus' })).status, 200)
        assert.equal(
          (await client.post('/v1/add-batch', { collection: id.collection, documents: [{ ...id, contentMd: 'walrus' }] })).status,
          200,
        )
        const [{ timestamp, revision } = { timestamp: 0, revision: 0 }] = await client.revisions(id.collection, id.key, id)
        for (const { method, path, body } of CASES) {
          if (path.includes('batch') || path.startsWith('/v1/delete')) continue
          const more = path.endsWith('restore') ? { timestamp, revision } : path.endsWith('set-ttl') ? { ttl: 600 } : {}
          const answer = await client.server.request(method, path, { ...body, ...id, ...more })
          assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 200)}`)
        }
        assert.deepEqual((await client.search(id.collection)).documents.map((document) => document.key), [key]) // prettier-ignore
        assert.deepEqual(await client.found(id.collection, 'walrus'), [key], 'the restored state')
        const removed = (await client.post('/v1/delete-batch', { collection: id.collection, documents: [id] })).json()
        assert.deepEqual(removed, { deleted: 1, not_found: 0, failed: 0, errors: null })
      }
      assert.equal((await client.post('/v1/delete-collection', longest)).status, 200)
      await unchanged('long names elsewhere')
    })

    it('bounds: a byte more, and a megabyte more, is 400 in every operation and names the bound', async () => {
      const bounds = { collection: 128, key: 1024, lang: 35 } as const
      for (const one of CASES) {
        for (const [field, bound] of Object.entries(bounds)) {
          if (!(field in one.fields)) continue
          for (const bytes of [bound + 1, 2000, 5000, 1_000_000]) {
            const text = await refusal(one, { ...one.body, [field]: 'k'.repeat(bytes) }, `${field} of ${bytes}`)
            assert.equal(text, `invalid ${field}: ${bytes} bytes, at most ${bound} are allowed`, one.path)
          }
        }
      }
      const path = `/v1/doc-meta?collection=guarded&key=${'k'.repeat(1025)}`
      assert.equal(summary(await client.server.get(path)), '400 {"error":"invalid key: 1025 bytes, at most 1024 are allowed"}')
      await unchanged('names out of bounds')
    })

    it('bounds: in delete-batch a name out of bounds fails alone', async () => {
      const documents = [
        { key: 'k'.repeat(1_000_000), lang: 'en' },
        { key: 'none', lang: 'l'.repeat(36) },
        { key: 'none', lang: 'en' },
      ]
      const { not_found: notFound, failed, errors } = (await client.post('/v1/delete-batch', { collection: 'guarded', documents })).json()
      assert.deepEqual([notFound, failed], [1, 2])
      assert.match(String(errors), /documents\[0\]: invalid key: 1000000 bytes, at most 1024 are allowed/)
      await unchanged('delete-batch')
    })

    it('bounds: NUL in a key, control characters in collection and lang, and lone surrogates in names are 400', async () => {
      const cases = [
        ['key', 'a\0b', 'invalid key: NUL is not allowed'],
        ['key', 'a\ud800', 'invalid key: invalid UTF-8'],
        ['lang', 'e\nn', 'invalid lang: control characters are not allowed'],
        ['lang', '\udc00', 'invalid lang: invalid UTF-8'],
        ['collection', 'a\0b', 'invalid collection: control characters are not allowed'],
        ['collection', 'a\u007fb', 'invalid collection: control characters are not allowed'],
        ['collection', '\ud83d', 'invalid collection: invalid UTF-8'],
      ] as const
      for (const one of CASES) {
        for (const [field, value, text] of cases) {
          if (field in one.fields) assert.equal(await refusal(one, { ...one.body, [field]: value }, JSON.stringify(value)), text, one.path)
        }
      }
      await unchanged('unprintable names')
    })
  })

  describe('bounds of metadata and content', () => {
    const add = CASES[0] as Case

    it('bounds: 256 keys of 512 bytes, 1 024 values, and a value of 8 KiB are stored and found; one more of each is 400', async () => {
      const c = client.collection()
      const keys = (count: number): Body => Object.fromEntries(Array.from({ length: count }, (_, number) => [`key ${number}`, ['v']]))
      const values = (count: number): Body => ({ many: Array.from({ length: count }, (_, number) => String(number)) })
      const good = [keys(256), values(1024), { ['k'.repeat(512)]: ['v'] }, { long: ['v'.repeat(8192)] }]
      for (const [index, meta] of good.entries()) {
        await client.add(c, `doc ${index}`, { meta })
        const [[key, list] = ['', []]] = Object.entries(meta)
        assert.deepEqual(await client.keys(c, { filterMeta: { [key]: (list as string[]).slice(-1) } }), [`doc ${index}`])
        assert.deepEqual((await client.get(c, `doc ${index}`))?.meta, meta)
      }
      const bad: readonly (readonly [Body, RegExp])[] = [
        [keys(257), /^invalid meta: 257 keys, at most 256/],
        [values(1025), /^invalid meta\.many: 1025 values, at most 1024/],
        [{ ['k'.repeat(513)]: ['v'] }, /^invalid meta: a key of more than 512 bytes/],
        [{ long: ['v'.repeat(8193)] }, /^invalid meta\.long: a value of more than 8192 bytes/],
      ]
      for (const [meta, text] of bad) assert.match(await refusal(add, { ...add.body, meta }, String(text)), text)
      await client.post('/v1/delete-collection', { collection: c })
      await unchanged('metadata out of bounds')
    })

    it('bounds: a document of 16 MiB is stored, searched and read back whole, however it is escaped; a byte more is 400', async () => {
      const c = client.collection()
      const sixteen = 16 * 1024 * 1024
      const line = 'some "quoted" text, line by line\n'
      const contentMd = `walrus ${line.repeat(sixteen / line.length)}`.slice(0, sixteen - 1).padEnd(sixteen, '!')
      assert.equal(Buffer.byteLength(contentMd), sixteen)
      assert.equal((await client.add(c, 'large', { contentMd })).contentMd, contentMd)
      assert.equal((await client.get(c, 'large'))?.contentMd, contentMd)
      assert.deepEqual(await client.found(c, 'walrus'), ['large'])
      const text = await refusal(add, { ...add.body, contentMd: `${contentMd}!` }, 'a byte more')
      assert.equal(text, `invalid contentMd: ${sixteen + 1} bytes, at most ${sixteen} are allowed`)
      await client.post('/v1/delete-collection', { collection: c })
      await unchanged('a content out of bounds')
    })
  })
})
