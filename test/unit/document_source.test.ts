/**
 * The native reader of documents beside a writer, where it is refused, and at the end of a thread. A writer
 * of its own over the same env commits at the exact moment that a test needs.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { decideDelete, decidePut } from '../../src/domain/decision.js'
import { openDocuments } from '../../src/engine/document_reader.js'
import { TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../../src/limits/store.js'
import type { WriteTransaction } from '../../src/store/apply.js'
import { ByteWriter } from '../../src/store/byte_writer.js'
import { NOT_RESIDENT } from '../../src/store/documents/document_source.js'
import type { DocumentSource } from '../../src/store/documents/document_source.js'
import { isSpelled } from '../../src/store/head.js'
import { openDataDirectory } from '../../src/store/layout.js'
import { emptyKeyring } from '../../src/store/sealing/keyring.js'
import { TruthStore } from '../../src/store/truth_store.js'
import { Random, runSeed } from '../harness/random.js'
import { prepared } from '../harness/store_operations.js'

const SHAPE = { mapBytes: TRUTH_MAP_BYTES, readersMin: TRUTH_READERS_MAX }
const CACHE_BYTES = 1 << 20
/** Unix seconds of every write. */
const WRITTEN_AT = 1_000
const folder = mkdtempSync(join(tmpdir(), 'mds-document-source-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const directoryOf = (name: string): string => openDataDirectory(join(folder, name)).generationPath

/**
 * A store that is written to, and one that reads natively. `before` and `after` run around the next native
 * read.
 */
class Bench {
  readonly #writing: TruthStore
  readonly #write: (change: (transaction: WriteTransaction) => void) => void
  readonly reading: TruthStore
  around: { readonly before?: () => void; readonly after?: () => void } = {}
  natively = 0

  constructor(name: string) {
    const path = directoryOf(name)
    this.#writing = new TruthStore(path)
    const writer = this.#writing.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
    // The commit is done when the call returns: `sync` groups are synchronous transactions.
    this.#write = (change) => void writer.group(() => 1_000, change)
    this.put('first')
    this.reading = new TruthStore(path, CACHE_BYTES, emptyKeyring(), undefined, false, (file) => this.#open(file))
    this.natively = 0
  }

  #open(file: string): DocumentSource {
    const source = openDocuments(file, SHAPE, () => (this.natively += 1))
    const around = (read: () => number): number => {
      const { before, after } = this.around
      this.around = {}
      before?.()
      const length = read()
      after?.()
      return length
    }
    return {
      ...source,
      facts: source.facts,
      read: (...of) => around(() => source.read(...of)),
      find: (...of) => around(() => source.find(...of)),
    }
  }

  put(content: string): void {
    this.#write((transaction) => {
      for (const step of decidePut(transaction, 'blog', prepared('a', content, true, null)).steps) transaction.apply(step.entry, step.body)
    })
  }

  delete(): void {
    this.#write((transaction) => {
      const head = transaction.view.find(1, 'a', 'en')
      assert.ok(head)
      const { entry, body } = decideDelete(transaction, head)
      transaction.apply(entry, body)
    })
  }

  /** Content of the document as a page of a new view shows it. */
  shown(): string | undefined {
    return this.reading.read((view) => contentOf(view.document(1, 1)?.json))
  }

  async close(): Promise<void> {
    await this.reading.close()
    await this.#writing.close()
  }
}

function contentOf(json: Uint8Array | undefined): string | undefined {
  return json === undefined ? undefined : (JSON.parse(Buffer.from(json).toString()) as { readonly contentMd: string }).contentMd
}

