/**
 * Reads bodies within one snapshot: whole bodies; deltas against a later body of their document, which may be
 * a delta, too; and bodies in a storage backend, if their bytes are cached.
 */
import { DELTA_CHAIN_REVISIONS } from '../../limits/documents.js'
import { appendBody, baseOfBody, decodeBody, decodeDelta, isDelta } from '../body.js'
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import type { BodyObject } from '../objects.js'
import { BodiesWanted, objectAddress, readObject } from '../objects.js'
import type { ByteWriter } from '../rows/byte_writer.js'
import { bodyKey } from '../rows/keys.js'
import { CorruptRecord } from '../rows/record.js'
import type { CollectionSeal } from '../sealing/collection_seal.js'
import { bodyAddress } from '../sealing/collection_seal.js'
import type { SealedAddress } from '../sealing/sealed_record.js'
import { keyIdOf } from '../sealing/sealed_record.js'

/**
 * Buffer of a lane into which sealed contents are opened, one at a time; the buffer for packing has the same
 * size. A larger content gets a buffer of its own.
 */
const OPENED_BODY_BYTES = 128 * 1024

// Buffer of this thread, for one record at a time.
const openedBody = Buffer.allocUnsafeSlow(OPENED_BODY_BYTES)

/** Identifies a body by the parts of its key. */
export type BodyOf = Pick<Head, 'collection' | 'docid' | 'bodyLsn'>

export class BodyReader {
  readonly #environment: Environment
  readonly #sealOf: (collection: number) => CollectionSeal | undefined
  /**
   * The content last assembled from deltas. It is the base of the next older revision. The content of a body
   * never changes, so the entry stays valid.
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

  /** The plaintext record of a whole body, in its own buffer. @throws CorruptRecord, BodiesWanted */
  record(body: BodyOf): Buffer {
    return Buffer.from(this.#open(body))
  }

  append(body: BodyOf, out: ByteWriter): void {
    const record = this.#open(body)
    if (isDelta(record)) out.bytes(this.#join(body))
    else appendBody(record, out, () => nameOf(body))
  }

  /**
   * Whether the body is stored in the env as a whole body: it is not a delta and is not stored only in a
   * storage backend.
   */
  isWhole(body: BodyOf): boolean {
    const record = this.#openStored(body)
    return record !== undefined && !isDelta(record)
  }

  /**
   * The object of a body that is stored only there; undefined for a body that is stored in the env.
   * @throws CorruptRecord
   */
  objectOnly(body: BodyOf): BodyObject | undefined {
    const key = keyOf(body)
    return this.#environment.bodies.doesExist(key) ? undefined : readObject(this.#environment, key)
  }

  /**
   * LSN of the body that this one is a delta of. Undefined for a whole body, and for one that is missing or
   * unreadable.
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

  /** Reads the record and, for a delta, that of its base. Neither is decompressed. @throws CorruptRecord */
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
      // A copy, because the whole chain is needed at once.
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

  /** The plaintext record, valid until the next look-up. */
  #open(body: BodyOf): Buffer {
    return this.#openStored(body) ?? this.#openObject(body)
  }

  /** The plaintext record of a body in the env; undefined if the env does not have it. */
  #openStored(body: BodyOf): Buffer | undefined {
    const key = keyOf(body)
    // Looked up first: this look-up would invalidate the peeked body.
    const seal = this.#sealOf(body.collection)
    const record = this.#environment.bodies.peek(key)
    return record === undefined ? undefined : unsealed(seal, bodyAddress(key), record, body)
  }

  #openObject(body: BodyOf): Buffer {
    const object = readObject(this.#environment, keyOf(body))
    if (object === undefined) throw new CorruptRecord(nameOf(body), 'missing')
    const bytes = this.#environment.cachedObjects.get(object.id)
    if (bytes === undefined) throw new BodiesWanted([object])
    return unsealed(this.#sealOf(body.collection), objectAddress(body.collection, object.id), bytes, body)
  }
}

/** @throws CorruptRecord */
function unsealed(seal: CollectionSeal | undefined, address: SealedAddress, record: Buffer, body: BodyOf): Buffer {
  if (keyIdOf(record) === 0) return record
  if (seal === undefined) throw new CorruptRecord(nameOf(body), 'sealed row in an unsealed collection')
  return seal.open(address, record, () => nameOf(body), openedBody)
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
