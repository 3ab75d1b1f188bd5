/**
 * Compares a source of whole documents with the rows, once before it is used. The source relies on the layout
 * of lmdb-js's structures in memory; a difference means that it must not be used.
 */
import { ByteWriter } from './byte_writer.js'
import { appendDocument } from './documents/document_source.js'
import type { DocumentSource } from './documents/document_source.js'
import type { Environment } from './environment.js'
import { collectionOfKey, docidOfKey } from './keys.js'
import type { View } from './view.js'

/**
 * Whether the source shows the first document of the store as its rows do. True if there is none, or if the
 * source does not have it.
 * @param view without a source
 */
export function agreesWithRows({ heads }: Environment, view: View, source: DocumentSource): boolean {
  const [key] = [...heads.getKeys({ limit: 1 })]
  if (key === undefined) return true
  const [collection, docid] = [collectionOfKey(key), docidOfKey(key)]
  const read = new ByteWriter()
  if (appendDocument(source, collection, docid, read) === undefined) return true
  const head = view.headEvenExpired(collection, docid)
  if (head === undefined || head.lsn !== source.facts.lsn) return true
  const written = new ByteWriter()
  view.writeDocument(head, written, true)
  return written.view().equals(read.view())
}
