/**
 * Reads bodies within one snapshot: whole ones, and those that are stored as the difference from a later body of their document, which may be such a difference, too.
 */
import { DELTA_CHAIN_REVISIONS } from '../limits.js'
import { appendBody, baseOfBody, decodeBody, decodeDelta, isDelta } from './body.js'
import type { ByteWriter } from './byte_writer.js'
import { peek } from './environment.js'
import type { Table } from './environment.js'
import type { Head } from './head.js'
import { bodyKey } from './keys.js'
import { CorruptRecord } from './record.js'

/** Which body it is: the parts of its key. */
export type BodyOf = Pick<Head, 'collection' | 'docid' | 'bodyLsn'>

export class BodyReader {
  readonly #bodies: Table
  /** The content that was last put together from deltas: the base of the revision before. What a body holds never changes, so it stays true. */
  #last: { readonly body: BodyOf; readonly content: Buffer } | undefined

  constructor(bodies: Table) {
    this.#bodies = bodies
  }

  /** The JSON-escaped content, valid until the next read. @throws CorruptRecord */
  content(body: BodyOf): Buffer {
    const record = this.#peek(body)
    return isDelta(record) ? this.#join(body) : decodeBody(record, () => nameOf(body))
  }

  append(body: BodyOf, out: ByteWriter): void {
    const record = this.#peek(body)
    if (isDelta(record)) out.bytes(this.#join(body))
    else appendBody(record, out, () => nameOf(body))
  }

  /** Whether it is stored as it is, and not as the difference from another. */
  isWhole(body: BodyOf): boolean {
    return !isDelta(this.#peek(body))
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
      const record = Buffer.from(this.#peek(body))
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

  #peek(body: BodyOf): Buffer {
    const record = peek(this.#bodies, bodyKey(body.collection, body.docid, body.bodyLsn))
    if (record === undefined) throw new CorruptRecord(nameOf(body), 'missing')
    return record
  }
}

function isSame(a: BodyOf, b: BodyOf): boolean {
  return a.bodyLsn === b.bodyLsn && a.docid === b.docid && a.collection === b.collection
}

function nameOf({ collection, docid, bodyLsn }: BodyOf): string {
  return `body ${collection}/${docid}/${bodyLsn}`
}
