/**
 * The native reader of documents beside a writer, where it is refused, and at the end of a thread. A writer
 * of its own over the same env commits at the exact moment that a test needs.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { DocumentSource } from '../../../src/base/document_source.js'
import { openDocuments } from '../../../src/engine/document_reader.js'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'
import { emptyKeyring } from '../../../src/store/sealing/keyring.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { Bench, CACHE_BYTES, contentOf, directoryOf, SHAPE } from '../../harness/store/native_reader_bench.js'

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
      () => openDocuments(join(tmpdir(), 'mds-no-store', 'none.mdb'), SHAPE),
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
  const moduleOf = (name: string): string => JSON.stringify(new URL(`../../../src/${name}.js`, import.meta.url).href)
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
