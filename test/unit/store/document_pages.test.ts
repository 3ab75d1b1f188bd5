/** Pages of documents that the native reader reads by one call, beside a writer. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'
import { Bench, contentOf } from '../../harness/store/native_reader_bench.js'
import { keyringWith } from '../../harness/store/sealing.js'

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
