/**
 * Whole documents by native calls (src/engine/document_reader.ts), for the views of one thread. A read takes
 * a snapshot of its own, the newest. The caller has taken its own before, and uses what was read only where
 * both show the same state of the document (documents.ts). Documents that are not plain (sealed, stored
 * elsewhere, deltas, other spellings, missing, damaged) are left to the readers in TypeScript.
 */
import type { DocumentFacts, DocumentSource } from '../../base/document_source.js'
import { lowerCase } from '../../operations/row/lower_case.js'
import type { ByteWriter } from '../rows/byte_writer.js'

/**
 * Appends the document. Undefined: it has not been appended.
 * @param lsn of the only state that is wanted; default: the present one
 */
export function appendDocument(
  source: DocumentSource,
  collection: number,
  docid: number,
  out: ByteWriter,
  lsn?: bigint,
): DocumentFacts | undefined {
  return out.appended((space) => source.read(collection, docid, space, lsn)) ? source.facts : undefined
}

/** Appends the document whose last write had exactly this spelling. Undefined: it has not been appended. */
export function appendSpelled(
  source: DocumentSource,
  collection: number,
  key: string,
  lang: string,
  out: ByteWriter,
): DocumentFacts | undefined {
  const spelled = `${key}\0${lang}`
  const lowered = `${lowerCase(key)}\0${lowerCase(lang)}`
  return out.appended((space) => source.find(collection, lowered, spelled, space)) ? source.facts : undefined
}
