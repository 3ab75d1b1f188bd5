/** Gets by names, in one native call and without a view: what they show, and what they leave to others. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { DocumentSource } from '../../../src/base/document_source.js'
import { NOT_RESIDENT } from '../../../src/base/document_source.js'
import { decidePut } from '../../../src/domain/decision.js'
import { openDocuments } from '../../../src/engine/document_reader.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { isSpelled } from '../../../src/store/head.js'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { Random, runSeed } from '../../harness/random.js'
import { directoryOf, SHAPE, WRITTEN_AT } from '../../harness/store/native_reader_bench.js'
import { prepared } from '../../harness/store/store_operations.js'

/** Collection, key and language. */
type Names = readonly [string, string, string]

/** A store of documents under random names, with the rows of each, as the native reader sees it by names. */
class NamedDocuments {
  readonly #store: TruthStore
  readonly #write: (change: (transaction: WriteTransaction) => void) => void
  readonly rows: TruthStore
  readonly source: DocumentSource

  constructor(name: string) {
    const path = directoryOf(name)
    this.#store = new TruthStore(path)
    const writer = this.#store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
    this.#write = (change) => void writer.group(() => WRITTEN_AT, change)
    this.rows = new TruthStore(path)
    this.source = openDocuments(join(path, 'truth.mdb'), SHAPE)
  }

