/**
 * Which documents of an ingest are stored already: the same identity with the same content, byte for byte,
 * whatever the metadata. Expired and deleted documents are none. A document that a concurrent write changes
 * after the view counts as it was in the view: the ingest happened before that write.
 */
import { lowerCase } from '../../operations/row/lower_case.js'
import { escapeContent } from '../../store/body.js'
import { isExpired } from '../../store/documents/heads.js'
import type { View } from '../../store/view.js'

interface Candidate {
  readonly key: string
  readonly lang: string
  readonly contentMd: string
}

export class Duplicates {
  /** Contents of documents that this batch writes, by identity: a later one is compared with the last. */
  readonly #written = new Map<string, string>()

  /** Called once for each document, in the order of the batch. */
  has(view: View, collection: number | undefined, { key, lang, contentMd }: Candidate): boolean {
    const identity = lowerCase(`${lang}|${key}`)
    const before = this.#written.get(identity)
    const isSame = before === undefined ? isStored(view, collection, { key, lang, contentMd }) : before === contentMd
    if (!isSame) this.#written.set(identity, contentMd)
    return isSame
  }
}

function isStored(view: View, collection: number | undefined, { key, lang, contentMd }: Candidate): boolean {
  const identity = collection === undefined ? undefined : view.identity(collection, key, lang)
  const head = identity === undefined ? undefined : view.headOf(collection as number, identity)
  if (head === undefined || isExpired(head, view.now)) return false
  const escaped = escapeContent(contentMd)
  // Most changes of a text change its length, and then its body is not read.
  return head.bodyRawBytes === escaped.length && escaped.equals(view.escapedContent(head))
}
