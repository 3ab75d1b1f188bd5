/**
 * Reads bodies within one snapshot: whole ones, those that are stored as the difference from a later body of
 * their document, which may be such a difference, too, and those that lie in a storage backend, as far as
 * their bytes are at hand.
 */
import { OPENED_BODY_BYTES } from '../../limits/encryption.js'
import { DELTA_CHAIN_REVISIONS } from '../../limits/revisions.js'
import { appendBody, baseOfBody, decodeBody, decodeDelta, isDelta } from '../body.js'
import type { ByteWriter } from '../byte_writer.js'
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { bodyKey } from '../keys.js'
import { BodiesWanted, objectPlace, readObject } from '../objects.js'
import type { BodyObject } from '../objects.js'
import { CorruptRecord } from '../record.js'
import { bodyPlace } from '../sealing/collection_seal.js'
import type { CollectionSeal } from '../sealing/collection_seal.js'
import { keyIdOf } from '../sealing/sealed_record.js'
import type { SealedPlace } from '../sealing/sealed_record.js'

// Of this thread: one record at a time.
const openedBody = Buffer.allocUnsafeSlow(OPENED_BODY_BYTES)

/** Which body it is: the parts of its key. */
export type BodyOf = Pick<Head, 'collection' | 'docid' | 'bodyLsn'>

export class BodyReader {
  readonly #environment: Environment
  readonly #sealOf: (collection: number) => CollectionSeal | undefined
  /**
   * The content that was last put together from deltas: the base of the revision before. What a body holds
   * never changes, so it stays true.
   */
  #last: { readonly body: BodyOf; readonly content: Buffer } | undefined

  constructor(environment: Environment, sealOf: (collection: number) => CollectionSeal | undefined) {
    this.#environment = environment
    this.#sealOf = sealOf
  }

  /** The JSON-escaped content, valid until the next read. @throws CorruptRecord, BodiesWanted */
  content(body: BodyOf): Buffer {
    const record = this.#open(body)
    return isDelta(record) ? this.#join(body) : decodeBody(record, () => nameOf(body))
  }

  /** The record of a whole body, in clear, in a buffer of its own. @throws CorruptRecord, BodiesWanted */
  record(body: BodyOf): Buffer {
    return Buffer.from(this.#open(body))
  }

  append(body: BodyOf, out: ByteWriter): void {
    const record = this.#open(body)
    if (isDelta(record)) out.bytes(this.#join(body))
    else appendBody(record, out, () => nameOf(body))
  }

  /** Whether it lies in the env as it is: not as the difference from another, and not elsewhere only. */
  isWhole(body: BodyOf): boolean {
    const record = this.#openStored(body)
    return record !== undefined && !isDelta(record)
  }

  /**
   * The object of a body that lies nowhere else; undefined for one that lies in the env. @throws
   * CorruptRecord
   */
  objectOnly(body: BodyOf): BodyObject | undefined {
    const key = keyOf(body)
    return this.#environment.bodies.doesExist(key) ? undefined : readObject(this.#environment, key)
  }

  /**
   * LSN of the body that this one is the difference from. Undefined for a whole one, and for one that is not
   * there or can't be read.
   */
  baseOf(body: BodyOf): bigint | undefined {
    try {
      const record = this.#openStored(body)
      return record === undefined ? undefined : baseOfBody(record, () => nameOf(body))
    } catch (error) {
      if (error instanceof CorruptRecord) return undefined
      throw error
    }
  }

  /**
   * Reads the record, and that of its base where it is a difference; unpacks neither. @throws CorruptRecord
   */
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
    return this.#openStored(body) ?? this.#openObject(body)
  }

  /** That of the env. */
  #openStored(body: BodyOf): Buffer | undefined {
    const key = keyOf(body)
    // Before the look at the body, which would not outlive it.
    const seal = this.#sealOf(body.collection)
    const record = this.#environment.bodies.peek(key)
    return record === undefined ? undefined : unsealed(seal, bodyPlace(key), record, body)
  }

  #openObject(body: BodyOf): Buffer {
    const object = readObject(this.#environment, keyOf(body))
    if (object === undefined) throw new CorruptRecord(nameOf(body), 'missing')
    const bytes = this.#environment.held.get(object.id)
    if (bytes === undefined) throw new BodiesWanted([object])
    return unsealed(this.#sealOf(body.collection), objectPlace(body.collection, object.id), bytes, body)
  }
}

/** @throws CorruptRecord */
function unsealed(seal: CollectionSeal | undefined, place: SealedPlace, record: Buffer, body: BodyOf): Buffer {
  if (keyIdOf(record) === 0) return record
  if (seal === undefined) throw new CorruptRecord(nameOf(body), 'sealed, in a collection that is not')
  return seal.open(place, record, () => nameOf(body), openedBody)
}

function keyOf({ collection, docid, bodyLsn }: BodyOf): Buffer {
  return bodyKey(collection, docid, bodyLsn)
}

function isSame(a: BodyOf, b: BodyOf): boolean {
  return a.bodyLsn === b.bodyLsn && a.docid === b.docid && a.collection === b.collection
}

function nameOf({ collection, docid, bodyLsn }: BodyOf): string {
  return `body ${collection}/${docid}/${bodyLsn}`
}
