/**
 * Heads of documents, as one snapshot or transaction shows them. A sealed head is opened, and each head is
 * compared with the key of its row. Layout: docs/formats/truth-env.md.
 */
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { decodeHead, isSpelled } from '../head.js'
import { counterKey, docidOfKey, documentKey, prefixEnd } from '../rows/keys.js'
import { CorruptRecord } from '../rows/record.js'
import type { CollectionSeal } from '../sealing/collection_seal.js'
import { CLEAR, stateAddress } from '../sealing/collection_seal.js'
import { keyIdOf } from '../sealing/sealed_record.js'
import type { Identity } from './identities.js'
import { hasSpelling, readIdentity } from './identities.js'

export function isExpired(head: Head, now: number): boolean {
  return head.expiresAt > 0 && head.expiresAt <= now
}

/**
 * Writes the head in the stored form of its collection, sealed or plaintext. Inside the write transaction.
 */
export function writeHead(environment: Environment, collection: number, docid: number, record: Buffer): void {
  const seal = environment.seals.of(collection)
  const isSealed = seal !== undefined && seal.writtenForm !== CLEAR
  environment.heads.put(documentKey(collection, docid), isSealed ? seal.seal(stateAddress(collection, docid), record) : record)
}

export class HeadReader {
  readonly #environment: Environment
  readonly #now: number
  readonly #sealOf: (collection: number) => CollectionSeal | undefined

  /** @param now unix seconds: documents that expire at or before this time are not returned */
  constructor(environment: Environment, now: number, sealOf: (collection: number) => CollectionSeal | undefined) {
    this.#environment = environment
    this.#now = now
    this.#sealOf = sealOf
  }

  evenExpired(collection: number, docid: number): Head | undefined {
    const record = this.#environment.heads.get(documentKey(collection, docid))
    return record === undefined ? undefined : this.decodeState(record, collection, docid, () => `head ${collection}/${docid}`)
  }

  /** Undefined if there is none or it has expired. */
  present(collection: number, docid: number): Head | undefined {
    return this.#unexpired(this.evenExpired(collection, docid))
  }

  /** The owner of the identity (key, lang), in any spelling. */
  identity(collection: number, key: string, lang: string): Identity | undefined {
    return readIdentity(this.#environment, this.#sealOf(collection), collection, key, lang)
  }

  /**
   * The head of the document of an identity, expired or not.
   * @throws CorruptRecord also if the head belongs to another identity: a misdirected row must neither show
   * nor change that document
   */
  headOf(collection: number, { docid, key, lang }: Identity): Head | undefined {
    const head = this.evenExpired(collection, docid)
    if (head !== undefined && !isSpelled(head, key, lang))
      throw new CorruptRecord(`identity of document ${collection}/${docid}`, 'it leads to another document')
    return head
  }

  /** The document that was at some time written under exactly this spelling (service-1, identity rule 3). */
  find(collection: number, key: string, lang: string): Head | undefined {
    const identity = this.identity(collection, key, lang)
    if (identity === undefined) return undefined
    const spelledSo = identity.key === key && identity.lang === lang
    if (!spelledSo && !hasSpelling(this.#environment, this.#sealOf(collection), collection, identity.docid, key, lang)) return undefined
    return this.#unexpired(this.headOf(collection, identity))
  }

  /** Decodes a stored state, plaintext or sealed. @throws CorruptRecord */
  decodeState(record: Buffer, collection: number, docid: number, name: () => string): Head {
    const head = this.#openState(record, collection, docid, name)
    if (head.docid !== docid) throw new CorruptRecord(name(), `it is of document ${head.docid}`)
    return head
  }

  #openState(record: Buffer, collection: number, docid: number, name: () => string): Head {
    if (keyIdOf(record) === 0) return decodeHead(record, collection, name)
    const seal = this.#sealOf(collection)
    if (seal === undefined) throw new CorruptRecord(name(), 'sealed row in an unsealed collection')
    return { ...decodeHead(seal.open(stateAddress(collection, docid), record, name), collection, name), record }
  }

  /** Docids from `docidFirst` on, ascending, expired documents included, at most `count`. */
  docidsFrom(collection: number, docidFirst: number, count: number): number[] {
    const start = documentKey(collection, docidFirst)
    return [...this.#environment.heads.getKeys({ start, end: prefixEnd(start.subarray(0, 4)), limit: count })].map((key) => docidOfKey(key))
  }

  /**
   * Heads of all documents that have not expired, in the order of docids. A head is valid until the next one
   * is read.
   */
  all(collection: number): Generator<Head> {
    const prefix = counterKey(collection)
    return this.#within(prefix, prefixEnd(prefix), collection)
  }

  /** Like `all`, with docids from `docidFirst` up to but not including `docidEnd`. */
  from(collection: number, docidFirst: number, docidEnd: number): Generator<Head> {
    return this.#within(documentKey(collection, docidFirst), documentKey(collection, docidEnd), collection)
  }

  *#within(start: Buffer, end: Buffer, collection: number): Generator<Head> {
    for (const { key, value } of this.#environment.heads.getRange({ start, end })) {
      const docid = docidOfKey(key)
      const head = this.decodeState(value, collection, docid, () => `head ${collection}/${docid}`)
      if (!isExpired(head, this.#now)) yield head
    }
  }

  /** The key id (0: plaintext) of every state, present and superseded. */
  *keyIds(collection: number): Generator<number> {
    const prefix = counterKey(collection)
    const range = { start: prefix, end: prefixEnd(prefix) }
    for (const table of [this.#environment.heads, this.#environment.revisions])
      for (const { value } of table.getRange(range)) yield keyIdOf(value)
  }

  #unexpired(head: Head | undefined): Head | undefined {
    return head === undefined || isExpired(head, this.#now) ? undefined : head
  }
}
