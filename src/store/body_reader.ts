/**
 * Reads bodies within one snapshot: whole ones, and those that are stored as the difference from a later body of their document, which may be such a difference, too.
 */
import { DELTA_CHAIN_REVISIONS, OPENED_BODY_BYTES } from '../limits.js'
import { appendBody, baseOfBody, decodeBody, decodeDelta, isDelta } from './body.js'
import type { ByteWriter } from './byte_writer.js'
import { peek } from './environment.js'
import type { Table } from './environment.js'
import type { Head } from './head.js'
import { bodyKey } from './keys.js'
import { CorruptRecord } from './record.js'
import { bodyPlace } from './sealing/collection_seal.js'
import type { CollectionSeal } from './sealing/collection_seal.js'
import { keyIdOf } from './sealing/sealed_record.js'

// Of this thread: one record at a time.
const openedBody = Buffer.allocUnsafeSlow(OPENED_BODY_BYTES)

/** Which body it is: the parts of its key. */
export type BodyOf = Pick<Head, 'collection' | 'docid' | 'bodyLsn'>

export class BodyReader {
  readonly #bodies: Table
  readonly #sealOf: (collection: number) => CollectionSeal | undefined
  /** The content that was last put together from deltas: the base of the revision before. What a body holds never changes, so it stays true. */
  #last: { readonly body: BodyOf; readonly content: Buffer } | undefined

  constructor(bodies: Table, sealOf: (collection: number) => CollectionSeal | undefined) {
    this.#bodies = bodies
    this.#sealOf = sealOf
  }

  /** The JSON-escaped content, valid until the next read. @throws CorruptRecord */
  content(body: BodyOf): Buffer {
    const record = this.#open(body)
    return isDelta(record) ? this.#join(body) : decodeBody(record, () => nameOf(body))
  }

  append(body: BodyOf, out: ByteWriter): void {
    const record = this.#open(body)
    if (isDelta(record)) out.bytes(this.#join(body))
    else appendBody(record, out, () => nameOf(body))
  }

  /** Whether it is stored as it is, and not as the difference from another. */
  isWhole(body: BodyOf): boolean {
    return !isDelta(this.#open(body))
  }

  /** LSN of the body that this one is the difference from. Undefined for a whole one, and for one that is not there or can't be read. */
  baseOf(body: BodyOf): bigint | undefined {
    try {
      return baseOfBody(this.#open(body), () => nameOf(body))
    } catch (error) {
      if (error instanceof CorruptRecord) return undefined
      throw error
    }
  }

  /** Reads the record, and that of its base where it is a difference; unpacks neither. @throws CorruptRecord */
  check(body: BodyOf): void {
    const base = baseOfBody(this.#open(body), () => nameOf(body))
    if (base !== undefined) this.#open({ ...body, bodyLsn: base })
  }

  #join(wanted: BodyOf): Buffer {
    const deltas: { readonly body: BodyOf; readonly record: Buffer }[] = []
    let content: Buffer | undefined
    for (let body = wanted; content === undefined;) {
      if (this.#last !== undefined && isSame(this.#last.body, body)) {
        content = this.#last.content
        break
      }
      // A copy: all of the chain is needed at once.
      const record = Buffer.from(this.#open(body))
      const base = baseOfBody(record, () => nameOf(body))
      if (base === undefined) {
        content = decodeBody(record, () => nameOf(body))
        break
      }
      if (base <= body.bodyLsn || deltas.length === DELTA_CHAIN_REVISIONS) throw new CorruptRecord(nameOf(body), `a delta on ${base}`)
      deltas.push({ body, record })
      body = { ...body, bodyLsn: base }
    }
    for (const { body, record } of deltas.reverse()) content = decodeDelta(record, content, () => nameOf(body))
    this.#last = { body: wanted, content }
    return content
  }

  /** The record in clear, valid until the next look-up. */
  #open(body: BodyOf): Buffer {
    const key = bodyKey(body.collection, body.docid, body.bodyLsn)
    // Before the look at the body, which would not outlive it.
    const seal = this.#sealOf(body.collection)
    const record = peek(this.#bodies, key)
    if (record === undefined) throw new CorruptRecord(nameOf(body), 'missing')
    if (keyIdOf(record) === 0) return record
    if (seal === undefined) throw new CorruptRecord(nameOf(body), 'sealed, in a collection that is not')
    return seal.open(bodyPlace(key), record, () => nameOf(body), openedBody)
  }
}

function isSame(a: BodyOf, b: BodyOf): boolean {
  return a.bodyLsn === b.bodyLsn && a.docid === b.docid && a.collection === b.collection
}

function nameOf({ collection, docid, bodyLsn }: BodyOf): string {
  return `body ${collection}/${docid}/${bodyLsn}`
}