  /** Writes the documents in one commit. */
  put(...documents: readonly { readonly names: Names; readonly content: string; readonly ttl?: number | null }[]): void {
    this.#write((transaction) => {
      for (const { names, content, ttl } of documents) {
        const [collection, key, lang] = names
        const { steps } = decidePut(transaction, collection, { ...prepared(key, content, true, ttl ?? null), lang })
        for (const step of steps) transaction.apply(step.entry, step.body)
      }
    })
  }

  /** The document's text by its rows, if the native reader must have it under these names. */
  expected([collection, key, lang]: Names, now: number): Buffer | undefined {
    if (![collection, key, lang].every((name) => /^[ !#-[\]-~]+$/.test(name))) return undefined
    return this.rows.read((view) => {
      const id = view.collection(collection)?.id
      const identity = id === undefined ? undefined : view.identity(id, key, lang)
      const head = id === undefined || identity === undefined ? undefined : view.headEvenExpired(id, identity.docid)
      if (head === undefined || !isSpelled(head, key, lang) || (head.expiresAt > 0 && head.expiresAt <= now)) return undefined
      const out = new ByteWriter()
      view.writeDocument(head, out, true)
      return Buffer.from(out.view())
    })
  }

  async close(): Promise<void> {
    this.source.close()
    await this.rows.close()
    await this.#store.close()
  }
}

describe('a get by names', () => {
  const SPACE_BYTES = 64 << 10

  it('native reader: shows every document by its names as its rows have it, and no other', async () => {
    const seed = runSeed()
    const random = new Random(seed)
    const named = new NamedDocuments('by names')
    const anyCase = (text: string): string => (random.below(3) > 0 ? text : random.below(2) > 0 ? text.toUpperCase() : text.toLowerCase())
    const collection = (): string => anyCase(random.pick(['blog', 'Wiki', 'a', 'Blög', 'q"c', 'Notes of 2026']))
    const key = (): string =>
      anyCase(random.pick(['Guide/Start', 'guide start', 'x', 'ä', 'a"b', 'back\\slash', 'tab\t', 'K', 'ΟΔΟΣ', '~', 'DEL\x7f'])) +
      (random.below(2) > 0 ? '' : String(random.below(20)))
    const lang = (): string => anyCase(random.pick(['en', 'de', 'pt-BR']))
    const asked: Names[] = []
    const documents: { names: Names; content: string; ttl: number | null }[] = []
    for (let count = 0; count < 300; count++) {
      const names: Names = [collection(), key(), lang()]
      documents.push({ names, content: 'text "quoted" ä '.repeat(random.below(200)), ttl: random.pick([null, null, 5]) })
      asked.push(names, [collection(), names[1], names[2]], [names[0], key(), names[2]], [names[0], names[1], lang()])
    }
    named.put(...documents)
    const space = Buffer.alloc(SPACE_BYTES)
    let shown = 0
    for (const now of [WRITTEN_AT, WRITTEN_AT + 4, WRITTEN_AT + 5])
      for (const names of asked) {
        const expected = named.expected(names, now)
        const label = `${JSON.stringify(names)} at ${now}, seed ${seed}`
        const cautious = named.source.get(names.join('\0'), now, space, true)
        const bytes = named.source.get(names.join('\0'), now, space, false)
        assert.equal(bytes, expected?.length ?? 0, label)
        // The rows have just been written, so that the system has their pages unless it has no memory.
        assert.ok(cautious === bytes || cautious === NOT_RESIDENT, label)
        if (expected === undefined) continue
        shown++
        assert.ok(space.subarray(0, bytes).equals(expected), label)
        const { collection: id, docid, metaBegin } = named.source.facts
        assert.equal(
          named.rows.read((view) => view.collection(names[0])?.id),
          id,
          label,
        )
        assert.ok(docid > 0)
        assert.ok(space.toString('utf8', 0, metaBegin).endsWith('"meta":'), label)
      }
    assert.ok(shown > 100, `${shown} were shown, seed ${seed}`)
    await named.close()
  })

  it('native reader: texts that are not three plain names are refused, whatever their length', async () => {
    const named = new NamedDocuments('not names')
    named.put({ names: ['blog', 'a', 'en'], content: 'first' })
    const space = Buffer.alloc(SPACE_BYTES)
    const get = (names: string): number => named.source.get(names, WRITTEN_AT, space, false)
    assert.ok(get('blog\0a\0en') > 0)
    const long = 'a'.repeat(1978)
    const others = [
      '',
      '\0',
      '\0\0',
      'blog',
      'blog\0a',
      'blog\0a\0',
      'blog\0\0en',
      '\0a\0en',
      'blog\0a\0en\0',
      'blog\0a\0en\0x',
      '\0blog\0a\0en',
    ]
    const odd = ['blog\0\u0161\0en', 'bl\u016fg\0a\0en', 'blog\0a\ud800\0en', 'blog\0a\x1f\0en', 'blo\u212a\0a\0en']
    const overlong = [
      `${long}\0a\0en`,
      `${long}a\0a\0en`,
      `blog\0${long}\0en`,
      `blog\0a\0${long}`,
      `${long}\0${long}\0${long}`,
      'x'.repeat(1 << 20),
    ]
    for (const names of [...others, ...odd, ...overlong]) assert.equal(get(names), 0, JSON.stringify(names.slice(0, 40)))
    await named.close()
  })

  it('native reader: a document that does not fit is not read, and its length is said', async () => {
    const named = new NamedDocuments('short')
    named.put({ names: ['blog', 'a', 'en'], content: 'x'.repeat(3 << 20) })
    const whole = named.expected(['blog', 'a', 'en'], WRITTEN_AT) as Buffer
    const space = Buffer.alloc(SPACE_BYTES)
    assert.equal(named.source.get('blog\0a\0en', WRITTEN_AT, space, false), -whole.length)
    assert.ok(space.every((byte) => byte === 0))
    const enough = Buffer.alloc(whole.length)
    assert.equal(named.source.get('blog\0a\0en', WRITTEN_AT, enough, false), whole.length)
    assert.ok(enough.equals(whole))
    await named.close()
  })

  it('native reader: a get that must not wait for the disk reads no page that is not in memory', async (context) => {
    const written = new NamedDocuments('not resident')
    const keys = Array.from({ length: 1_500 }, (_, number) => `document ${number}`)
    // Random text, which no codec makes smaller: the store has some megabytes.
    written.put(...keys.map((key) => ({ names: ['blog', key, 'en'] as const, content: randomBytes(1_500).toString('hex') })))
    await written.close()
    const dropped = spawnSync('dd', [
      `of=${join(directoryOf('not resident'), 'truth.mdb')}`,
      'oflag=nocache',
      'conv=notrunc,fdatasync',
      'count=0',
    ])
    const named = new NamedDocuments('not resident')
    const space = Buffer.alloc(SPACE_BYTES)
    const get = (key: string, asksResidency: boolean): number => named.source.get(`blog\0${key}\0en`, WRITTEN_AT, space, asksResidency)
    const faults = named.source.majorFaults()
    const cautious = keys.map((key) => get(key, true))
    const waiting = cautious.filter((bytes) => bytes === NOT_RESIDENT).length
    // The program itself may wait for some of its pages.
    assert.ok(named.source.majorFaults() - faults <= waiting / 10)
    for (const [at, key] of keys.entries()) {
      const bytes = get(key, false)
      assert.ok(bytes > 0)
      assert.ok([bytes, NOT_RESIDENT].includes(cautious[at] as number))
    }
    if (waiting > 0) assert.equal(keys.filter((key) => get(key, true) === NOT_RESIDENT).length, 0)
    else context.skip(`NOT TESTED: the system still has all pages, or does not say so (dd: ${dropped.status})`)
    await named.close()
  })

  it('native reader: faults that waited for the disk are counted', async () => {
    const named = new NamedDocuments('faults')
    const before = named.source.majorFaults()
    assert.ok(Number.isSafeInteger(before) && before >= 0)
    assert.ok(named.source.majorFaults() >= before)
    await named.close()
  })
})
