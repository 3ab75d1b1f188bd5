/**
 * The golden data directory, made by make_golden_entries.ts: the directory of a killed server, the answers
 * that it gave, and its binlog. Its vectors are those of EmbeddingServer.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredEntry } from '../../../src/store/entries/entry.js'
import { Keyring } from '../../../src/store/sealing/keyring.js'
import type { EmbeddingServer } from '../embedding/embedding_server.js'
import type { Server } from '../server/server.js'

export const GOLDEN_ENTRIES = 'test/golden/entries'
/** The value of SVC_ENCRYPTION_KEY, key id 1. */
export const GOLDEN_ENTRIES_KEY = Buffer.alloc(32, 0x5a).toString('base64')

export interface GoldenAnswer {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly status: number
  readonly text: string
}

export type PlainEntry = Readonly<Record<string, unknown>>

export function goldenEntriesEnv(provider: EmbeddingServer): Record<string, string> {
  return {
    SVC_ENCRYPTION_KEY: GOLDEN_ENTRIES_KEY,
    SVC_EMBEDDING_PROVIDER: 'openai',
    SVC_EMBEDDING_API_URL: provider.url('openai'),
    SVC_EMBEDDING_DIMENSIONS: '8',
    SVC_TEMPORAL: 'true',
  }
}

export function goldenEntriesKeyring(): Keyring {
  const primary = { id: 1, bytes: Buffer.from(GOLDEN_ENTRIES_KEY, 'base64') }
  return new Keyring({ primary, previous: [] }, () => assert.fail('there is a master key'))
}

/**
 * @param folder receives the data directory
 * @returns its path
 */
export function unpackGoldenEntries(folder: string): string {
  const { status, stderr } = spawnSync('tar', ['-C', folder, '-xzf', join(GOLDEN_ENTRIES, 'directory.tar.gz')])
  assert.equal(status, 0, String(stderr))
  return join(folder, 'data')
}

export function goldenAnswers(): readonly GoldenAnswer[] {
  const answers = JSON.parse(readFileSync(join(GOLDEN_ENTRIES, 'answers.json'), 'utf8')) as GoldenAnswer[]
  return answers.map((answer) => ({ ...answer, text: settled(answer.text) }))
}

export function goldenBinlog(): readonly PlainEntry[] {
  return JSON.parse(readFileSync(join(GOLDEN_ENTRIES, 'entries.json'), 'utf8')) as PlainEntry[]
}

/** The JSON form of an entry: bytes in base64, LSNs as text. */
export function plainEntry(entry: StoredEntry): PlainEntry {
  return Object.fromEntries(
    Object.entries(entry).map(([field, value]: [string, unknown]) => {
      if (typeof value === 'bigint') return [field, String(value)]
      return [field, value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value]
    }),
  )
}

/** Requests to the server: documents, histories, listings, searches of each kind, settings, jobs. */
const QUESTIONS: readonly (readonly [method: string, path: string, body?: Readonly<Record<string, unknown>>])[] = [
  ...['Plain', 'sealed', 'limited', 'moved'].flatMap((collection) => [
    ...[0, 1, 2, 5].flatMap((number) => {
      const named = { collection, key: `doc-${number}`, lang: 'en' }
      return [['POST', '/v1/get', named] as const, ['POST', '/v1/revisions', { ...named, limit: 10 }] as const]
    }),
    ['POST', '/v1/search', { collection, limit: 20 }] as const,
    ['POST', '/v1/fts', { collection, query: 'otter river', limit: 20 }] as const,
    ['POST', '/v1/fts', { collection, query: 'lutra', limit: 20, highlight: true }] as const,
    ['POST', '/v1/vector-search', { collection, query: 'otter in the river', threshold: -1 }] as const,
    ['GET', `/v1/checksum?collection=${collection}`] as const,
    ['GET', `/v1/collection-config?collection=${collection}`] as const,
    ['GET', `/v1/synonyms?collection=${collection}`] as const,
  ]),
  ['POST', '/v1/get', { collection: 'Plain', key: 'DOC-1', lang: 'en' }],
  ['POST', '/v1/get', { collection: 'gone', key: 'doc', lang: 'en' }],
  ['POST', '/v1/get', { collection: 'ingested', key: 'one', lang: 'en' }],
  ['GET', '/v1/stopwords?collection=Plain'],
  ['POST', '/v1/schema/list', {}],
  ['GET', '/v1/bulk-ingest-jobs'],
  ['GET', '/v1/encryption/jobs'],
  ['GET', '/v1/encryption/status'],
]

/**
 * Removes what may differ after another start: durations, whether pages from before a rotation are left, and
 * scores, which count replaced documents until their segment is merged.
 */
function settled(text: string): string {
  return text.replace(/"(took\w*|\w*[mM]s|score)":[\d.]+/g, '"$1":0').replace(/"residue":\w+/, '"residue":false')
}

export async function answersOf(server: Server): Promise<GoldenAnswer[]> {
  const answers: GoldenAnswer[] = []
  for (const [method, path, body] of QUESTIONS) {
    const { status, text } = await server.request(method, path, body)
    answers.push({ method, path, body: body ?? null, status, text: settled(text) })
  }
  return answers
}

/** Waits until no document waits for vectors and all bulk ingests have ended. */
export async function untilEmbedded(server: Server): Promise<void> {
  for (;;) {
    const stats = (await server.get('/v1/vector-stats')).json<{ queue: { depth: number }; index_ready: boolean }>()
    const jobs = (await server.get('/v1/bulk-ingest-jobs')).text
    if (stats.queue.depth === 0 && stats.index_ready && !/"(queued|running|pending|processing)"/.test(jobs)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
