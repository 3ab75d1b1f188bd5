/**
 * Compares a source of whole documents with the rows, once before it is used. The source relies on the layout
 * of lmdb-js's structures in memory; a difference means that it must not be used.
 */
import type { DocumentSource } from '../base/document_source.js'
import { appendDocument } from './documents/document_source.js'
import type { Environment } from './environment.js'
import { ByteWriter } from './rows/byte_writer.js'
import { collectionOfKey, docidOfKey } from './rows/keys.js'
import type { View } from './view.js'

/**
 * Documents at the beginning of the store among which the native reader is compared with the rows: it does
 * not have those that are sealed or stored elsewhere.
 */
const SOURCE_CHECK_DOCUMENTS = 16

/**
 * Whether the source shows the first document that it has of the first ones of the store as its rows do. True
 * if it has none of them.
 * @param view without a source
 */
export function agreesWithRows({ heads }: Environment, view: View, source: DocumentSource): boolean {
  const [read, written] = [new ByteWriter(), new ByteWriter()]
  for (const key of [...heads.getKeys({ limit: SOURCE_CHECK_DOCUMENTS })]) {
    const head = view.headEvenExpired(collectionOfKey(key), docidOfKey(key))
    if (head === undefined || appendDocument(source, head.collection, head.docid, read, head.lsn) === undefined) continue
    view.writeDocument(head, written, true)
    return written.view().equals(read.view())
  }
  return true
}
