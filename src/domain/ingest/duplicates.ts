/**
 * Which documents of an ingest are stored already: the same identity with the same content, byte for byte,
 * whatever the metadata. Expired and deleted documents are none. A document that a concurrent write changes
 * after the view counts as it was in the view: the ingest happened before that write.
 */
import { lowerCase } from '../../operations/row/lower_case.js'
import { escapeContent } from '../../store/body.js'
import { isExpired } from '../../store/documents/heads.js'
import type { Head } from '../../store/head.js'
import type { View } from '../../store/view.js'
import { readingAll } from '../documents/wanted_bodies.js'

export interface Candidate {
  readonly key: string
  readonly lang: string
  readonly contentMd: string
}

/**
 * @returns for each document, in order, whether it is a duplicate
 * @throws BodiesWanted for all stored contents that are not at hand
 */
export function findDuplicates(view: View, collection: number | undefined, documents: readonly Candidate[]): readonly boolean[] {
  // Contents of documents that this batch writes, by identity: a later one is compared with the last.
  const written = new Map<string, string>()
  const isDuplicate = (document: Candidate): boolean => {
    const { key, lang, contentMd } = document
    const identity = lowerCase(`${lang}|${key}`)
    const before = written.get(identity)
    const isSame = before === undefined ? isStored(view, collection, document) : before === contentMd
    if (!isSame) written.set(identity, contentMd)
    return isSame
  }
  if (collection === undefined) return documents.map(isDuplicate)
  const stored = function* (): Generator<number> {
    for (const document of documents) {
      const head = storedHead(view, collection, document)
      if (head?.bodyRawBytes === escapeContent(document.contentMd).length) yield head.docid
    }
  }
  return readingAll(view, collection, stored, () => documents.map(isDuplicate))
}

function isStored(view: View, collection: number | undefined, document: Candidate): boolean {
  const head = collection === undefined ? undefined : storedHead(view, collection, document)
  if (head === undefined || isExpired(head, view.now)) return false
  const escaped = escapeContent(document.contentMd)
  // Most changes of a text change its length, and then its body is not read.
  return head.bodyRawBytes === escaped.length && escaped.equals(view.escapedContent(head))
}

function storedHead(view: View, collection: number, { key, lang }: Candidate): Head | undefined {
  const identity = view.identity(collection, key, lang)
  return identity === undefined ? undefined : view.headOf(collection, identity)
}
