/**
 * Compares a store with itself, in slices. First, every row of every table is checked individually. Then, for
 * each collection, identities are compared with heads, heads with what belongs to them, and counters with the
 * counted values. Reads only. A slice uses one snapshot. Data that is compared is read in the same snapshot,
 * except for the tally of a large collection, which the writes in between correct (tally.ts).
 */
import { collectionIds } from '../collections/lost_collections.js'
import { readCollectionCounters, readStoreCounters } from '../counters.js'
import type { Identity } from '../documents/identities.js'
import { decodeIdentity, openIdentity } from '../documents/identities.js'
import type { Environment, TableName } from '../environment.js'
import { TABLE_NAMES } from '../environment.js'
import { collectionOfKey, counterKey, docidOfKey, lsnOfKey, prefixEnd } from '../rows/keys.js'
import { CorruptRecord, DAMAGED_ROW } from '../rows/record.js'
import type { Row } from '../rows/table.js'
import { TALLIED, Tally } from '../tally.js'
import { View } from '../view.js'
import type { Compared, DocumentBounds } from './document_check.js'
import { checkDocument } from './document_check.js'
import { Findings } from './findings.js'
import { checkRow, subjectOf } from './row_check.js'

interface SliceBounds extends DocumentBounds {
  readonly rowsMax: number
  readonly bytesMax: number
  /** Whether a snapshot shows everything that was applied before it, so that a tally can be corrected. */
  readonly isTallyKept: boolean
}

/** The position at which the next slice continues. */
type Cursor =
  | { readonly stage: 'rows'; readonly table: number; readonly from?: Buffer; readonly walked: number }
  | { readonly stage: IdentityTable | 'heads'; readonly from?: Buffer }
  | { readonly stage: 'next' | 'orphans' }

type IdentityTable = 'identities' | 'sealedIdentities'

export class StoreComparison {
  readonly findings = new Findings()
  readonly #bounds: SliceBounds
  #cursor: Cursor = { stage: 'rows', table: 0, walked: 0 }
  /** Ids of the remaining collections. The next one is at the end. */
  #collections: number[] | undefined
  #collection = 0
  #rows = 0

  constructor(bounds: SliceBounds) {
    this.#bounds = bounds
  }

  /** Number of rows looked at so far. */
  get rows(): number {
    return this.#rows
  }

  /** Table or collection with which the next slice begins. */
  get stage(): string {
    const { stage } = this.#cursor
    if (stage === 'rows') return `table ${TABLE_NAMES[this.#cursor.table]}`
    return stage === 'next' || stage === 'orphans' ? 'collections' : `${stage} of collection ${this.#collection}`
  }

  /** One slice, on its own snapshot. @returns whether something is left */
  step(environment: Environment): boolean {
    const compared: Compared = { environment, view: new View(environment, 0), findings: this.findings }
    const cursor = this.#cursor
    switch (cursor.stage) {
      case 'rows':
        this.#walkRows(compared, cursor)
        return true
      case 'next':
        this.#nextCollection(compared)
        return true
      case 'identities':
      case 'sealedIdentities':
        this.#walkIdentities(compared, cursor.stage, cursor.from)
        return true
      case 'heads':
        this.#walkHeads(compared, cursor.from)
        return true
      case 'orphans':
        checkOrphans(compared)
        return false
    }
  }

  /**
   * The walk can't continue here, because LMDB refuses. It continues with the next table, or the next
   * collection.
   * @returns whether something is left
   */
  skip(detail: string): boolean {
    const cursor = this.#cursor
    this.findings.add('pages_damaged', this.stage, detail)
    if (cursor.stage === 'rows') this.#nextTable(cursor.table)
    else this.#cursor = { stage: 'next' }
    return cursor.stage !== 'next' && cursor.stage !== 'orphans'
  }

