/** Imports of wikis over HTTP: the dump as a raw body, its options in the query string. */
import { readdirSync } from 'node:fs'
import { childrenOf } from './process/children.js'
import { untilAsked } from './process/until.js'
import type { Server, TestResponse } from './server/server.js'

/** Long enough for a loaded machine. */
const JOB_MS_MAX = 120_000

export interface ImportAnswer {
  readonly imported: number
  readonly skipped: number
  readonly failed: number
  readonly collection: string
  readonly durationMs: number
  readonly profile: string
  readonly errors?: readonly string[]
  readonly error?: string
}

export interface WikiJob {
  readonly id: string
  readonly status: string
  readonly total: number
  readonly processed: number
  readonly added: number
  readonly updated: number
  readonly skipped: number
  readonly failed: number
  readonly errors?: readonly string[]
}

type Options = Readonly<Record<string, string | number | boolean>>

/** @param options besides collection and language */
export function importWiki(
  server: Server,
  collection: string,
  dump: string | Buffer,
  options: Options = {},
  type = 'application/octet-stream',
): Promise<TestResponse> {
  const given = Object.entries({ collection, lang: 'en', ...options }).map(([key, value]) => [key, String(value)])
  const query = new URLSearchParams(Object.fromEntries(given) as Record<string, string>)
  return server.request('POST', `/v1/import-wiki?${query.toString()}`, Buffer.from(dump), { 'content-type': type })
}

/** The job, once it has ended. */
export async function endedJob(server: Server, id: string): Promise<WikiJob> {
  return untilAsked(
    () => wikiJob(server, id),
    ({ status }) => status !== 'pending' && status !== 'processing',
    JOB_MS_MAX,
  )
}

export async function wikiJob(server: Server, id: string): Promise<WikiJob> {
  return (await server.get(`/v1/bulk-ingest-job/${id}`)).json<WikiJob>()
}

/** Number of documents of the collection. */
export async function documentsIn(server: Server, collection: string): Promise<number> {
  const answer = await server.post('/v1/search', { collection, limit: 1 })
  return Number(answer.headers['x-total-count'] ?? 0)
}

/** Ids of the processes that read dumps for the server. */
export function dumpReaders({ pid }: Pick<Server, 'pid'>): readonly number[] {
  return childrenOf(pid, 'dump_reader')
}

/** Names of what lies in the data directory of dumps, or of other files that requests have sent. */
export function dumpFiles({ directory }: Pick<Server, 'directory'>): readonly string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.startsWith('spool-') || name.startsWith('wiki-jobs/'))
}
