/**
 * Whole documents as answers show them: the JSON text of the head with the content in it. Documents that are
 * read repeatedly are cached (document_cache.ts). A cached text is valid until the state of the store
 * changes, any other until the next document is read.
 */
import type { DocumentFacts, DocumentSource } from '../../base/document_source.js'
import type { BodyReader } from '../bodies/body_reader.js'
import { STORE_COUNTERS } from '../counters.js'
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { ByteWriter } from '../rows/byte_writer.js'
import { counterKey } from '../rows/keys.js'
import type { DocumentCache, Mark, StoredDocument } from './document_cache.js'
import { DocumentPage, NOT_PLAIN } from './document_page.js'
import { appendDocument, appendSpelled } from './document_source.js'
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
  readonly #isSealed: (collection: number) => boolean
  readonly #now: number
  readonly #lastLsn: () => bigint
  readonly #cache: DocumentCache | undefined
  readonly #source: DocumentSource | undefined
  #mark: Mark | undefined
  #page: DocumentPage | undefined

  /**
   * @param now unix seconds
   * @param lastLsn reads the LSN of the last entry
   * @param cache of this thread; absent inside a write transaction
   * @param source of this thread; absent inside a write transaction, which must see its own writes
   */
  constructor(
    environment: Environment,
    {
      heads,
      bodies,
      isSealed,
    }: { readonly heads: HeadReader; readonly bodies: BodyReader; readonly isSealed: (collection: number) => boolean },
    now: number,
    lastLsn: () => bigint,
    cache: DocumentCache | undefined,
    source: DocumentSource | undefined,
  ) {
    this.#environment = environment
    this.#heads = heads
    this.#bodies = bodies
    this.#isSealed = isSealed
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
   * Announces documents of a collection that `get` will be asked for, from index `begin` of `wanted` up to
   * but not including `end`, and in that order: those that are not cached are read together. Asking for
   * others, or for fewer, is allowed.
   */
  expect(collection: number, wanted: readonly { readonly docid: number }[], begin: number, end: number): void {
    const [source, cache] = [this.#source, this.#cache]
    if (source === undefined || cache === undefined || this.#isSealed(collection)) return
    this.#page = new DocumentPage(source, collection, { wanted, begin, end }, (...document) => cache.has(...document))
  }

  /**
   * The document with its content. Undefined if it does not exist or has expired. Its text is valid only
   * until the next document is read.
   * @param isKept false: the document is not cached. For pages so long that they would evict everything else.
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
    if (this.#source === undefined || this.#cache === undefined || this.#isSealed(collection)) return undefined
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
    if (this.#source === undefined || this.#cache === undefined || this.#isSealed(collection)) return undefined
    const mark = this.#markOf(this.#cache)
    const row = this.#page?.rowOf(collection, docid)
    const read = row === undefined ? this.#readAlone(this.#source, collection, docid) : this.#readAhead(this.#source, row)
    if (read === undefined || !this.#isShown(read, mark)) return undefined
    const isCached = isKept && this.#cache.admits(collection, docid, read.text.length)
    const { lsn, indexedLsn, expiresAt, text } = read
    const document = { collection, docid, lsn, indexedLsn, expiresAt, json: isCached ? copyOf(text) : text, mark }
    if (isCached) this.#cache.put(document)
    return document
  }

  #readAlone(source: DocumentSource, collection: number, docid: number): ReadDocument | undefined {
    const facts = appendDocument(source, collection, docid, passing.begin())
    if (facts === undefined) return undefined
    return { lsn: facts.lsn, indexedLsn: facts.indexedLsn, expiresAt: facts.expiresAt, text: passing.view() }
  }

  #readAhead({ page }: DocumentSource, row: number): ReadDocument | undefined {
    if (row === NOT_PLAIN) return undefined
    const text = (this.#page as DocumentPage).textOf(row)
    return { lsn: page.lsn(row), indexedLsn: page.indexedLsn(row), expiresAt: page.expiresAt(row), text }
  }

  /**
   * Whether what the source has read is what the snapshot of the mark shows. The mark must have been taken
   * before: the first read of a view takes its snapshot, and a source that reads earlier may see an older
   * state, which must not be cached under the mark. A document that the snapshot does not have yet is newer
   * than its last entry; any other is unchanged since then.
   */
  #isShown({ lsn, expiresAt }: { readonly lsn: bigint; readonly expiresAt: number }, mark: Mark): boolean {
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
    if (this.#source === undefined || this.#isSealed(collection)) return false
    return appendDocument(this.#source, collection, docid, out, lsn) !== undefined
  }

  #documentOf(head: Head, cached: StoredDocument | undefined, isKept: boolean): StoredDocument {
    const { collection, docid, lsn, indexedLsn, expiresAt } = head
    const mark = this.#cache === undefined ? { lastLsn: lsn, soonestExpiry: undefined } : this.#markOf(this.#cache)
    if (cached !== undefined && cached.lsn === lsn) {
      cached.mark = mark
      return cached
    }
    const bytes = head.json.length + CONTENT_BEGIN.length + head.bodyRawBytes + CONTENT_END.length
    const isCached = isKept && this.#cache?.admits(collection, docid, bytes) === true
    const json = isCached ? this.#textOf(head) : this.#passingTextOf(head)
    const document: StoredDocument = { collection, docid, lsn, indexedLsn, expiresAt, json, mark }
    if (isCached) this.#cache?.put(document)
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

/** Of a document as the source has it. */
interface ReadDocument {
  readonly lsn: bigint
  readonly indexedLsn: bigint
  readonly expiresAt: number
  /** Valid until the next document is read. */
  readonly text: Buffer
}

/** In a buffer of its own: one of the pool would keep the rest of its page alive. */
function copyOf(text: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(text.length)
  text.copy(copy)
  return copy
}
