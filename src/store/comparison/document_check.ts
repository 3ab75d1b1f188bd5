/**
 * Checks what belongs to a document: its identity, its bodies, and the number of states and deltas that refer
 * to each body.
 */
import { contentHash } from '../document_hash.js'
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { HEAD_FLAGS, textOfHead } from '../head.js'
import { BodiesWanted } from '../objects.js'
import { bodyKey, docidOfKey, documentKey, parseBodyKey, prefixEnd } from '../rows/keys.js'
import { CorruptRecord, DAMAGED_ROW } from '../rows/record.js'
import type { Tally } from '../tally.js'
import type { View } from '../view.js'
import type { Findings } from './findings.js'
import { isSealed, subjectOf } from './row_check.js'

export interface Compared {
  readonly environment: Environment
  readonly view: View
  readonly findings: Findings
}

/** Bounds for one document. If it has more revisions or bodies, its references are not compared. */
export interface DocumentBounds {
  readonly documentRowsMax: number
  /** Bytes of bodies, which are read to find the references. */
  readonly documentBytesMax: number
  /** Whether the present content is read and hashed. */
  readonly comparesContents: boolean
}

/** @returns the number of rows looked at */
export function checkDocument(
  compared: Compared,
  collection: number,
  row: { key: Buffer; value: Buffer },
  tally: Tally,
  bounds: DocumentBounds,
): number {
  const docid = docidOfKey(row.key)
  const head = stateOf(compared, collection, docid, row.value, subjectOf(compared.environment, 'heads', row.key))
  if (head === undefined) {
    tally.isComplete = false
    return 1
  }
  checkIdentity(compared, head)
  const { bodies, revisions } = compared.environment
  const prefix = documentKey(collection, docid)
  const range = { start: prefix, end: prefixEnd(prefix) }
  const superseded = revisions.getKeysCount(range)
  const isRevision = (head.flags & HEAD_FLAGS.revision) !== 0
  if (bounds.comparesContents) checkContent(compared, head)
  tally.add(head, superseded + (isRevision ? 1 : 0))
  const stored = bodies.getKeysCount(range)
  if (superseded > bounds.documentRowsMax || stored > bounds.documentRowsMax) return superseded + stored
  const { states, isWhole } = statesOf(compared, head, range)
  checkBodies(compared, states, isWhole, range, bounds.documentBytesMax)
  return states.length + stored
}

interface Range {
  readonly start: Buffer
  readonly end: Buffer
}

function stateOf({ view, findings }: Compared, collection: number, docid: number, record: Buffer, subject: string): Head | undefined {
  try {
    return view.stateOf(record, collection, docid)
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    findings.add('row_damaged', subject, error.detail)
    return undefined
  }
}

function checkIdentity({ environment, view, findings }: Compared, head: Head): void {
  const { collection, docid } = head
  const { key, lang } = textOfHead(head)
  const name = isSealed(environment, collection) ? '' : ` ${JSON.stringify(`${key}|${lang}`)}`
  const subject = `collection ${collection}, document ${docid}${name}`
  try {
    const identity = view.identity(collection, key, lang)
    if (identity === undefined) findings.add('head_without_identity', subject, 'no identity leads to it')
    else if (identity.docid !== docid) findings.add('head_without_identity', subject, `its identity leads to document ${identity.docid}`)
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    findings.add('head_without_identity', subject, `its identity is damaged: ${error.detail}`)
  }
}

/** Compares the content with the hash in the head. What can't be read is found where its rows are checked. */
function checkContent({ view, findings }: Compared, head: Head): void {
  try {
    if (contentHash(textOfHead(head), view.escapedContent(head)) === head.contentHash) return
    findings.add('content_differs', `collection ${head.collection}, document ${head.docid}`, 'its hash is that of another content')
  } catch (error) {
    if (!(error instanceof CorruptRecord || error instanceof BodiesWanted)) throw error
  }
}

/** The present state, then the superseded ones. */
function statesOf(compared: Compared, head: Head, range: Range): { readonly states: readonly Head[]; readonly isWhole: boolean } {
  const { environment } = compared
  const { collection, docid } = head
  const states = [head]
  let isWhole = true
  for (const { key, value } of environment.revisions.getRange(range)) {
    const state = stateOf(compared, collection, docid, value, subjectOf(environment, 'revisions', key))
    if (state === undefined) isWhole = false
    else states.push(state)
  }
  return { states, isWhole }
}

function checkBodies(compared: Compared, states: readonly Head[], isWhole: boolean, range: Range, bytesMax: number): void {
  const { environment, view, findings } = compared
  const { collection, docid } = states[0] as Head
  const subject = (lsn: bigint): string => `collection ${collection}, document ${docid}, body ${lsn}`
  const references = new Map<bigint, number>()
  const refer = (lsn: bigint): void => void references.set(lsn, (references.get(lsn) ?? 0) + 1)
  for (const { bodyLsn } of states) refer(bodyLsn)
  for (const lsn of references.keys()) {
    const key = bodyKey(collection, docid, lsn)
    if (!environment.bodies.doesExist(key) && !environment.objects.doesExist(key))
      findings.add('body_missing', subject(lsn), 'a state of the document refers to it')
  }
  const stored = [...environment.bodies.getKeys(range)].map((key) => Buffer.from(key))
  // Bodies without a state are among them until the binlog is trimmed. Until then, they refer to other
  // bodies.
  if (stored.length > 1) {
    let bytes = 0
    for (const key of stored) {
      bytes += environment.bodies.peek(key)?.length ?? 0
      if (bytes > bytesMax) return
      const base = view.baseOf(parseBodyKey(key))
      if (base === undefined) continue
      refer(base)
      if (!environment.bodies.doesExist(bodyKey(collection, docid, base)))
        findings.add('body_missing', subject(base), `body ${parseBodyKey(key).bodyLsn} is the difference from it`)
    }
  }
  if (isWhole) checkCounts(compared, range, references, subject)
}

function checkCounts(
  { environment, findings }: Compared,
  range: Range,
  references: ReadonlyMap<bigint, number>,
  subject: (lsn: bigint) => string,
): void {
  const counts = new Map<bigint, Buffer>()
  for (const { key, value } of environment.bodyCounts.getRange(range)) counts.set(parseBodyKey(key).bodyLsn, value)
  for (const lsn of new Set([...references.keys(), ...counts.keys()])) {
    const row = counts.get(lsn)
    // Already reported as a damaged row.
    if (row === DAMAGED_ROW || (row !== undefined && row.length !== 4)) continue
    const noted = row?.readUInt32LE(0) ?? 1
    const counted = references.get(lsn) ?? 0
    if (noted !== counted) findings.add('body_count_wrong', subject(lsn), `${noted} references noted, ${counted} counted`)
  }
}