describe('the native reader beside a writer', () => {
  it('native reader: a document that is replaced while it is read is not cached for later views', async () => {
    const bench = new Bench('replaced')
    bench.around = { after: () => bench.put('second') }
    assert.equal(bench.shown(), 'first')
    assert.equal(bench.natively, 1)
    assert.equal(bench.shown(), 'second')
    bench.around = { after: () => bench.delete() }
    bench.put('third')
    bench.shown()
    bench.delete()
    assert.equal(bench.shown(), undefined)
    await bench.close()
  })

  it('native reader: a view shows a document and its head in one state, whatever is written meanwhile', async () => {
    const bench = new Bench('one state')
    bench.around = { before: () => bench.put('second') }
    bench.reading.read((view) => {
      const document = view.document(1, 1)
      assert.equal(document?.lsn, view.head(1, 1)?.lsn)
      assert.equal(contentOf(document?.json), 'first')
    })
    bench.around = { before: () => bench.put('third') }
    bench.reading.read((view) => {
      const out = new ByteWriter()
      assert.equal(view.appendSpelled(1, 'a', 'en', out), undefined)
      assert.equal(out.length, 0)
      assert.equal(view.lastLsn(), 2n)
    })
    assert.equal(bench.shown(), 'third')
    await bench.close()
  })
})

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

describe('a native reader that must not be used', () => {
  const content = (open: (file: string) => DocumentSource, path: string): string | undefined => {
    const store = new TruthStore(path, CACHE_BYTES, emptyKeyring(), undefined, false, open)
    const shown = store.read((view) => contentOf(view.document(1, 1)?.json))
    void store.close()
    return shown
  }

  it('native reader: an env of another shape or an unknown file is refused, and documents are read by rows', async () => {
    const bench = new Bench('refused')
    const path = directoryOf('refused')
    for (const open of [
      (file: string) => openDocuments(file, { ...SHAPE, mapBytes: SHAPE.mapBytes / 2 }),
      (file: string) => openDocuments(file, { ...SHAPE, readersMin: 4_000 }),
      () => openDocuments(join(folder, 'none.mdb'), SHAPE),
    ]) {
      assert.throws(() => open(join(path, 'truth.mdb')), /list of envs|layout/)
      assert.equal(content(open, path), 'first')
    }
    await bench.close()
  })

  it('native reader: one that shows another document than the rows is closed and not used', async () => {
    const bench = new Bench('other')
    let isClosed = false
    const lying = (file: string): DocumentSource => {
      const source = openDocuments(file, SHAPE)
      const close = (): void => {
        isClosed = true
        source.close()
      }
      const read: DocumentSource['read'] = (collection, docid, space, lsn) => {
        const length = source.read(collection, docid, space, lsn)
        space[length - 3] = 'x'.charCodeAt(0)
        return length
      }
      return { ...source, facts: source.facts, read, close }
    }
    assert.equal(content(lying, directoryOf('other')), 'first')
    assert.ok(isClosed)
    await bench.close()
  })
})

describe('a native reader at the end', () => {
  const moduleOf = (name: string): string => JSON.stringify(new URL(`../../src/${name}.js`, import.meta.url).href)
  const program = (path: string, end: string): string => `
    import { openDocuments } from ${moduleOf('engine/document_reader')}
    import { emptyKeyring } from ${moduleOf('store/sealing/keyring')}
    import { TruthStore } from ${moduleOf('store/truth_store')}
    const open = (file) => openDocuments(file, ${JSON.stringify(SHAPE)})
    const store = new TruthStore(${JSON.stringify(path)}, 1000, emptyKeyring(), undefined, false, open)
    console.log(store.read((view) => view.document(1, 1)?.docid))
    ${end}`

  for (const [name, end] of [
    ['the end of the program', ''],
    ['process.exit', 'process.exit(0)'],
    ['an error', "process.on('uncaughtException', () => process.exit(0)); throw new Error('at the end')"],
  ] as const) {
    it(`native reader: ${name} without a close ends the process in order`, async () => {
      const bench = new Bench(`end ${name}`)
      const path = directoryOf(`end ${name}`)
      await bench.close()
      const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program(path, end)], {
        encoding: 'utf8',
      })
      assert.deepEqual([status, signal, stdout, stderr], [0, null, '1\n', ''])
    })
  }
})
