/**
 * Superseded states of documents by revision number, as one snapshot or transaction shows them. Layout:
 * docs/formats/truth-env.md.
 */
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { documentKey, prefixEnd, revisionKey, revisionOfKey } from '../rows/keys.js'
import { CorruptRecord } from '../rows/record.js'
import type { HeadReader } from './heads.js'

interface RevisionRow {
  readonly revision: number
  /** Undefined if the row is damaged. */
  readonly bodyLsn: bigint | undefined
}

export class RevisionView {
  readonly #environment: Environment
  readonly #heads: HeadReader

  constructor(environment: Environment, heads: HeadReader) {
    this.#environment = environment
    this.#heads = heads
  }

  /** Superseded states of a document, newest first. The present state is not included. */
  *of(collection: number, docid: number): Generator<Head> {
    const prefix = documentKey(collection, docid)
    const range = { start: prefixEnd(prefix), end: prefix, reverse: true }
    for (const { value } of this.#environment.revisions.getRange(range)) yield this.#open(value, collection, docid)
  }

  at(collection: number, docid: number, revision: number): Head | undefined {
    const record = this.#environment.revisions.get(revisionKey(collection, docid, revision))
    if (record === undefined) return undefined
    return this.#heads.decodeState(record, collection, docid, () => `revision ${collection}/${docid}/${revision}`)
  }

  /** The newest state whose number is not above `revision`. */
  newest(collection: number, docid: number, revision: number): Head | undefined {
    const range = { start: revisionKey(collection, docid, revision), end: documentKey(collection, docid), reverse: true, limit: 1 }
    const [found] = [...this.#environment.revisions.getRange(range)]
    return found === undefined ? undefined : this.#open(found.value, collection, docid)
  }

  /** States with numbers below `below`, ascending, each with the LSN of its body. */
  below(collection: number, docid: number, below: number): RevisionRow[] {
    const range = { start: documentKey(collection, docid), end: revisionKey(collection, docid, below) }
    return [...this.#environment.revisions.getRange(range)].map(({ key, value }) => {
      try {
        return { revision: revisionOfKey(key), bodyLsn: this.#open(value, collection, docid).bodyLsn }
      } catch (error) {
        if (!(error instanceof CorruptRecord)) throw error
        return { revision: revisionOfKey(key), bodyLsn: undefined }
      }
    })
  }

  count(collection: number, docid: number): number {
    const prefix = documentKey(collection, docid)
    return this.#environment.revisions.getKeysCount({ start: prefix, end: prefixEnd(prefix) })
  }

  /** Number of the state that has `older` states before it. Undefined if there are fewer. */
  after(collection: number, docid: number, older: number): number | undefined {
    const prefix = documentKey(collection, docid)
    const [key] = [...this.#environment.revisions.getKeys({ start: prefix, end: prefixEnd(prefix), offset: older, limit: 1 })]
    return key === undefined ? undefined : revisionOfKey(key)
  }

  #open(record: Buffer, collection: number, docid: number): Head {
    return this.#heads.decodeState(record, collection, docid, () => `revision ${collection}/${docid}`)
  }
}
