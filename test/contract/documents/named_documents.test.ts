/**
 * Collection, key and language of a request select the document, in every operation on one document.
 * Documents that differ in only one of the three exist beside it; they neither answer nor change. service-1,
 * "Document operations", "Revisions".
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DocumentJson, DocumentsClient, type Fields, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'

/**
 * All combinations of two collections, two keys and two languages, in the order in which they are written.
 * Single documents are taken from the middle of the list, so that the one written last is not returned by
 * chance.
 */
const NAMES: readonly { readonly collection: string; readonly key: string; readonly lang: string }[] = ['a', 'b'].flatMap((collection) =>
  ['one', 'two'].flatMap((key) => ['en', 'de'].map((lang) => ({ collection, key, lang }))),
)

type Name = (typeof NAMES)[number]

describe('documents by name', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  /**
   * New collections for each test, every document once.
   * @returns the names as stored
   */
  const documents = async (): Promise<readonly Name[]> => {
    const prefix = client.collection()
    const names = NAMES.map((name) => ({ ...name, collection: `${prefix}-${name.collection}` }))
    for (const name of names) await client.add(name.collection, name.key, { lang: name.lang, contentMd: textOf(name) })
    return names
  }
  const textOf = ({ collection, key, lang }: Name): string => `text of ${collection.slice(-1)} ${key} ${lang}`
  const ask = async (method: string, path: string, body: Fields): Promise<DocumentJson & Fields> => {
    const answer = await client.server.request(method, path, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<DocumentJson & Fields>()
  }
  const read = async ({ collection, key, lang }: Name): Promise<DocumentJson | undefined> => client.get(collection, key, { lang })
  /** Checks that only `changed` differs from its earlier state. */
  const stayed = async (names: readonly Name[], changed: Name): Promise<void> => {
    for (const name of names)
      if (name !== changed) {
        const found = await read(name)
        assert.deepEqual([found?.contentMd, found?.meta, found?.expiresAt], [textOf(name), {}, undefined], JSON.stringify(name))
      }
  }
  const each = async (run: (name: Name, names: readonly Name[]) => Promise<void>): Promise<void> => {
    const names = await documents()
    for (const name of names) await run(name, names)
  }

  it('add and get: collection, key and language choose the document, and the answer says which', () =>
    each(async (name) => {
      const found = await read(name)
      assert.deepEqual([found?.key, found?.lang, found?.contentMd], [name.key, name.lang, textOf(name)])
      assert.equal(found?.id, `${name.collection}|${name.key}|${name.lang}`)
    }))

  it('add-batch: every document goes under its own key and language into the collection of the request', async () => {
    const prefix = client.collection()
    for (const collection of ['a', 'b']) {
      const items = NAMES.filter((name) => name.collection === collection).map((name) => ({ ...name, contentMd: textOf(name) }))
      assert.equal((await client.addBatch(`${prefix}-${collection}`, items)).added, 4)
    }
    for (const name of NAMES) assert.equal((await read({ ...name, collection: `${prefix}-${name.collection}` }))?.contentMd, textOf(name))
  })

  it('doc-meta: collection, key and language choose the document', () =>
    each(async (name) => {
      const path = `/v1/doc-meta?${new URLSearchParams({ ...name }).toString()}`
      const { id, key, lang } = await ask('GET', path, {})
      assert.deepEqual([id, key, lang], [`${name.collection}|${name.key}|${name.lang}`, name.key, name.lang])
    }))

  it('update: collection, key and language choose the document, and no other changes', async () => {
    const names = await documents()
    for (const name of [names[1], names[6]] as readonly [Name, Name]) {
      const meta = { was: ['changed'] }
      assert.deepEqual((await ask('PATCH', '/v1/update', { ...name, meta })).meta, meta)
      await stayed(names, name)
      await ask('PATCH', '/v1/update', { ...name, meta: {} })
    }
  })

  it('set-ttl: collection, key and language choose the document, and no other expires', async () => {
    const names = await documents()
    for (const name of [names[1], names[6]] as readonly [Name, Name]) {
      const { expiresAt, updatedAt } = await ask('POST', '/v1/set-ttl', { ...name, ttl: 1000 })
      assert.ok((expiresAt ?? 0) - updatedAt >= 1000 && (expiresAt ?? 0) - updatedAt < 1060, `${expiresAt} - ${updatedAt}`)
      await stayed(names, name)
      await ask('POST', '/v1/set-ttl', { ...name, ttl: 0 })
    }
  })

  it('revisions: collection, key and language choose the document', () =>
    each(async (name) => {
      const { collection, key, lang } = name
      assert.deepEqual(
        (await client.revisions(collection, key, { lang })).map(({ contentMd }) => contentMd),
        [textOf(name)],
      )
    }))

  it('restore: collection, key, language and timestamp choose the state, and no other document changes', async () => {
    const names = await documents()
    const name = names[5] as Name
    const [first] = await client.revisions(name.collection, name.key, { lang: name.lang })
    const timestamp = first?.timestamp ?? 0
    // Of several states within one second the timestamp alone selects the newest.
    await client.until(() => Promise.resolve(Math.floor(Date.now() / 1000) > timestamp), 'a second has passed')
    await client.add(name.collection, name.key, { lang: name.lang, contentMd: 'later' })
    const restored = await ask('POST', '/v1/revisions/restore', { ...name, timestamp })
    assert.equal(restored.contentMd, textOf(name))
    assert.equal((await read(name))?.contentMd, textOf(name))
    await stayed(names, name)
    const never = await client.post('/v1/revisions/restore', { ...name, timestamp: timestamp - 1 })
    assert.equal(summary(never), NOT_FOUND)
  })

  it('delete and delete-batch: collection, key and language choose the documents, and no other goes', async () => {
    const names = await documents()
    const [one, other] = [names[1], names[4]] as unknown as readonly [Name, Name]
    await ask('POST', '/v1/delete', { ...one })
    assert.equal(await read(one), undefined)
    await stayed(names, one)
    const { collection, key, lang } = other
    const answer = await ask('POST', '/v1/delete-batch', { collection, documents: [{ key, lang }] })
    assert.equal(answer.deleted, 1)
    assert.equal(await read(other), undefined)
    const german = { collection, documents: [{ key, lang: 'de' }] }
    assert.equal((await ask('POST', '/v1/delete-batch', german)).deleted, 1)
    await stayed(
      names.filter((name) => name !== one && name.key !== key),
      other,
    )
  })

  it('meta-keys and checksum: of the collection that is named', async () => {
    const c = client.collection()
    await client.add(c, 'one', { meta: { colour: ['red'] } })
    assert.deepEqual(await client.metaKeys(c), { colour: ['red'] })
    assert.equal(await client.checksum(c), (await client.stats(c))?.checksum)
    assert.notEqual(await client.checksum(c), '00000000')
    const answer = await client.server.get(`/v1/checksum?collection=${c}`)
    assert.deepEqual([answer.json().collection, answer.json().documentCount], [c, 1])
  })
})
