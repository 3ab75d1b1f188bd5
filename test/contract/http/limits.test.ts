/** The maximum number of results, whatever a request asks for: service-2 "Limits". */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, summary } from '../../harness/clients/documents_client.js'

const LIMIT_MAX = 10_000

describe('limits', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
    const item = (at: number): object => ({ key: `k-${at}`, lang: 'en', contentMd: 'walrus' })
    await client.addBatch('limits-many', Array.from({ length: LIMIT_MAX }, (_, at) => item(at))) // prettier-ignore
    await client.addBatch('limits-many', [item(LIMIT_MAX)])
  })
  after(() => client.stop())

  it('limits: a limit above 10 000 counts as 10 000, in listings and in full-text search; negative ones are refused', async () => {
    for (const limit of [LIMIT_MAX + 1, 1_000_000]) {
      const { documents, total } = await client.search('limits-many', { limit })
      assert.deepEqual([documents.length, total], [LIMIT_MAX, LIMIT_MAX + 1])
      const answer = await client.post('/v1/fts', { collection: 'limits-many', query: 'walrus', limit })
      assert.equal(answer.json<{ results: unknown[] }>().results.length, LIMIT_MAX)
    }
    for (const path of ['/v1/search', '/v1/fts']) {
      const refused = await client.post(path, { collection: 'limits-many', query: 'walrus', limit: -1 })
      assert.equal(summary(refused), '400 {"error":"invalid limit"}')
    }
  })
})
