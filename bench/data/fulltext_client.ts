/**
 * The client of the full-text benches: fills a collection, searches it, and reads the ranking from the
 * answer.
 */
import type { Connection } from '../measure/connection.js'
import { postBytes } from '../measure/connection.js'

const BATCH_DOCUMENTS = 500

export interface Hits {
  /** Document keys, best first. */
  readonly keys: readonly string[]
  /** The engine's own time, if the answer contains it. */
  readonly engineMs: number | null
}

/** @param lines documents as NDJSON lines, in order */
export async function fill(connection: Connection, collection: string, lines: readonly string[]): Promise<void> {
  for (let begin = 0; begin < lines.length; begin += BATCH_DOCUMENTS) {
    const body = `{"collection":${JSON.stringify(collection)},"documents":[${lines.slice(begin, begin + BATCH_DOCUMENTS).join(',')}]}`
    const answer = await connection.send(postBytes('/v1/add-batch', body))
    if (answer.status !== 200) throw new Error(`add-batch answers ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
  }
}

export type SearchRequest = Readonly<Record<string, string | number | boolean>>

export async function search(connection: Connection, request: SearchRequest): Promise<Hits> {
  const answer = await connection.send(postBytes('/v1/fts', JSON.stringify(request)))
  if (answer.status !== 200) throw new Error(`fts answers ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
  const parsed = JSON.parse(answer.body.toString()) as {
    readonly results: readonly { readonly document: { readonly key: string } }[]
    readonly searchStats?: { readonly durationMs: number }
  }
  return { keys: parsed.results.map((result) => result.document.key), engineMs: parsed.searchStats?.durationMs ?? null }
}
