/**
 * Background comparison of the store with itself: damage made with the server down raises a health warning
 * and one log line per kind. Intact stores raise none, whatever they contain and while they are written.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { readCollectionCounters, writeCollectionCounters } from '../../../src/store/counters.js'
import type { Environment } from '../../../src/store/environment.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { collectionKey, documentKey, identityKey } from '../../../src/store/rows/keys.js'
import { View } from '../../../src/store/view.js'
import type { Server } from '../../harness/server/server.js'
import { startServer } from '../../harness/server/server.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-scrub-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const DEADLINE_MS = 60_000
/** One pass follows the other immediately. */
const env = { SVC_LIMIT_SCRUB_INTERVAL_MS: '1', SVC_TEMPORAL: 'true' }

const started: Server[] = []
after(() => Promise.all(started.map((server) => server.kill())))

async function start(directory: string, more: Readonly<Record<string, string>> = {}): Promise<Server> {
  const server = await startServer({ directory, env: { ...env, ...more } })
  started.push(server)
  return server
}

async function warnings(server: Server): Promise<readonly { readonly code: string; readonly detail: string }[]> {
  const health = (await server.get('/v1/health')).json<{ persistence: { warnings: { code: string; detail: string }[] } }>()
  return health.persistence.warnings.filter(({ code }) => code === 'store_damaged')
}

/** Number of passes completed since the start. */
async function passes(server: Server): Promise<number> {
  const { text } = await server.get('/metrics')
  return Number(/^mddb_store_comparisons_total (\d+)$/m.exec(text)?.[1] ?? assert.fail(text))
}

async function nextPass(server: Server, count = 1): Promise<void> {
  const before = await passes(server)
  for (const deadline = performance.now() + DEADLINE_MS; (await passes(server)) < before + count; await setTimeout(20))
    assert.ok(performance.now() < deadline, server.output())
}

async function add(server: Server, collection: string, key: string, more: object = {}): Promise<void> {
  const { status, text } = await server.post('/v1/add', {
    collection,
    key,
    lang: 'en',
    contentMd: `the text of ${key}`,
    meta: { a: ['b'] },
    ...more,
  })
  assert.equal(status, 200, text)
}

async function change(directory: string, run: (environment: Environment, view: View) => void): Promise<void> {
  const environment = openEnvironment(join(directory, 'gen-000001'))
  environment.root.transactionSync(() => run(environment, new View(environment, 0)))
  await environment.root.close()
}

const idOf = (view: View, name: string): number => view.collection(name)?.id ?? assert.fail(name)

