/** Readers of several documents fetch all missing contents together instead of one after the other. */
import type { Head } from '../../store/head.js'
import { BodiesWanted } from '../../store/objects.js'
import type { View } from '../../store/view.js'

/**
 * Runs a function that reads the contents of the given documents.
 * @throws BodiesWanted for all missing contents, if the function met a missing one
 */
export function readingAll<T>(view: View, collection: number, docids: () => Iterable<number>, run: () => T): T {
  return readingOf(
    view,
    function* () {
      for (const docid of docids()) yield [collection, docid]
    },
    run,
  )
}

/** The same for documents of several collections. @param documents collection and docid of each */
export function readingOf<T>(view: View, documents: () => Iterable<readonly [collection: number, docid: number]>, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof BodiesWanted)) throw error
    return view.objects.wantAll(error, headsOf(view, documents()))
  }
}

function* headsOf(view: View, documents: Iterable<readonly [collection: number, docid: number]>): Generator<Head> {
  for (const [collection, docid] of documents) {
    const head = view.head(collection, docid)
    if (head !== undefined) yield head
  }
}
