/**
 * Which documents the files of a watched folder are, as the server has them: so a file that is written
 * without a change is not sent, and a file that is gone has a document to remove. Main thread of the CLI.
 */
import type { ImportSource } from '../../files/document.js'
import { storedAs, type StoredDocument, type StoredDocuments } from '../stored_documents.js'

export class KnownFiles {
  /** By identity, what the server has. An import takes out what it sends. */
  readonly stored: StoredDocuments = new Map()
  /** By path, the identity of its document. */
  readonly #identities = new Map<string, string>()
  /** Documents whose file is gone, but which are still there. */
  readonly #gone = new Map<string, StoredDocument>()
  #sent = new Map<string, StoredDocument>()

  /** Notes what passes. @param changed the files that may have changed; undefined: all */
  watch(source: ImportSource, changed: Iterable<string> = []): ImportSource {
    const items = this.#notedItems(source, new Set(changed))
    return { ...source, items: () => items }
  }

  async *#notedItems(source: ImportSource, missing: Set<string>): ReturnType<ImportSource['items']> {
    this.#sent = new Map()
    for await (const item of source.items(undefined)) {
      missing.delete(item.name)
      if (item.kind === 'document') {
        this.#leave(item.name, item.identity)
        this.#identities.set(item.name, item.identity)
        this.#sent.set(item.identity, storedAs(item.document))
      }
      yield item
    }
    for (const path of missing) this.#leave(path, undefined)
    const present = this.#gone.size === 0 ? new Set() : new Set(this.#identities.values())
    for (const identity of this.#gone.keys()) if (present.has(identity)) this.#gone.delete(identity)
  }

  /** @param isWhole the server has taken everything; if not, it is sent again with its next change */
  settle(isWhole: boolean): void {
    for (const [identity, document] of this.#sent) this.stored.set(identity, isWhole ? document : { ...document, digest: undefined })
  }

  /** Number of documents of the folder, with those that are gone. */
  get total(): number {
    return new Set(this.#identities.values()).size + this.#gone.size
  }

  gone(): readonly StoredDocument[] {
    return [...this.#gone.values()]
  }

  /** They are removed, or nobody wants to know. */
  forgetGone(): void {
    for (const identity of this.#gone.keys()) this.stored.delete(identity)
    this.#gone.clear()
  }

  /** The file is no longer the document that it was, unless that is `identity`. */
  #leave(path: string, identity: string | undefined): void {
    const before = this.#identities.get(path)
    if (before === undefined || before === identity) return
    this.#identities.delete(path)
    const document = this.stored.get(before)
    if (document !== undefined) this.#gone.set(before, document)
  }
}
