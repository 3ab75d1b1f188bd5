/** Requests of the embedding tests to a server. */
import assert from 'node:assert/strict'
import { betweenPolls } from '../process/until.js'
import type { Server } from '../server/server.js'
import type { EmbeddingServer } from './embedding_server.js'

export interface VectorStats {
  readonly enabled: boolean
  readonly provider: string
  readonly model: string
  readonly dimensions: number
  readonly index_ready: boolean
  readonly chunking: { readonly enabled: boolean; readonly chunkSize: number }
  readonly collections: Readonly<
    Record<
      string,
      {
        readonly total_documents: number
        readonly embedded_documents: number
        readonly total_chunks: number
        readonly stale_embeddings: number
      }
    >
  >
  readonly queue: { readonly size: number; readonly depth: number; readonly dropped: number; readonly wait: string }
}

export function embeddingEnv(provider: EmbeddingServer, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    SVC_EMBEDDING_PROVIDER: 'openai',
    SVC_EMBEDDING_API_URL: provider.url('openai'),
    SVC_EMBEDDING_DIMENSIONS: '8',
    ...more,
  }
}

export async function vectorStats(server: Server): Promise<VectorStats> {
  const answer = await server.get('/v1/vector-stats')
  assert.equal(answer.status, 200, answer.text)
  return answer.json<VectorStats>()
}

/**
 * Polls until no document waits for vectors.
 * @param wanted documents that must have vectors, by collection
 */
export async function whenEmbedded(server: Server, wanted: Readonly<Record<string, number>>, msMax = 30_000): Promise<VectorStats> {
  const end = performance.now() + msMax
  for (let polls = 1; ; polls++) {
    const stats = await vectorStats(server)
    const counts = Object.fromEntries(Object.keys(wanted).map((name) => [name, stats.collections[name]?.embedded_documents ?? 0]))
    if (stats.queue.depth === 0) {
      assert.deepEqual(counts, wanted)
      return stats
    }
    assert.ok(performance.now() < end, `still waiting after ${msMax} ms: ${JSON.stringify(stats)}\n${server.output()}`)
    await betweenPolls(polls)
  }
}
