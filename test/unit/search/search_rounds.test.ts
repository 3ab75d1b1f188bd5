/**
 * The loop of all searches: a page that is short is searched again for more hits, as long as that helps and
 * within the limit.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { documentsOf, SEARCH_AGAIN_FACTOR, searchUntilFull } from '../../../src/domain/search/rounds.js'
import { BodiesWanted } from '../../../src/store/objects.js'
import type { TruthStore } from '../../../src/store/truth_store.js'
import type { View } from '../../../src/store/view.js'

/** A store whose views are numbered in the order in which they are opened. */
function storeOf(view: Partial<View> = {}): { readonly store: TruthStore; readonly opened: () => number } {
  let opened = 0
  const read = <T>(run: (view: View) => T): T => {
    opened++
    return run(view as View)
  }
  return { store: { read } as unknown as TruthStore, opened: () => opened }
}

/** An engine with the given number of hits, the first of which are gone from the store. */
function search(hits: number, gone: number, limit: number, most = 1000): { readonly asked: number[]; readonly shown: number[] } {
  const asked: number[] = []
  let shown: number[] = []
  searchUntilFull(storeOf().store, {
    first: limit,
    most,
    find: (k) => {
      asked.push(k)
      return Array.from({ length: Math.min(k, hits) }, (_, docid) => ({ docid }))
    },
    documents: (found) => documentsOf(1, found),
    write: (_, found, k) => {
      shown = found.map(({ docid }) => docid).filter((docid) => docid >= gone)
      shown = shown.slice(0, limit)
      return shown.length === limit || found.length < k
    },
  })
  return { asked, shown }
}

describe('rounds of a search', () => {
  it('a full page takes one round', () => {
    assert.deepEqual(search(100, 0, 3), { asked: [3], shown: [0, 1, 2] })
  })

  it('a page that is short because documents are gone is filled by asking for more', () => {
    const { asked, shown } = search(100, 5, 3)
    assert.deepEqual(shown, [5, 6, 7])
    assert.deepEqual(asked, [3, 3 * SEARCH_AGAIN_FACTOR, 3 * SEARCH_AGAIN_FACTOR ** 2].slice(0, asked.length))
  })

  it('an engine without further hits is not asked again', () => {
    assert.deepEqual(search(2, 1, 3), { asked: [3], shown: [1] })
  })

  it('the bound on hits ends the search, and is asked for itself', () => {
    assert.deepEqual(search(100, 100, 3, 20).asked.at(-1), 20)
    assert.deepEqual(search(100, 100, 30, 20).asked, [30])
  })

  it('each round has a snapshot of the store that is younger than that of the engine', () => {
    const { store, opened } = storeOf()
    const order: string[] = []
    searchUntilFull(store, {
      first: 1,
      most: 1000,
      find: (k) => order.push(`find ${k} after ${opened()} views`),
      documents: () => [],
      write: () => order.push(`write in view ${opened()}`) === 4,
    })
    assert.deepEqual(order, ['find 1 after 0 views', 'write in view 1', `find ${SEARCH_AGAIN_FACTOR} after 1 views`, 'write in view 2'])
  })

  it('a missing content asks for those of all documents of the round at once', () => {
    const wanted: number[] = []
    const view = {
      head: (collection: number, docid: number) => ({ collection, docid }),
      objects: {
        wantAll: (error: Error, heads: Iterable<{ readonly docid: number }>): never => {
          for (const { docid } of heads) wanted.push(docid)
          throw error
        },
      },
    } as unknown as View
    const run = (): unknown =>
      searchUntilFull(storeOf(view).store, {
        first: 3,
        most: 1000,
        find: () => [{ docid: 1 }, { docid: 2 }],
        documents: (found) => documentsOf(7, found),
        write: () => {
          throw new BodiesWanted([])
        },
      })
    assert.throws(run, BodiesWanted)
    assert.deepEqual(wanted, [1, 2])
  })
})
