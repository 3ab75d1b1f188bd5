/** Readers of several documents ask for all contents that are not at hand together, not for one after the other. */
import { BodiesWanted } from '../store/objects.js'
import type { Head } from '../store/head.js'
import type { View } from '../store/view.js'

/** Runs what reads the contents of these documents. @throws BodiesWanted for those of all, where it has met one */
export function readingAll<T>(view: View, collection: number, docids: () => Iterable<number>, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof BodiesWanted)) throw error
    return view.objects.wantAll(error, headsOf(view, collection, docids()))
  }
}

function* headsOf(view: View, collection: number, docids: Iterable<number>): Generator<Head> {
  for (const docid of docids) {
    const head = view.head(collection, docid)
    if (head !== undefined) yield head
  }
}
