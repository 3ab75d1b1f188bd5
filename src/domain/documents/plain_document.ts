/** The native path of a get: a plain document in its present state, by one call. Read lanes. */
import { isIdOfCollection } from '../../store/head.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import type { View } from '../../store/view.js'

/**
 * Appends the JSON of the document with its content.
 * @returns which document it is; undefined: nothing was appended, and the document is to be read by its rows
 */
export function appendPlain(
  view: View,
  { collection: name, key, lang }: { readonly collection: string; readonly key: string; readonly lang: string },
  out: ByteWriter,
): { readonly collection: number; readonly docid: number } | undefined {
  const collection = view.collection(name)?.id
  if (collection === undefined) return undefined
  const begin = out.length
  const facts = view.appendSpelled(collection, key, lang, out)
  if (facts === undefined) return undefined
  // A damaged row may lead to the document of another collection. Reading by rows reports it.
  if (isIdOfCollection(out.view().toString('utf8', begin, begin + facts.metaBegin), name)) return { collection, docid: facts.docid }
  out.cut(begin)
  return undefined
}
