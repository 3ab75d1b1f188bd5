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
