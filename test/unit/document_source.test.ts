/**
 * The native reader of documents beside a writer, where it is refused, and at the end of a thread. A writer
 * of its own over the same env commits at the exact moment that a test needs.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { decideDelete, decidePut } from '../../src/domain/decision.js'
import { openDocuments } from '../../src/engine/document_reader.js'
import { TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../../src/limits/store.js'
import type { WriteTransaction } from '../../src/store/apply.js'
import { ByteWriter } from '../../src/store/byte_writer.js'
import type { DocumentSource } from '../../src/store/documents/document_source.js'
import { openDataDirectory } from '../../src/store/layout.js'
import { emptyKeyring } from '../../src/store/sealing/keyring.js'
import { TruthStore } from '../../src/store/truth_store.js'
import { keyringWith } from '../harness/sealing.js'
import { prepared } from '../harness/store_operations.js'

const SHAPE = { mapBytes: TRUTH_MAP_BYTES, readersMin: TRUTH_READERS_MAX }
const CACHE_BYTES = 1 << 20
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
  /** Calls of the native reader, those that found nothing included, and those for several documents. */
  calls = 0
  pages = 0

  constructor(name: string, keyring = emptyKeyring()) {
    const path = directoryOf(name)
    this.#writing = new TruthStore(path, 0, keyring)
    const writer = this.#writing.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
    // The commit is done when the call returns: `sync` groups are synchronous transactions.
    this.#write = (change) => void writer.group(() => 1_000, change)
    this.put('first')
    this.reading = new TruthStore(path, CACHE_BYTES, keyring, undefined, false, (file) => this.#open(file))
    this.natively = 0
    this.calls = 0
  }

  #open(file: string): DocumentSource {
    const source = openDocuments(file, SHAPE, (documents) => (this.natively += documents))
    const around = (read: () => number): number => {
      const { before, after } = this.around
      this.around = {}
      this.calls++
      before?.()
      const length = read()
      after?.()
      return length
    }
    return {
      ...source,
      read: (...of) => around(() => source.read(...of)),
      find: (...of) => around(() => source.find(...of)),
      readPage: (...of) => {
        this.pages++
        return around(() => source.readPage(...of))
      },
    }
  }

  put(content: string, key = 'a', ttl: number | null = null): void {
    this.#write((transaction) => {
      for (const step of decidePut(transaction, 'blog', prepared(key, content, true, ttl)).steps) transaction.apply(step.entry, step.body)
    })
  }

  /** Documents 1 to `count`. */
  fill(count: number, contentOfDocument = (docid: number): string => `text ${docid}`): void {
    for (let docid = 1; docid <= count; docid++) this.put(contentOfDocument(docid), docid === 1 ? 'a' : `k${docid}`)
  }

  seal(): void {
    this.#write((transaction) => {
      const entry = { lsn: transaction.nextLsn, collection: 1, docid: 0, collectionName: 'blog', isSealed: true, salt: Buffer.alloc(32, 1) }
      transaction.apply({ kind: 'sealing', ...entry }, undefined)
    })
  }

  /** Contents as a page of a new view shows them. @param announced default: the same documents */
  page(docids: readonly number[], announced = docids): (string | undefined)[] {
    const wanted = announced.map((docid) => ({ docid }))
    return this.reading.read((view) => {
      view.expect(1, wanted)
      return docids.map((docid) => contentOf(view.document(1, docid)?.json))
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

describe('pages of documents that are read together', () => {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
  const text = (docid: number): string => `text ${docid}`

  it('native pages: documents are read together, whatever their order, with gaps for those that are not there', async () => {
    const bench = new Bench('page')
    bench.fill(12)
    assert.deepEqual(bench.page([7, 900, 3, 3, 901, 12]), [text(7), undefined, text(3), text(3), undefined, text(12)])
    assert.deepEqual([bench.pages, bench.calls, bench.natively], [1, 1, 4])
    // Others than announced, and fewer.
    assert.deepEqual(bench.page([5, 2, 9], [1, 2, 8, 9, 10]), [text(5), text(2), text(9)])
    assert.deepEqual([bench.pages, bench.calls], [2, 3])
    await bench.close()
  })

  it('native pages: a page of 300 is read in parts, in order', async () => {
    const bench = new Bench('page of 300')
    bench.fill(310)
    assert.deepEqual(bench.page(numbers(310).slice(5, 305)), numbers(310).slice(5, 305).map(text))
    assert.deepEqual([bench.pages, bench.calls, bench.natively], [10, 10, 300])
    await bench.close()
  })

  it('native pages: a document that does not fit begins the next part, one that never fits is read alone', async () => {
    const bench = new Bench('space')
    // 100 KB each: two fit. 300 KB: none does.
    const content = (docid: number): string => `${docid} `.repeat((docid === 4 ? 300_000 : 100_000) / 2)
    bench.fill(7, content)
    assert.deepEqual(bench.page(numbers(7)), numbers(7).map(content))
    // 1, 2; 3; nothing, and 4 alone, whose space must grow first; 5, 6; 7.
    assert.deepEqual([bench.pages, bench.calls, bench.natively], [5, 5 + 2, 7])
    await bench.close()
  })

  it('native pages: a document that is written or deleted meanwhile is shown as the view has it', async () => {
    const bench = new Bench('page beside writes')
    bench.fill(40)
    bench.around = {
      before: () => {
        bench.put('changed', 'k3')
        bench.delete()
        bench.put('new', 'k41')
      },
    }
    const shown = bench.page([1, 2, 3, 4, 41])
    assert.deepEqual(shown, [text(1), text(2), text(3), text(4), undefined])
    assert.equal(bench.natively, 4, '1 is gone, 3 and 41 are read but too new')
    assert.deepEqual(bench.page([1, 2, 3, 4, 41]), [undefined, text(2), 'changed', text(4), 'new'])
    // The second part is read after the view's snapshot too.
    bench.reading.read((view) => {
      const wanted = numbers(40).map((docid) => ({ docid }))
      view.expect(1, wanted)
      assert.equal(contentOf(view.document(1, 2)?.json), text(2))
      bench.put('later', 'k40')
      assert.deepEqual(
        wanted.slice(2).map(({ docid }) => contentOf(view.document(1, docid)?.json)),
        ['changed', ...numbers(40).slice(3).map(text)],
      )
    })
    await bench.close()
  })

  it('native pages: expired documents are left out, and another view in between harms nothing', async () => {
    const bench = new Bench('page of two views')
    bench.fill(4)
    bench.put('expired', 'k3', 1)
    assert.deepEqual(bench.page([2, 3, 4]), [text(2), undefined, text(4)])
    bench.reading.read((view) => {
      view.expect(1, [{ docid: 1 }, { docid: 2 }, { docid: 4 }])
      assert.equal(contentOf(view.document(1, 1, false)?.json), text(1))
      assert.deepEqual(bench.page([4, 1]), [text(4), text(1)])
      assert.equal(contentOf(view.document(1, 2, false)?.json), text(2))
    })
    await bench.close()
  })

  it('native pages: documents are cached on their second miss, and cached ones are not read again', async () => {
    const bench = new Bench('second miss')
    bench.fill(10)
    for (const natively of [10, 20, 20, 20]) {
      assert.deepEqual(bench.page(numbers(10)), numbers(10).map(text))
      assert.equal(bench.natively, natively)
    }
    bench.put(text(11), 'k11')
    // A commit: of the ten, only the heads are read again.
    assert.deepEqual(bench.page([...numbers(5), 11, 6]), [...numbers(5), 11, 6].map(text))
    assert.equal(bench.natively, 21)
    bench.put('changed', 'k5')
    assert.deepEqual([bench.page([5, 5]), bench.natively], [['changed', 'changed'], 21], 'a new state takes the place of the old one')
    assert.deepEqual(
      bench.reading.read((view) => view.document(1, 5) === view.document(1, 5)),
      true,
    )
    await bench.close()
  })

  it('native pages: documents that are read once evict nothing', async () => {
    const bench = new Bench('scan')
    const content = (docid: number): string => text(docid).padEnd(10_000, '.')
    bench.fill(200, content)
    for (let round = 0; round < 2; round++) bench.page(numbers(20))
    // 180 of 10 KB beside a cache of 1 MB with 200 KB in it.
    bench.page(numbers(200).slice(20))
    bench.natively = 0
    assert.deepEqual(bench.page(numbers(20)), numbers(20).map(content))
    assert.equal(bench.natively, 0)
    await bench.close()
  })

  it('native pages: the native reader is not asked for a collection whose rows are sealed', async () => {
    const bench = new Bench('sealed', keyringWith(1))
    bench.fill(3)
    bench.seal()
    bench.put('sealed', 'k2')
    assert.deepEqual(bench.page([1, 2, 3]), [text(1), 'sealed', text(3)])
    bench.reading.read((view) => {
      const head = view.find(1, 'a', 'en')
      assert.ok(head)
      const out = new ByteWriter()
      assert.equal(view.appendSpelled(1, 'a', 'en', out), undefined)
      view.writeDocument(head, out, true)
      assert.equal(contentOf(out.view()), text(1))
    })
    assert.equal(bench.calls, 0)
    await bench.close()
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
      return { ...source, read, close }
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
