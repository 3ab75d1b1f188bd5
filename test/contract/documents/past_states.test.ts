/**
 * Beyond the contract: a diff between two versions of a document, and reads as of a time.
 * docs/decisions/documents/revisions.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, MISSING_FIELDS, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'

describe('past states', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  /** Waits until the server's clock shows a later second. */
  const pass = async (second: number): Promise<void> =>
    client.until(async () => (await client.get('none', 'none')) === undefined && Math.floor(Date.now() / 1000) > second, 'the next second')
  const asOf = (name: string, when: unknown, more: Fields = {}) =>
    client.post('/v1/get', { collection: name, key: 'k', lang: 'en', asOf: when, ...more })
  const diff = (name: string, more: Fields = {}) => client.post('/v1/revisions/diff', { collection: name, key: 'k', lang: 'en', ...more })

  it('asOf: get answers with the state that was current then, by unix seconds or ISO 8601, and 404 where there was none', async () => {
    const name = client.collection()
    const first = await client.add(name, 'k', { contentMd: 'one %%who%%', meta: { m: ['1'] } })
    await pass(first.updatedAt)
    const second = await client.update(name, 'k', { contentMd: 'two', meta: {} })
    await client.update(name, 'k', { contentMd: 'three' })
    const third = await client.get(name, 'k')
    assert.deepEqual((await asOf(name, first.updatedAt)).json(), first)
    assert.deepEqual((await asOf(name, String(second.updatedAt - 1))).json(), first)
    assert.deepEqual((await asOf(name, new Date(first.updatedAt * 1000).toISOString())).json(), first)
    assert.equal((await asOf(name, first.updatedAt, { env: { who: 'Ada' } })).json().contentMd, 'one Ada')
    assert.deepEqual((await asOf(name, third?.updatedAt)).json(), third, 'of one second the newest')
    assert.deepEqual((await asOf(name, '2100-01-01')).json(), third)
    assert.deepEqual((await asOf(name, null)).json(), third, 'null is absent')
    assert.equal(summary(await asOf(name, first.addedAt - 1)), NOT_FOUND)
    for (const never of ['yesterday', '2024-02-30', '2023-02-29T12:00Z'])
      assert.equal(
        summary(await asOf(name, never)),
        '400 {"error":"invalid asOf: unix seconds or a time like 2024-01-31T12:00:00Z are expected"}',
      )
    assert.equal(summary(await asOf(name, '2024-02-29')), NOT_FOUND)
    await client.delete(name, 'k')
    assert.equal(summary(await asOf(name, first.updatedAt)), NOT_FOUND)
  })

  it('asOf: a state that was not kept is not guessed', async () => {
    const name = client.collection()
    const write = async (contentMd: string, saveRevision: boolean): Promise<number> => {
      await client.addBatch(name, [{ key: 'k', lang: 'en', contentMd, saveRevision }])
      const { updatedAt = 0 } = (await client.get(name, 'k')) ?? {}
      await pass(updatedAt)
      return updatedAt
    }
    const times = [await write('one', true), await write('two', false), await write('three', true)]
    assert.equal(summary(await asOf(name, times[0])), NOT_FOUND, 'until when the first was current is not known')
    assert.equal(summary(await asOf(name, times[1])), NOT_FOUND)
    assert.equal((await asOf(name, times[2])).json().contentMd, 'three')
  })

  it('diff: content as a unified diff, metadata by key, between any two versions', async () => {
    const name = client.collection()
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
    await client.add(name, 'k', { contentMd: lines.join('\n'), meta: { gone: ['x'], same: ['s'], other: ['1', '2'] } })
    await client.add(name, 'k', {
      contentMd: [...lines.slice(0, 10), 'new', ...lines.slice(11)].join('\n'),
      meta: { same: ['s'], other: ['2', '1'], came: [] },
    })
    await client.update(name, 'k', { meta: {} })
    const [one, two] = (await client.revisions(name, 'k')).toReversed()
    const expected = {
      collection: name,
      key: 'k',
      lang: 'en',
      from: { revision: 1, timestamp: one?.timestamp },
      to: { revision: 2, timestamp: two?.timestamp },
      diff: '--- revision 1\n+++ revision 2\n@@ -8,7 +8,7 @@\n line 7\n line 8\n line 9\n-line 10\n+new\n line 11\n line 12\n line 13\n',
      added: 1,
      removed: 1,
      isMinimal: true,
      meta: { added: { came: [] }, removed: { gone: ['x'] }, changed: { other: { from: ['1', '2'], to: ['2', '1'] } } },
    }
    assert.deepEqual((await diff(name, { from: 1, to: 2 })).json(), expected)
    assert.deepEqual((await diff(name, { to: 2 })).json(), expected, 'from the one before')
    const last = (await diff(name)).json()
    assert.deepEqual([last.from, last.diff, last.added], [{ revision: 2, timestamp: two?.timestamp }, '', 0], 'to the present one')
    assert.deepEqual((await diff(name, { from: 2, to: 1 })).json().meta, {
      added: { gone: ['x'] },
      removed: { came: [] },
      changed: { other: { from: ['2', '1'], to: ['1', '2'] } },
    })
    assert.deepEqual((await diff(name, { from: 3 })).json().meta, { added: {}, removed: {}, changed: {} })
  })

  it('diff: a version, a document or an older version that is not there is 404, missing fields are 400', async () => {
    const name = client.collection()
    await client.add(name, 'k')
    for (const more of [
      {},
      { from: 7 },
      { to: 7 },
      { from: 0, to: 1 },
      { from: 2 ** 32 + 1 },
      { from: 1, to: 1e300 },
      { key: 'none', from: 1, to: 1 },
    ])
      assert.equal(summary(await diff(name, more)), NOT_FOUND, JSON.stringify(more))
    assert.equal((await diff(name, { from: 1, to: 1 })).status, 200)
    assert.equal(summary(await diff(name, { key: undefined })), MISSING_FIELDS)
    assert.equal(summary(await diff(name, { from: -1 })), '400 {"error":"invalid from"}')
  })
})
