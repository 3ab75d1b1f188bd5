/**
 * Schemas of collections over HTTP: service-1, "Schema validation"; service-2, "Errors"; http.md, section 5;
 * algorithms.md, section 13; docs/decisions/documents/collections.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'

interface Verdict {
  readonly valid: boolean
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

const STATUS = { required: ['status'], properties: { status: { enum: ['draft', 'published'] } } }
const BAD_STATUS = 'field "status": value "x" not in allowed values ["draft", "published"] (enum)'

describe('schemas of collections', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.start()
  })
  after(() => client.stop())

  const set = async (collection: string, schema: unknown): Promise<void> => {
    const answer = await client.post('/v1/schema/set', { collection, schema })
    assert.equal(summary(answer), `200 ${JSON.stringify({ status: 'ok', collection })}`)
  }
  const refused = async (schema: unknown): Promise<string> => {
    const answer = await client.post('/v1/schema/set', { collection: 'refused', schema })
    assert.equal(answer.status, 400, JSON.stringify(schema))
    return answer.json<{ error: string }>().error
  }
  const validate = async (collection: string, meta?: Fields): Promise<Verdict> => {
    const answer = await client.post('/v1/validate', { collection, meta })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Verdict>()
  }
  const errors = async (schema: unknown, meta: Fields): Promise<readonly string[]> => {
    const name = client.collection()
    await set(name, schema)
    const verdict = await validate(name, meta)
    assert.equal(verdict.valid, verdict.errors.length === 0)
    return verdict.errors
  }

  describe('set, get, list, delete', () => {
    it('schema: get and list return the set schema as JSON text, in any spelling of the collection, until it is deleted', async () => {
      const name = client.collection()
      const none = { collection: name, schema: null, enabled: false }
      assert.deepEqual((await client.post('/v1/schema/get', { collection: name })).json(), none)
      await set(name, STATUS)
      const got = (await client.post('/v1/schema/get', { collection: name.toUpperCase() })).json<{ schema: string; enabled: boolean }>()
      assert.deepEqual([JSON.parse(got.schema), got.enabled], [STATUS, true])
      const text = '{ "title": "as text",\n "required": ["a"] }'
      await set(name, text)
      const { schemas } = (await client.post('/v1/schema/list', {})).json<{ schemas: { collection: string; schema: string }[] }>()
      assert.deepEqual(
        schemas.filter(({ collection }) => collection === name),
        [{ collection: name, schema: text }],
      )
      for (const round of ['there', 'gone already']) {
        const answer = await client.post('/v1/schema/delete', { collection: name })
        assert.equal(summary(answer), `200 ${JSON.stringify({ status: 'deleted', collection: name })}`, round)
      }
      assert.deepEqual((await client.post('/v1/schema/get', { collection: name })).json(), none)
      const after = (await client.post('/v1/schema/list', undefined)).json<{ schemas: { collection: string }[] }>().schemas
      assert.ok(after.every(({ collection }) => collection !== name))
    })

    it('schema: requests without collection or schema are 400 missing fields', async () => {
      for (const [path, body] of [
        ['/v1/schema/set', { collection: 'c' }],
        ['/v1/schema/set', { collection: 'c', schema: null }],
        ['/v1/schema/set', { schema: STATUS }],
        ['/v1/schema/get', {}],
        ['/v1/schema/delete', {}],
        ['/v1/validate', { meta: {} }],
      ] as const)
        assert.equal(summary(await client.post(path, body)), MISSING_FIELDS, path)
    })

    it('schema: a malformed schema is refused at set with a text that names the path, and the old one stays', async () => {
      const cases: readonly (readonly [unknown, string])[] = [
        [5, 'an object is expected'],
        [[5], 'an object is expected'],
        ['{', 'not JSON'],
        [{ type: 'array' }, 'type: must be object'],
        [{ required: 'a' }, 'required: a list is expected'],
        [{ required: ['a', 5] }, 'required.1: the name of a field is expected'],
        [{ properties: [5] }, 'properties: an object is expected'],
        [{ properties: { a: true } }, 'properties.a: an object is expected'],
        [{ properties: { a: { type: 'list' } } }, 'properties.a.type: must be string, number, integer, or boolean'],
        [
          { properties: { a: { minLength: 2 } } },
          'properties.a.minLength: no such rule; there are type, enum, pattern, minItems, maxItems',
        ],
        [{ additionalProperties: false }, 'additionalProperties: no such rule; there are type, required, properties'],
        [{ properties: { a: { minItems: -1 } } }, 'properties.a.minItems: a whole number from 0 to 1024 is expected'],
        [{ properties: { a: { maxItems: 1.5 } } }, 'properties.a.maxItems: a whole number from 0 to 1024 is expected'],
        [{ properties: { a: { minItems: 3, maxItems: 2 } } }, 'properties.a.minItems: 3 is above maxItems, 2'],
        [{ properties: { a: { enum: 'x' } } }, 'properties.a.enum: a list is expected'],
        [{ properties: { a: { enum: [] } } }, 'properties.a.enum: no value is allowed by an empty list'],
        [{ properties: { a: { enum: ['x', {}] } } }, 'properties.a.enum.1: a text, a number or a boolean is expected'],
        [{ properties: { a: { pattern: 7 } } }, 'properties.a.pattern: a text is expected'],
        [{ properties: { a: { pattern: '(' } } }, 'properties.a.pattern: error parsing regexp: missing closing ): `(`'],
        [{ properties: { a: { pattern: 'x'.repeat(1025) } } }, 'properties.a.pattern: 1025 bytes, at most 1024 are allowed'],
        [{ properties: { a: { pattern: '(a{500}){3}' } } }, 'properties.a.pattern: '],
        [{ title: 'x'.repeat(65_536) }, '65548 bytes, at most 65536 are allowed'],
      ]
      await set('refused', STATUS)
      for (const [schema, text] of cases) assert.ok((await refused(schema)).startsWith(`invalid schema: ${text}`), await refused(schema))
      const { schema } = (await client.post('/v1/schema/get', { collection: 'refused' })).json<{ schema: string }>()
      assert.deepEqual(JSON.parse(schema), STATUS)
    })

    it('schema: schemas are counted by mddb_schemas_total, survive a restart, and go with their collection', async () => {
      const counted = async (of: DocumentsClient): Promise<string | undefined> =>
        /^mddb_schemas_total (\d+)$/m.exec((await of.server.get('/metrics')).text)?.[1]
      const own = await DocumentsClient.start()
      await own.post('/v1/schema/set', { collection: 'a', schema: STATUS })
      await own.post('/v1/schema/set', { collection: 'b', schema: STATUS })
      assert.equal(await counted(own), '2')
      await own.server.kill()
      const again = await DocumentsClient.start({ directory: own.server.directory })
      assert.equal(await counted(again), '2')
      const add = { collection: 'a', key: 'k', lang: 'en', contentMd: '' }
      assert.equal((await again.post('/v1/add', add)).status, 400)
      await again.post('/v1/delete-collection', { collection: 'a' })
      assert.equal(await counted(again), '1')
      assert.equal((await again.post('/v1/add', add)).status, 200)
      await again.stop()
      await own.stop()
    })
  })

  describe('rules', () => {
    it('schema: required asks for a value', async () => {
      assert.deepEqual(await errors({ required: ['a', 'b', 'c'] }, { a: ['x'], b: [] }), [
        'missing required field "b"',
        'missing required field "c"',
      ])
    })

    it('schema: type asks that every value reads as a number, an integer or a boolean', async () => {
      const schema = {
        type: 'object',
        properties: { s: { type: 'string' }, n: { type: 'number' }, i: { type: 'integer' }, b: { type: 'boolean' } },
      }
      assert.deepEqual(
        await errors(schema, { s: ['', '1'], n: ['-1.5e3', '.5', '7'], i: ['0', '-12', '99999999999999999999'], b: ['true', 'false'] }),
        [],
      )
      assert.deepEqual(await errors(schema, { n: ['1', 'x', ''], i: ['1.0', '0x1'], b: ['True', '1'] }), [
        'field "b": value "True" is not a valid boolean (type)',
        'field "b": value "1" is not a valid boolean (type)',
        'field "i": value "1.0" is not a valid integer (type)',
        'field "i": value "0x1" is not a valid integer (type)',
        'field "n": value "x" is not a valid number (type)',
        'field "n": value "" is not a valid number (type)',
      ])
    })

    it('schema: enum lists the values that are allowed, numbers and booleans by their text', async () => {
      const schema = { properties: { status: { enum: ['draft', 'published'] }, level: { enum: [1, 2.5, true] } } }
      assert.deepEqual(await errors(schema, { status: ['draft'], level: ['1', '2.5', 'true'] }), [])
      assert.deepEqual(await errors(schema, { status: ['draft', 'x'], level: ['3'] }), [
        'field "level": value "3" not in allowed values ["1", "2.5", "true"] (enum)',
        BAD_STATUS,
      ])
    })

    it('schema: minItems and maxItems count the values of a key that is there, and maxItems 0 is no bound', async () => {
      const schema = { properties: { a: { minItems: 2 }, b: { maxItems: 1 }, c: { minItems: 1, maxItems: 0 } } }
      assert.deepEqual(await errors(schema, {}), [])
      assert.deepEqual(await errors(schema, { a: ['1', '2'], b: ['1'], c: ['1', '2', '3'] }), [])
      assert.deepEqual(await errors(schema, { a: ['1'], b: ['1', '2', '3'], c: [] }), [
        'field "a" has 1 value, minimum 2 (minItems)',
        'field "b" has 3 values, maximum 1 (maxItems)',
        'field "c" has 0 values, minimum 1 (minItems)',
      ])
    })

    it('schema: pattern is found anywhere in a value unless it is anchored, and takes linear time', async () => {
      const schema = { properties: { slug: { pattern: '^[a-z0-9-]+$' }, any: { pattern: '\\d{4}' }, evil: { pattern: '^(a+)+$' } } }
      assert.deepEqual(await errors(schema, { slug: ['a-1'], any: ['in 2024'], evil: ['aaa'] }), [])
      const begin = performance.now()
      assert.deepEqual(await errors(schema, { slug: ['A'], any: ['x'], evil: [`${'a'.repeat(8000)}!`] }), [
        'field "any": value "x" does not match pattern "\\d{4}"',
        `field "evil": value "${'a'.repeat(80)}…" does not match pattern "^(a+)+$"`,
        'field "slug": value "A" does not match pattern "^[a-z0-9-]+$"',
      ])
      assert.ok(performance.now() - begin < 5000, 'a backtracking matcher needs longer than the universe has')
    })

    it('schema: properties hold for keys of any name, and keys without rules are free', async () => {
      const names = ['constructor', 'toString', 'hasOwnProperty', 'ä|ö', 'a.b']
      const schema = { required: names, properties: Object.fromEntries(names.map((name) => [name, { maxItems: 1 }])) }
      assert.deepEqual(await errors(schema, {}), names.map((name) => `missing required field "${name}"`)) // prettier-ignore
      assert.deepEqual(await errors(schema, { ...Object.fromEntries(names.map((name) => [name, ['x']])), free: ['1', '2'] }), [])
      const twice = Object.fromEntries(names.map((name) => [name, ['x', 'y']]))
      assert.equal((await errors(schema, twice)).length, names.length)
    })

    it('schema: at most 50 errors are reported, and patterns cost one document a bounded time', async () => {
      const wrong = Array.from({ length: 200 }, (_, index) => `wrong ${index}`)
      assert.equal((await errors(STATUS, { status: wrong })).length, 50)
      const begin = performance.now()
      const long = Array.from({ length: 1000 }, (_, index) => `${index} ${'ab'.repeat(4000)}`)
      const told = await errors({ properties: { a: { pattern: '[a-q][^u-z]{400}x' } } }, { a: long })
      assert.equal(told.length, 50)
      assert.ok(performance.now() - begin < 10_000)
    })
  })

  describe('validate', () => {
    it('validate: without a schema everything is valid, meta may be absent, and nothing is stored', async () => {
      const name = client.collection()
      const right = { valid: true, errors: [], warnings: [] }
      assert.deepEqual([await validate(name, { a: ['1'] }), await validate(name)], [right, right])
      await set(name, { required: ['a'] })
      assert.deepEqual(await validate(name), { valid: false, errors: ['missing required field "a"'], warnings: [] })
      assert.equal((await client.stats(name))?.documentCount, 0)
      assert.equal((await client.post('/v1/validate', { collection: name, meta: { a: 'x' } })).status, 400)
    })

    it('validate: warns of values that look like stringified maps or lists of maps, by key and value, without a schema, too', async () => {
      const faq = '[map[answer:Because question:Why] map[answer:No question:Yes]]'
      const {
        valid,
        errors: none,
        warnings,
      } = await validate(client.collection(), {
        z: ['map[a:b c:d]', faq, 'plain', faq],
        b: ['[map[a:b]]', '[{"a":"b"}]', 'map[]', 'map[a:]', 'a map[a:b] inside', '[map]'],
      })
      assert.deepEqual([valid, none], [true, []])
      assert.deepEqual(
        warnings.map((text) => /^(meta\.\w): value "(.*)" looks like a stringified (map|list of maps);/.exec(text)?.slice(1)),
        [
          ['meta.b', '[map[a:b]]', 'list of maps'],
          ['meta.z', faq, 'list of maps'],
          ['meta.z', 'map[a:b c:d]', 'map'],
        ],
      )
    })
  })

  describe('writes', () => {
    const failed = (text: string): string => `400 ${JSON.stringify({ error: `schema validation failed: ${text}` })}`

    it('schema: add is refused with everything that is wrong, and nothing is stored', async () => {
      const name = client.collection()
      await set(name, { ...STATUS, required: ['status', 'title'] })
      const add = { collection: name, key: 'k', lang: 'en', contentMd: '' }
      const both = `missing required field "title"; ${BAD_STATUS}`
      assert.equal(summary(await client.post('/v1/add', { ...add, meta: { status: ['x'] } })), failed(both))
      assert.equal(summary(await client.post('/v1/add', add)), failed('missing required field "status"; missing required field "title"'))
      assert.equal(await client.get(name, 'k'), undefined)
      await client.add(name, 'k', { meta: { status: ['draft'], title: ['T'] } })
    })

    it('schema: in a batch each document is checked on its own', async () => {
      const name = client.collection()
      await set(name, STATUS)
      const answer = await client.addBatch(name, [
        { key: 'good', lang: 'en', contentMd: '', meta: { status: ['draft'] } },
        { key: 'bad', lang: 'en', contentMd: '', meta: { status: ['x'] } },
        { key: 'none', lang: 'en', contentMd: '' },
      ])
      assert.deepEqual(answer, {
        added: 1,
        updated: 0,
        failed: 2,
        errors: [
          `documents[1]: schema validation failed: ${BAD_STATUS}`,
          'documents[2]: schema validation failed: missing required field "status"',
        ],
      })
      assert.deepEqual(await client.keys(name), ['good'])
    })

    it('schema: an update and the restore of a revision are checked, with the resulting metadata of the document', async () => {
      const name = client.collection()
      await client.add(name, 'k', { contentMd: 'old', meta: { status: ['x'] } })
      const [first] = await client.revisions(name, 'k')
      await set(name, STATUS)
      const patch = (change: Fields) => client.server.request('PATCH', '/v1/update', { collection: name, key: 'k', lang: 'en', ...change })
      assert.equal(
        summary(await patch({ contentMd: 'new' })),
        failed(BAD_STATUS),
        'a document that was there stays, but its next state is held to the schema',
      )
      assert.equal(summary(await patch({ meta: {} })), failed('missing required field "status"'))
      await client.update(name, 'k', { meta: { status: ['draft'] } })
      await client.update(name, 'k', { contentMd: 'new' })
      const wanted = { collection: name, key: 'k', lang: 'en', timestamp: first?.timestamp, revision: 1 }
      assert.equal(summary(await client.post('/v1/revisions/restore', wanted)), failed(BAD_STATUS))
      assert.deepEqual((await client.get(name, 'k'))?.contentMd, 'new')
      await client.setTtl(name, 'k', 1000)
    })

    it('schema: existing documents stay when it is set, and refused documents are accepted once it is deleted', async () => {
      const name = client.collection()
      await client.add(name, 'old', { meta: { status: ['x'] } })
      await set(name, STATUS)
      assert.deepEqual((await client.get(name, 'old'))?.meta, { status: ['x'] })
      await client.post('/v1/schema/delete', { collection: name })
      await client.add(name, 'new', { meta: { status: ['x'] } })
    })

    it('schema: nothing that it refuses is written by a request that starts after its set was acknowledged', async () => {
      const name = client.collection()
      let acknowledged = false
      let slipped = 0
      let written = 0
      const writer = async (index: number): Promise<void> => {
        for (let round = 0; round < 40; round++) {
          const late = acknowledged
          const key = `${index}-${round}`
          const single = { collection: name, key, lang: 'en', contentMd: 'text '.repeat(200), meta: { status: ['x'] } }
          const batch = { collection: name, documents: [{ ...single, key: `${key}b` }] }
          const [one, many] = await Promise.all([client.post('/v1/add', single), client.post('/v1/add-batch', batch)])
          const passed = (one.status === 200 ? 1 : 0) + (many.status === 200 ? 1 : 0)
          written += passed
          if (late) slipped += passed
        }
      }
      const writers = Promise.all(Array.from({ length: 8 }, (_, index) => writer(index)))
      await client.until(async () => (await client.get(name, 'none')) === undefined && written > 20, 'writers are under way')
      await set(name, STATUS)
      acknowledged = true
      await writers
      assert.equal(slipped, 0)
      assert.equal((await client.stats(name))?.documentCount, written)
    })
  })
})