describe('the store compared with itself behind the requests', () => {
  it('scrub: health warns of a missing identity and of wrong counters, the log has one line each kind, and both go when they are mended', async () => {
    const directory = join(folder, 'damaged')
    let server = await start(directory)
    for (const key of ['a', 'b', 'c']) await add(server, 'Docs', key)
    assert.equal(await server.stop(), 0)
    let row = Buffer.alloc(0)
    await change(directory, (environment, view) => {
      const key = identityKey(idOf(view, 'docs'), 'b', 'en')
      row = Buffer.from(environment.identities.get(key) ?? assert.fail('no identity'))
      environment.identities.remove(key)
      const counters = readCollectionCounters(environment, idOf(view, 'docs'))
      writeCollectionCounters(environment, idOf(view, 'docs'), { ...counters, documents: 4 })
    })
    server = await start(directory)
    await nextPass(server, 2)
    const [warning] = await warnings(server)
    assert.match(warning?.detail ?? '', /^2 findings where the store was compared with itself/)
    assert.match(server.output(), /the store is damaged.*head_without_identity.*collection 1, document 2 "b\|en"/)
    assert.match(server.output(), /the store is damaged.*counters_differ.*collection 1, documents: 4 noted, 3 counted/)
    assert.equal(await server.stop(), 0)
    await change(directory, (environment, view) => {
      environment.identities.put(identityKey(idOf(view, 'docs'), 'b', 'en'), row)
      const counters = readCollectionCounters(environment, idOf(view, 'docs'))
      writeCollectionCounters(environment, idOf(view, 'docs'), { ...counters, documents: 3 })
    })
    server = await start(directory)
    await nextPass(server, 2)
    assert.deepEqual(await warnings(server), [])
    assert.doesNotMatch(server.output(), /the store is damaged/)
    assert.equal(await server.stop(), 0)
  })

  it('scrub: a collection that is lost while the server runs is not made a second time after the next comparison', async () => {
    const directory = join(folder, 'lost')
    const server = await start(directory)
    for (const collection of ['docs', 'others']) await add(server, collection, 'a')
    // In parallel with the server: LMDB locks between processes.
    await change(directory, (environment) => environment.collections.remove(collectionKey('docs')))
    await nextPass(server, 2)
    const { status, text } = await server.post('/v1/add', { collection: 'docs', key: 'b', lang: 'en', contentMd: 'b' })
    assert.equal(status, 500, text)
    assert.match(text, /it may be one that is lost: collection 1 has rows, and no name leads to it/)
    await add(server, 'others', 'b')
    assert.equal(await server.stop(), 0)
  })

  it('scrub: no finding in a store with all kinds of documents, while it is written', async () => {
    const directory = join(folder, 'whole')
    const keys = { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'), SVC_LIMIT_SWEEP_DOCUMENTS_MAX: '0' }
    const server = await start(directory, keys)
    for (const [collection, settings] of [
      ['Sealed', { encrypted: true }],
      ['Memory', { storageBackend: 'memory' }],
    ] as const) {
      const { status, text } = await server.request('PUT', '/v1/collection-config', { collection, ...settings })
      assert.equal(status, 200, text)
    }
    // More than a slice holds, so that the count is corrected.
    for (let batch = 0; batch < 4; batch++) {
      const documents = Array.from({ length: 500 }, (_, at) => ({
        key: `k${batch * 500 + at}`,
        lang: 'en',
        contentMd: `text ${at}`,
        meta: { n: [String(at)] },
      }))
      const { status, text } = await server.post('/v1/add-batch', { collection: 'Large', documents })
      assert.equal(status, 200, text)
    }
    const before = await passes(server)
    for (let round = 0; (await passes(server)) < before + 3; round++) {
      assert.ok(round < 10_000, server.output())
      for (const collection of ['Large', 'Sealed', 'Memory', 'Plain']) {
        await add(server, collection, `k${(round * 37) % 2000}`, {
          contentMd: `revision ${round} `.repeat(40),
          meta: { n: [String(round)] },
        })
        await add(server, collection, `K${round % 5}`, { contentMd: `revision ${round} `.repeat(60) })
        await add(server, collection, `expired${round % 7}`, { ttl: 1 })
        await server.post('/v1/delete', { collection, key: `k${(round * 53) % 2000}`, lang: 'en' })
      }
      if (round % 5 === 4) await server.post('/v1/delete-collection', { collection: 'Plain' })
    }
    await nextPass(server)
    assert.deepEqual(await warnings(server), [], server.output())
    assert.doesNotMatch(server.output(), /the store is damaged/)
    assert.equal(await server.stop(), 0)
  })

  it('scrub: a document that is gone below a large collection is counted as missing', async () => {
    const directory = join(folder, 'large')
    let server = await start(directory)
    const documents = Array.from({ length: 1500 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `text ${at}`, meta: {} }))
    assert.equal((await server.post('/v1/add-batch', { collection: 'Large', documents })).status, 200)
    assert.equal(await server.stop(), 0)
    await change(directory, ({ heads, identities }, view) => {
      const id = idOf(view, 'large')
      const { docid } = view.identity(id, 'k700', 'en') ?? assert.fail('no k700')
      heads.remove(documentKey(id, docid))
      identities.remove(identityKey(id, 'k700', 'en'))
    })
    server = await start(directory)
    await nextPass(server, 2)
    assert.match(server.output(), /the store is damaged.*counters_differ.*1500 noted, 1499 counted/)
    assert.equal((await warnings(server)).length, 1)
    assert.equal(await server.stop(), 0)
  })
})
