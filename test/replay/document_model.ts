/**
 * The contract's documents in a plain Map: identity by lower-cased key and lang, look-ups restricted to
 * written spellings, a count of revisions, and deletes that remove all spellings. It defines the server's
 * answers after any sequence of operations (service-1, identity rules 1 to 4).
 */
export interface ModelDocument {
  /** In the spelling of the last add. */
  key: string
  lang: string
  meta: Readonly<Record<string, readonly string[]>>
  contentMd: string
  readonly spellings: Set<string>
  revisions: number
}

export interface Spelling {
  readonly key: string
  readonly lang: string
}

function identityOf({ key, lang }: Spelling): string {
  return `${key.toLowerCase()}\0${lang.toLowerCase()}`
}

function spelled({ key, lang }: Spelling): string {
  return `${key}\0${lang}`
}

export class DocumentModel {
  readonly #documents = new Map<string, ModelDocument>()

  add(spelling: Spelling, meta: ModelDocument['meta'], contentMd: string): void {
    const identity = identityOf(spelling)
    const old = this.#documents.get(identity)
    const spellings = (old?.spellings ?? new Set<string>()).add(spelled(spelling))
    this.#documents.set(identity, { ...spelling, meta, contentMd, spellings, revisions: (old?.revisions ?? 0) + 1 })
  }

  /** Undefined if the service answers 404. */
  find(spelling: Spelling): ModelDocument | undefined {
    const document = this.#documents.get(identityOf(spelling))
    return document?.spellings.has(spelled(spelling)) === true ? document : undefined
  }

  /** @returns whether the document existed */
  update(spelling: Spelling, change: { readonly meta?: ModelDocument['meta']; readonly contentMd?: string }): boolean {
    const document = this.find(spelling)
    if (document === undefined) return false
    document.meta = change.meta ?? document.meta
    document.contentMd = change.contentMd ?? document.contentMd
    document.revisions++
    return true
  }

  /** @returns whether the document existed */
  delete(spelling: Spelling): boolean {
    return this.find(spelling) !== undefined && this.#documents.delete(identityOf(spelling))
  }

  clear(): void {
    this.#documents.clear()
  }

  all(): readonly ModelDocument[] {
    return [...this.#documents.values()]
  }

  withMeta(name: string, value: string): readonly ModelDocument[] {
    return this.all().filter((document) => document.meta[name]?.includes(value) === true)
  }
}
