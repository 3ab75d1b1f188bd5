/**
 * Whole documents as answers show them: the JSON text of the head with the content in it. Recently read
 * documents are cached (document_cache.ts). A cached text is valid until the state of the store changes.
 */
import type { BodyReader } from '../bodies/body_reader.js'
import { ByteWriter } from '../byte_writer.js'
import { STORE_COUNTERS } from '../counters.js'
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { counterKey } from '../keys.js'
import type { DocumentCache, Mark, StoredDocument } from './document_cache.js'
import { appendDocument, appendSpelled } from './document_source.js'
import type { DocumentFacts, DocumentSource } from './document_source.js'
import type { HeadReader } from './heads.js'

const CONTENT_BEGIN = Buffer.from(',"contentMd":"')
const CONTENT_END = Buffer.from('"}')
const NO_COUNTERS = Buffer.alloc(0)
// Buffer of this thread, for one text at a time.
const passing = new ByteWriter()

export class DocumentReader {
  readonly #environment: Environment
  readonly #heads: HeadReader
  readonly #bodies: BodyReader
  readonly #now: number
  readonly #lastLsn: () => bigint
  readonly #cache: DocumentCache | undefined
  readonly #source: DocumentSource | undefined
  #mark: Mark | undefined

  /**
   * @param now unix seconds
   * @param lastLsn reads the LSN of the last entry
   * @param cache of this thread; absent inside a write transaction
   * @param source of this thread; absent inside a write transaction, which must see its own writes
   */
  constructor(
    environment: Environment,
    { heads, bodies }: { readonly heads: HeadReader; readonly bodies: BodyReader },
    now: number,
    lastLsn: () => bigint,
    cache: DocumentCache | undefined,
    source: DocumentSource | undefined,
  ) {
    this.#environment = environment
    this.#heads = heads
    this.#bodies = bodies
    this.#now = now
    this.#lastLsn = lastLsn
    this.#cache = cache
    this.#source = source
  }

  /** The mark of the state that the snapshot shows; undefined inside a write transaction. */
  get mark(): Mark | undefined {
    return this.#cache === undefined ? undefined : this.#markOf(this.#cache)
  }

  /**
   * The document with its content. Undefined if it does not exist or has expired.
   * @param isKept false: the document is not cached, and its text is valid only until the next read. For
   * pages so long that they would evict everything else and leave as much garbage.
   */
  get(collection: number, docid: number, isKept: boolean): StoredDocument | undefined {
    const cached = this.#cache?.get(collection, docid)
    if (this.#cache !== undefined && cached !== undefined && cached.mark === this.#markOf(this.#cache)) {
      return cached.expiresAt > 0 && cached.expiresAt <= this.#now ? undefined : cached
    }
    // Of a document that is cached, only the head is read again.
    const whole = cached === undefined ? this.#readWhole(collection, docid, isKept) : undefined
    if (whole !== undefined) return whole
    const head = this.#heads.present(collection, docid)
    return head === undefined ? undefined : this.#documentOf(head, cached, isKept)
  }

  /**
   * Appends the JSON of the document whose last write had exactly this spelling, with its content.
   * Undefined: it has not been appended, because it is not there, has expired, is not plain, or has changed
   * since the snapshot.
   */
  appendSpelled(collection: number, key: string, lang: string, out: ByteWriter): DocumentFacts | undefined {
    if (this.#source === undefined || this.#cache === undefined) return undefined
    const mark = this.#markOf(this.#cache)
    const begin = out.length
    const facts = appendSpelled(this.#source, collection, key, lang, out)
    if (facts === undefined) return undefined
    if (this.#isShown(facts, mark)) return facts
    out.cut(begin)
    return undefined
  }

  /** The document as the source has it. Undefined: it is read by its rows. */
  #readWhole(collection: number, docid: number, isKept: boolean): StoredDocument | undefined {
    if (this.#source === undefined || this.#cache === undefined) return undefined
    const mark = this.#markOf(this.#cache)
    const facts = appendDocument(this.#source, collection, docid, passing.begin())
    if (facts === undefined || !this.#isShown(facts, mark)) return undefined
    const text = passing.view()
    const json = isKept ? copyOf(text) : text
    const { lsn, indexedLsn, expiresAt } = facts
    const document = { collection, docid, lsn, indexedLsn, expiresAt, json, mark }
    if (isKept && this.#cache.takes(json.length)) this.#cache.put(document)
    return document
  }

  /**
   * Whether what the source has read is what the snapshot of the mark shows. The mark must have been taken
   * before: the first read of a view takes its snapshot, and a source that reads earlier may see an older
   * state, which must not be cached under the mark. A document that the snapshot does not have yet is newer
   * than its last entry; any other is unchanged since then.
   */
  #isShown({ lsn, expiresAt }: DocumentFacts, mark: Mark): boolean {
    return lsn <= mark.lastLsn && !(expiresAt > 0 && expiresAt <= this.#now)
  }

  /** Appends the JSON of the document: the head, and the content if requested. */
  write(head: Head, out: ByteWriter, withContent: boolean): void {
    const cached = withContent ? this.#cache?.get(head.collection, head.docid) : undefined
    if (cached !== undefined && cached.lsn === head.lsn) {
      out.bytes(cached.json)
      return
    }
    if (withContent) {
      if (!this.#writeAsRead(head, out)) this.#writeWhole(head, out)
    } else {
      out.bytes(head.json)
      out.ascii('}')
    }
  }

  /** Whether the source has this state of the document. */
  #writeAsRead({ collection, docid, lsn }: Head, out: ByteWriter): boolean {
    return this.#source !== undefined && appendDocument(this.#source, collection, docid, out, lsn) !== undefined
  }

  #documentOf(head: Head, cached: StoredDocument | undefined, isKept: boolean): StoredDocument {
    const { collection, docid, lsn, indexedLsn, expiresAt } = head
    const mark = this.#cache === undefined ? { lastLsn: lsn, soonestExpiry: undefined } : this.#markOf(this.#cache)
    if (cached !== undefined && cached.lsn === lsn) {
      cached.mark = mark
      return cached
    }
    const json = isKept ? this.#textOf(head) : this.#passingTextOf(head)
    const document: StoredDocument = { collection, docid, lsn, indexedLsn, expiresAt, json, mark }
    if (isKept && this.#cache?.takes(json.length) === true) this.#cache.put(document)
    return document
  }

  #textOf(head: Head): Buffer {
    const content = this.#bodies.content(head)
    const json = Buffer.allocUnsafeSlow(head.json.length + CONTENT_BEGIN.length + content.length + CONTENT_END.length)
    let at = head.json.copy(json)
    at += CONTENT_BEGIN.copy(json, at)
    at += content.copy(json, at)
    CONTENT_END.copy(json, at)
    return json
  }

  #passingTextOf(head: Head): Buffer {
    this.#writeWhole(head, passing.begin())
    return passing.view()
  }

  #writeWhole(head: Head, out: ByteWriter): void {
    out.bytes(head.json)
    out.bytes(CONTENT_BEGIN)
    this.#bodies.append(head, out)
    out.bytes(CONTENT_END)
  }

  #markOf(cache: DocumentCache): Mark {
    if (this.#mark === undefined) {
      const counters = this.#environment.counters.peek(counterKey(STORE_COUNTERS)) ?? NO_COUNTERS
      this.#mark = cache.mark(counters, this.#lastLsn)
    }
    return this.#mark
  }
}

/** In a buffer of its own: one of the pool would keep the rest of its page alive. */
function copyOf(text: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(text.length)
  text.copy(copy)
  return copy
}
