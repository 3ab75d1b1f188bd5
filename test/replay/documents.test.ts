/**
 * Seeded random operations against the server and against a model in a Map, with restarts in between (clean
 * stops and kills). Every answer must be the same, and occasionally the whole collection is compared. One
 * client, so that the order of operations is certain.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { Random, runSeed } from '../harness/random.js'
import { ServerProcess } from '../harness/server/server_process.js'
import { type Checksums, checksumsOf, type HashedDocument } from '../harness/store/checksums.js'
import { DocumentModel, type ModelDocument, type Spelling } from './document_model.js'

const OPERATIONS = 600
/** Probabilities per operation: about six restarts and thirty full comparisons in a run. */
const RESTART_CHANCE = 0.01
const COMPARE_CHANCE = 0.05
const COLLECTION = 'replayed'
const KEYS = [
  'guide/start',
  'guide/Start',
  'GUIDE/START',
  'notes',
  'Notes',
  'straße',
  'größe',
  'GRÖSSE',
  'a|b',
  'a',
  'b',
  'über uns',
  'ÜBER UNS',
  'emoji 🙂',
]
const LANGS = ['en', 'EN', 'en_GB', 'de']
const COLOURS = ['red', 'green', 'blue', 'a b', '"quoted"']
const seed = runSeed()

class Replay {
  readonly #random = new Random(seed)
  readonly #model = new DocumentModel()
  readonly #directory: string
  #server: ServerProcess
  #written = 0

  constructor(directory: string, server: ServerProcess) {
    this.#directory = directory
    this.#server = server
  }

  async step(): Promise<void> {
    const random = this.#random
    if (random.next() < RESTART_CHANCE) await this.#restart()
    if (random.next() < COMPARE_CHANCE) await this.compareAll()
    const choice = random.next()
    if (choice < 0.4) await this.#add()
    else if (choice < 0.55) await this.#update()
    else if (choice < 0.65) await this.#delete()
    else if (choice < 0.85) await this.#get()
    else if (choice < 0.9) await this.#revisions()
    else if (choice < 0.995) await this.#filter()
    else await this.#deleteCollection()
  }

  async compareAll(): Promise<void> {
    const reply = await this.#server.client.post('/v1/search', { collection: COLLECTION, sort: 'key', asc: true, limit: 1000 })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    const byIdentity = (a: string, b: string): number => (a < b ? -1 : 1)
    assert.deepEqual((reply.body as ModelDocument[]).map(shown).sort(byIdentity), this.#model.all().map(shown).sort(byIdentity))
    await this.#compareChecksums(reply.body as HashedDocument[])
  }

  async #compareChecksums(documents: readonly HashedDocument[]): Promise<void> {
    // A collection is there from its first write until it is deleted.
    if (documents.length === 0) return
    const { status, body } = await this.#server.client.send('GET', `/v1/checksum?collection=${COLLECTION}`)
    const { checksum, checksum64 } = body as Checksums
    assert.deepEqual([status, { checksum, checksum64 }], [200, checksumsOf(documents)])
  }

  async end(): Promise<void> {
    await this.#server.kill()
  }

  async #restart(): Promise<void> {
    if (this.#random.next() < 0.5) await this.#server.stop()
    else await this.#server.kill()
    this.#server = await ServerProcess.start(this.#directory)
    await this.compareAll()
  }

  async #add(): Promise<void> {
    const spelling = this.#spelling()
    const content = this.#content()
    const meta = this.#meta()
    await this.#expect('POST', '/v1/add', { ...spelling, contentMd: content, meta }, 200)
    this.#model.add(spelling, meta, content)
  }

  async #update(): Promise<void> {
    const spelling = this.#spelling()
    const change = this.#random.next() < 0.5 ? { contentMd: this.#content() } : { meta: this.#meta() }
    const there = this.#model.update(spelling, change)
    await this.#expect('PATCH', '/v1/update', { ...spelling, ...change }, there ? 200 : 404)
  }

  async #delete(): Promise<void> {
    const spelling = this.#spelling()
    await this.#expect('POST', '/v1/delete', spelling, this.#model.delete(spelling) ? 200 : 404)
  }

  async #get(): Promise<void> {
    const spelling = this.#spelling()
    const document = this.#model.find(spelling)
    const body = await this.#expect('POST', '/v1/get', spelling, document === undefined ? 404 : 200)
    if (document !== undefined) assert.equal(shown(body as ModelDocument), shown(document))
  }

  async #revisions(): Promise<void> {
    const spelling = this.#spelling()
    const document = this.#model.find(spelling)
    const body = await this.#expect('POST', '/v1/revisions', spelling, document === undefined ? 404 : 200)
    if (document !== undefined) assert.equal((body as { readonly total: number }).total, document.revisions)
  }

  async #filter(): Promise<void> {
    const colour = this.#random.pick(COLOURS)
    const body = await this.#expect('POST', '/v1/search', { filterMeta: { colour: [colour] }, limit: 1000 }, 200)
    const expected = this.#model.withMeta('colour', colour)
    assert.deepEqual((body as ModelDocument[]).map(shown).sort(), expected.map(shown).sort())
  }

  async #deleteCollection(): Promise<void> {
    const body = await this.#expect('POST', '/v1/delete-collection', {}, 200)
    assert.equal((body as { readonly deleted: number }).deleted, this.#model.all().length)
    this.#model.clear()
  }

  async #expect(method: string, url: string, fields: object, status: number): Promise<unknown> {
    const reply = await this.#server.client.send(method, url, JSON.stringify({ collection: COLLECTION, ...fields }))
    assert.equal(reply.status, status, `${method} ${url} ${JSON.stringify(fields)}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }

  #spelling(): Spelling {
    return { key: this.#random.pick(KEYS), lang: this.#random.pick(LANGS) }
  }

  #content(): string {
    return `# Version ${++this.#written}\n\n${'Ein "Satz" mit \\ und \u2028 und 🙂.\n'.repeat(this.#random.below(200))}`
  }

  #meta(): ModelDocument['meta'] {
    const colours = COLOURS.filter(() => this.#random.next() < 0.4)
    return colours.length === 0 ? {} : { colour: colours }
  }
}

/** A document as one string, without the fields that only the server knows. */
function shown({ key, lang, meta, contentMd }: ModelDocument): string {
  return JSON.stringify([key, lang, meta ?? {}, contentMd])
}

it(`any sequence of operations and restarts answers as the model does, MDS_TEST_SEED=${seed}`, async () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'mds-replay-'))
  const directory = path.join(scratch, 'db')
  const replay = new Replay(directory, await ServerProcess.start(directory))
  try {
    for (let i = 0; i < OPERATIONS; i++) await replay.step()
    await replay.compareAll()
  } finally {
    await replay.end()
    rmSync(scratch, { recursive: true, force: true })
  }
})
