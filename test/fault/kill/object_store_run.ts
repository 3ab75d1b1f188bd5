/**
 * Writes to a collection in an object store while the store or the server is repeatedly killed and restarted.
 * After each round the answers given to the clients are compared with the stored documents; at the end also
 * with an export, with a search for a common word, and with the contents of the bucket. Used by
 * object_store.test.ts (few writes) and scripts/campaigns/object-store.mjs (many).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Random } from '../../harness/random.js'
import { ServerProcess } from '../../harness/server/server_process.js'
import { ACCESS_KEY, ObjectStore, REGION, SECRET_KEY } from '../../harness/store/object_store.js'
import { digestOf, type DocumentState, Ledger } from '../load/ledger.js'
import { ObjectLoad, type ObjectOutcome } from '../load/object_load.js'
import { verifyStore } from '../load/verification.js'
import { COLLECTION } from '../load/write_load.js'

const BUCKET = 'bodies'
/**
 * Maximum time after the kill: long enough for some writes to be refused, short enough for others to wait it
 * out.
 */
const AWAY_MS_MAX = 600
const KILL_MS_MAX = 250
/** A word of every version (versions.ts). */
const COMMON_WORD = 'word'
/** Time limit of the sweep at a start over some hundred objects. */
const SWEPT_MS_MAX = 20_000
const SWEPT_POLL_MS = 20
/** More than the number of documents. */
const HITS_MAX = 200

export interface ObjectStoreReport extends ObjectOutcome {
  readonly killed: 'store' | 'server'
  readonly kills: number
  readonly documents: number
  /** Unreferenced objects before the sweep: of replaced and deleted versions, and of interrupted writes. */
  readonly swept: number
}

/** Rejects with the violation; the message names the seed. */
export async function runObjectStore(
  seed: number,
  killed: 'store' | 'server',
  { writes, kills }: { readonly writes: number; readonly kills: number },
  tell: (line: string) => void = () => undefined,
): Promise<ObjectStoreReport> {
  const random = new Random(seed)
  const ledger = new Ledger()
  const load = new ObjectLoad(seed, ledger)
  const directory = path.join(mkdtempSync(path.join(tmpdir(), 'mds-object-store-')), 'db')
  const store = await ObjectStore.start(BUCKET)
  const env = { SVC_OUTBOUND_ALLOWLIST: store.endpoint }
  let server = await ServerProcess.start(directory, env)
  try {
    await configure(server, store)
    const share = Math.ceil(writes / kills)
    for (let round = 1; round <= kills; round++) {
      const killMs = random.below(KILL_MS_MAX)
      const run = load.run(server.client, share)
      if (killed === 'store') {
        await Promise.all([run, interrupt(store, killMs, random.below(AWAY_MS_MAX))])
      } else {
        await Promise.all([run, setTimeout(killMs).then(() => server.kill())])
        server = await ServerProcess.start(directory, env)
        // What the kill has interrupted.
        await compare(server, ledger, `seed ${seed}, kill ${round} of the server`)
        await load.run(server.client, share)
      }
      const found = await compare(server, ledger, `seed ${seed}, kill ${round} of the ${killed}`)
      tell(`kill ${round} of the ${killed} after ${killMs} ms: ${JSON.stringify(load.outcome)}, ${found} documents as promised`)
    }
    await server.stop()
    const before = store.objects(BUCKET).length
    server = await ServerProcess.start(directory, { ...env, SVC_S3_RETENTION: '0' })
    const documents = await compare(server, ledger, `seed ${seed}, at the end`)
    await sweptTo(store, documents, `seed ${seed}`)
    await compare(server, ledger, `seed ${seed}, after the sweep`)
    return { killed, kills, ...load.outcome, documents, swept: before - documents }
  } finally {
    await server.kill()
    await store.stop()
    rmSync(path.dirname(directory), { recursive: true, force: true })
  }
}

async function configure({ client }: ServerProcess, { endpoint }: ObjectStore): Promise<void> {
  const storageConfig = { endpoint, bucket: BUCKET, region: REGION, accessKey: ACCESS_KEY, secretKey: SECRET_KEY, prefix: 'mds/' }
  const body = JSON.stringify({ collection: COLLECTION, storageBackend: 's3', storageConfig })
  const { status, body: said } = await client.send('PUT', '/v1/collection-config', body)
  if (status !== 200) throw new Error(`the collection is not configured: ${JSON.stringify(said)}`)
}

async function interrupt(store: ObjectStore, killMs: number, awayMs: number): Promise<void> {
  await setTimeout(killMs)
  await store.kill()
  await setTimeout(awayMs)
  await store.resume()
}

/** @returns the number of documents */
async function compare(server: ServerProcess, ledger: Ledger, when: string): Promise<number> {
  const { complaints, found } = await verifyStore(server.client, ledger)
  const there = [...found].filter((entry): entry is [string, NonNullable<DocumentState>] => entry[1] !== null)
  const wrong = [...complaints]
  if (wrong.length === 0) {
    wrong.push(...differences('exported', await exported(server.port), new Map(there.map(([key, { digest }]) => [key, digest]))))
    wrong.push(...differences('found', await searched(server), new Map(there.map(([key]) => [key, FOUND]))))
  }
  if (wrong.length > 0) throw new Error([`${when}:`, ...wrong, server.output].join('\n'))
  for (const [key, state] of found) ledger.observe(key, state)
  return there.length
}

const FOUND = 'found'

/** Digests by key. */
async function exported(port: number): Promise<ReadonlyMap<string, string>> {
  const body = JSON.stringify({ collection: COLLECTION, format: 'ndjson' })
  const answer = await fetch(`http://127.0.0.1:${port}/v1/export`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const lines = (await answer.text()).split('\n').filter((line) => line !== '')
  const documents = lines.map((line) => JSON.parse(line) as { key: string; contentMd: string; meta?: Record<string, string[]> })
  return new Map(documents.map(({ key, contentMd, meta }) => [key, digestOf(contentMd, meta ?? {})]))
}

async function searched({ client }: ServerProcess): Promise<ReadonlyMap<string, string>> {
  const reply = await client.post('/v1/fts', { collection: COLLECTION, query: COMMON_WORD, mode: 'simple', limit: HITS_MAX })
  if (reply.status === 404) return new Map()
  if (reply.status !== 200) throw new Error(`fts answers ${reply.status} ${JSON.stringify(reply.body)}`)
  const { results } = reply.body as { readonly results: readonly { readonly document: { readonly key: string } }[] }
  return new Map(results.map(({ document: { key } }) => [key, FOUND]))
}

function differences(how: string, seen: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): readonly string[] {
  const keys = new Set([...seen.keys(), ...expected.keys()])
  return [...keys].filter((key) => seen.get(key) !== expected.get(key)).map((key) => `${key} is not ${how} as it is got`)
}

/** Checks that the sweep of a start leaves one object for each document. */
async function sweptTo(store: ObjectStore, documents: number, when: string): Promise<void> {
  const deadline = Date.now() + SWEPT_MS_MAX
  while (store.objects(BUCKET).length !== documents) {
    if (Date.now() > deadline) throw new Error(`${when}: ${store.objects(BUCKET).length} objects are left of ${documents} documents`)
    await setTimeout(SWEPT_POLL_MS)
  }
}
