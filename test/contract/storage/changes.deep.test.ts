/**
 * Storage backends during changes in parallel to writes: the configuration, the secret, restarts of the
 * server. Acknowledged writes are present with their content; others are present as a whole or absent.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DocumentsClient, type Fields, summary } from '../../harness/clients/documents_client.js'
import { noObjectStore, ObjectStore } from '../../harness/store/object_store.js'
import { configure, configured, locationIn, metricOf, Restarted, UNAVAILABLE, unkept } from './client.js'

const KEYS = 24
const ROUNDS_MIN = 12

/** Documents that several writers overwrite, one key each, and the last acknowledged content of each. */
class Writers {
  readonly acknowledged = new Map<string, string>()
  #isEnded = false
  readonly #done: Promise<void>
  rounds = 0

  constructor(
    readonly client: DocumentsClient,
    readonly collection: string,
  ) {
    this.#done = this.#run()
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await this.#done
  }

  async #run(): Promise<void> {
    for (; !this.#isEnded || this.rounds < ROUNDS_MIN; this.rounds++) {
      await Promise.all(Array.from({ length: KEYS }, (_, number) => this.#write(`doc-${number}`, `round ${this.rounds} of ${number}`)))
    }
  }

  /** Every third write updates the existing document, which requires its body. */
  async #write(key: string, contentMd: string): Promise<void> {
    const { collection } = this
    const named = { collection, key, lang: 'en' }
    const isUpdate = this.rounds % 3 === 2
    const answer = isUpdate
      ? await this.client.server.request('PATCH', '/v1/update', { ...named, meta: { round: [String(this.rounds)] } })
      : await this.client.post('/v1/add-batch', { collection, documents: [{ ...named, contentMd, saveRevision: false }] })
    assert.equal(answer.status, 200, answer.text)
    if (!isUpdate) this.acknowledged.set(key, contentMd)
  }
}

describe('storage backends while they change', { skip: noObjectStore }, () => {
  const server = new Restarted()
  let store: ObjectStore
  before(async () => {
    store = await ObjectStore.start('docs', 'others')
    await server.start()
  })
  after(async () => {
    await server.stop()
    await store.stop()
  })

  it('storage changes: a collection whose configuration is switched under writes and moves loses nothing, and leaves nothing behind', async () => {
    const { client } = server
    const locations: readonly Fields[] = [
      locationIn(store, { prefix: 'one/' }),
      { storageBackend: 'memory' },
      locationIn(store, { bucket: 'others', prefix: 'two/' }),
      { storageBackend: 'boltdb' },
      locationIn(store, { prefix: 'three/' }),
    ]
    const writers = new Writers(client, 'switched')
    for (const location of locations) {
      const begun = writers.rounds
      assert.equal(await configure(client, 'switched', location), configured('switched'))
      await client.until(() => Promise.resolve(writers.rounds > begun + 2), 'writes under the new configuration')
    }
    await writers.end()
    assert.equal(writers.acknowledged.size, KEYS)
    await client.until(() => Promise.resolve(store.objects('docs').length >= KEYS), 'the last move')
    const isShown = async (shown: DocumentsClient): Promise<void> => {
      for (const [key, content] of writers.acknowledged) assert.equal((await shown.get('switched', key))?.contentMd, content, key)
    }
    await isShown(client)
    await client.stop()
    const again = await server.start({ SVC_S3_RETENTION: '0' })
    await isShown(again)
    const live = (): number => store.objects('docs').filter((path) => path.startsWith('three/')).length
    await again.until(
      () => Promise.resolve(live() === KEYS && store.objects('docs').length === KEYS && store.objects('others').length === 0),
      'the sweep',
    )
    await isShown(again)
  })

  it('storage changes: a shutdown while the store hangs ends in time, and the write that it caught is there as a whole or not at all', async () => {
    const { client } = server
    assert.equal(await configure(client, 'hung', locationIn(store, { prefix: 'hung/' })), configured('hung'))
    await client.addBatch('hung', unkept('before'))
    store.hang()
    const writes = ['one', 'two'].map((key) =>
      client.post('/v1/add-batch', { collection: 'hung', documents: unkept(key) }).then(summary, () => 'cut off'),
    )
    await client.until(async () => (await metricOf(client, 'slots_used')) >= writes.length + 1, 'the writes under way')
    const begun = performance.now()
    assert.equal(await client.server.stop(), 0, client.server.output())
    assert.ok(performance.now() - begun < 16_000)
    for (const answer of await Promise.all(writes)) assert.ok([UNAVAILABLE, 'cut off'].includes(answer), answer)
    store.goOn()
    const again = await server.start()
    assert.deepEqual(await again.keys('hung'), ['before'])
    assert.equal((await again.get('hung', 'before'))?.contentMd, 'The body of before: kingfisher.')
  })

  it('storage changes: a changed secret fails writes until it is configured, and bodies stored under the old one are read', async () => {
    const { client } = server
    assert.equal(await configure(client, 'secret', locationIn(store, { prefix: 'secret/' })), configured('secret'))
    await client.addBatch('secret', unkept('old'))
    await store.kill()
    await store.resume('another-secret')
    assert.equal(summary(await client.post('/v1/add', { collection: 'secret', ...unkept('new')[0] })), UNAVAILABLE)
    assert.match(await configure(client, 'secret', locationIn(store, { prefix: 'secret/', secretKey: 'wrong' })), /^400 .*unreachable/)
    const changed = locationIn(store, { prefix: 'secret/', secretKey: 'another-secret' })
    assert.equal(await configure(client, 'secret', changed), configured('secret'))
    await client.addBatch('secret', unkept('new'))
    await client.stop()
    const again = await server.start()
    assert.equal((await again.get('secret', 'old'))?.contentMd, 'The body of old: kingfisher.')
    assert.equal((await again.get('secret', 'new'))?.contentMd, 'The body of new: kingfisher.')
    await store.kill()
    await store.resume()
  })
})
