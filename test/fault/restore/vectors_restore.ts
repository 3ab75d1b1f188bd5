/**
 * A restore of a store with many vectors, plaintext and encrypted, while searches continuously look for
 * documents by their own vectors. None is refused, none is empty, and each finds its document, before, during
 * and after the switch.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { embedText } from '../../harness/embedding/embedding_server.js'
import type { Server } from '../../harness/server/server.js'
import { DIMENSIONS, type VectorRun } from './vectors_run.js'

const COUNTS = { open: 2500, vault: 2500 }
const BATCH_DOCUMENTS = 500
const SEARCHERS = 4
const RESTORES = 2

const contentOf = (collection: string, at: number): string => `${collection}${at} ${at}${collection} w${collection}${at}w`

/**
 * @param run a run without documents of other tests
 * @returns the number of searches answered while restores ran
 */
export async function runRestore(run: VectorRun): Promise<number> {
  const server = await run.start({ SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64') })
  const config = await server.request('PUT', '/v1/collection-config', { collection: 'vault', encrypted: true })
  assert.equal(config.status, 200, config.text)
  for (const [collection, count] of Object.entries(COUNTS)) {
    for (let from = 0; from < count; from += BATCH_DOCUMENTS) {
      const documents = Array.from({ length: BATCH_DOCUMENTS }, (_, at) => ({ key: `key-${from + at}`, lang: 'en', contentMd: contentOf(collection, from + at) })) // prettier-ignore
      const answer = await server.post('/v1/add-batch', { collection, documents })
      assert.equal(answer.status, 200, answer.text)
    }
  }
  await whenEmbedded(server, COUNTS, 120_000)
  assert.equal((await server.get('/v1/backup?to=whole.db')).status, 200)
  let isOver = false
  let searches = 0
  const search = async (searcher: number): Promise<void> => {
    for (let at = searcher; !isOver; at += SEARCHERS) {
      await findsOwn(server, at)
      searches++
    }
  }
  const searching = Promise.all(Array.from({ length: SEARCHERS }, (_, searcher) => search(searcher)))
  searching.catch(() => undefined)
  for (let restore = 0; restore < RESTORES; restore++) {
    const answer = await server.post('/v1/restore', { from: 'whole.db' })
    assert.equal(answer.status, 200, answer.text)
  }
  // Some more searches, so that the state after the switch is covered.
  const enough = searches + 100
  while (searches < enough) await findsOwn(server, searches)
  isOver = true
  await searching
  assert.equal(await server.stop(), 0, server.output())
  return searches
}

async function findsOwn(server: Server, at: number): Promise<void> {
  const collection = at % 2 === 0 ? 'open' : 'vault'
  const document = (at * 7) % COUNTS[collection]
  const queryVector = [...embedText(contentOf(collection, document), DIMENSIONS)]
  const answer = await server.post('/v1/vector-search', { collection, queryVector, topK: 3, threshold: -1, algorithm: 'flat' })
  assert.equal(answer.status, 200, answer.text)
  const [nearest] = answer.json<{ results: readonly { document: { key: string } }[] }>().results
  assert.equal(nearest?.document.key, `key-${document}`)
}