  #nextTable(table: number): void {
    this.#cursor = table + 1 < TABLE_NAMES.length ? { stage: 'rows', table: table + 1, walked: 0 } : { stage: 'next' }
  }

  #walkRows({ environment, findings }: Compared, { table, from, walked }: Cursor & { readonly stage: 'rows' }): void {
    const of = TABLE_NAMES[table] as TableName
    let [rows, bytes] = [0, 0]
    let last: Buffer | undefined
    for (const { key, value, isChecked } of environment[of].storedRows(from)) {
      if (this.#isFull(rows, bytes)) {
        this.#cursor = { stage: 'rows', table, from: Buffer.from(key), walked: walked + rows }
        this.#rows += rows
        return
      }
      // The look-up of a row by its key overwrites the buffer that contains the key.
      const row = { key: Buffer.from(key), value, isChecked }
      if (last !== undefined && Buffer.compare(last, row.key) >= 0)
        findings.add('row_unreachable', subjectOf(environment, of, row.key), 'it is out of order')
      checkRow(environment, of, row, findings)
      last = row.key
      rows++
      bytes += value.length
    }
    this.#rows += rows
    // A table walked in several snapshots may have changed in between.
    if (from === undefined && environment[of].rowCount !== rows)
      findings.add('pages_damaged', `table ${of}`, `${rows} rows found, ${environment[of].rowCount} expected`)
    this.#nextTable(table)
  }

  #nextCollection({ environment, view }: Compared): void {
    environment.tallies.running = undefined
    this.#collections ??= view
      .collections()
      .map(({ id }) => id)
      .sort((a, b) => b - a)
    const id = this.#collections.pop()
    this.#collection = id ?? 0
    this.#cursor = id === undefined ? { stage: 'orphans' } : { stage: 'identities' }
  }

  #walkIdentities(compared: Compared, stage: IdentityTable, from: Buffer | undefined): void {
    const { environment } = compared
    const prefix = counterKey(this.#collection)
    if (this.#isGone(compared)) return
    let [rows, bytes] = [0, 0]
    for (const { key, value } of environment[stage].getRange({ start: from ?? prefix, end: prefixEnd(prefix) })) {
      if (this.#isFull(rows, bytes)) {
        this.#cursor = { stage, from: Buffer.from(key) }
        return
      }
      checkIdentity(compared, stage, { key: Buffer.from(key), value })
      rows++
      bytes += value.length
      this.#rows++
    }
    this.#cursor = { stage: stage === 'identities' ? 'sealedIdentities' : 'heads' }
  }

  #walkHeads(compared: Compared, from: Buffer | undefined): void {
    const { environment } = compared
    const id = this.#collection
    if (this.#isGone(compared)) return
    const prefix = counterKey(id)
    const running = environment.tallies.running
    // A missing tally was lost with a write that was undone.
    const tally = from === undefined ? new Tally(id) : running?.collection === id ? running : undefined
    const counted = tally ?? new Tally(id)
    let [rows, bytes] = [0, 0]
    let docidMax = 0
    for (const { key, value } of environment.heads.getRange({ start: from ?? prefix, end: prefixEnd(prefix) })) {
      if (this.#isFull(rows, bytes)) {
        counted.nextDocid = docidOfKey(key)
        environment.tallies.running = this.#bounds.isTallyKept ? tally : undefined
        this.#cursor = { stage: 'heads', from: Buffer.from(key) }
        this.#rows += rows
        return
      }
      const row = { key: Buffer.from(key), value }
      rows += checkDocument(compared, id, row, counted, this.#bounds)
      bytes += value.length
      docidMax = docidOfKey(row.key)
    }
    this.#rows += rows
    checkCounters(compared, id, tally, docidMax)
    this.#cursor = { stage: 'next' }
  }

  #isFull(rows: number, bytes: number): boolean {
    return rows >= this.#bounds.rowsMax || bytes >= this.#bounds.bytesMax
  }

  /** Whether the collection was deleted since the walk began. */
  #isGone({ environment }: Compared): boolean {
    const isGone = environment.retired.doesExist(counterKey(this.#collection))
    if (isGone) this.#cursor = { stage: 'next' }
    return isGone
  }
}

function checkIdentity({ environment, view, findings }: Compared, stage: IdentityTable, { key, value }: Row): void {
  // Already reported as a damaged row.
  if (value === DAMAGED_ROW) return
  const collection = collectionOfKey(key)
  const subject = subjectOf(environment, stage, key)
  try {
    const identity = readIdentity(environment, stage, key, value, subject)
    const { docid } = identity
    if (view.headOf(collection, identity) === undefined)
      findings.add('identity_without_head', subject, `it leads to document ${docid}, which is not there`)
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    findings.add('identity_without_head', subject, error.detail)
  }
}

function readIdentity(environment: Environment, stage: IdentityTable, key: Buffer, value: Buffer, subject: string): Identity {
  if (stage === 'identities') return decodeIdentity(value, () => subject)
  const seal = environment.seals.of(collectionOfKey(key))
  if (seal === undefined) throw new CorruptRecord(subject, 'sealed row in an unsealed collection')
  return openIdentity(seal, key, value)
}

/** @param tally undefined: it was lost during the walk */
function checkCounters({ environment, findings }: Compared, collection: number, tally: Tally | undefined, docidMax: number): void {
  const subject = `collection ${collection}`
  try {
    const stored = readCollectionCounters(environment, collection)
    if (docidMax >= stored.nextDocid)
      findings.add('counters_differ', `${subject}, nextDocid`, `${stored.nextDocid}, and document ${docidMax} is there`)
    if (tally?.isComplete !== true) return
    for (const field of TALLIED) {
      const counted = tally.counted[field]
      if (stored[field] !== counted) findings.add('counters_differ', `${subject}, ${field}`, `${stored[field]} noted, ${counted} counted`)
    }
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    findings.add('counters_differ', subject, error.detail)
  }
}

/** Finds rows that belong to no collection, and entries beyond the last LSN. */
function checkOrphans({ environment, view, findings }: Compared): void {
  const known = new Set([
    ...view.collections().map(({ id }) => id),
    ...[...environment.retired.getKeys()].map((key) => collectionOfKey(key)),
  ])
  for (const of of ['heads', 'identities', 'sealedIdentities'] as const) {
    for (const id of collectionIds(environment[of])) {
      if (!known.has(id)) findings.add('collection_missing', `collection ${id}`, 'it has documents, and no name leads to it')
    }
  }
  try {
    const { lastLsn } = readStoreCounters(environment)
    const [newest] = environment.binlog.getKeys({ reverse: true, limit: 1 })
    if (newest !== undefined && lsnOfKey(newest) > lastLsn)
      findings.add('counters_differ', 'store, lastLsn', `${lastLsn}, and entry ${lsnOfKey(newest)} is there`)
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    findings.add('counters_differ', 'store', error.detail)
  }
}
