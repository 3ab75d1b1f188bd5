/**
 * Makes a copied env one that may be served. Every record of every table is read and checked. Every
 * collection must have its row, references must lead to existing rows, and counters must equal what they
 * count. Then the binlog is reset and a new epoch begins. Runs in a separate process
 * (src/programs/restore_preparation.ts), because reading damaged pages can end the process. Layout:
 * docs/formats/truth-env.md.
 */
import { removePositions } from '../binlog/consumer_positions.js'
import { removeGarbage } from '../bodies/body_references.js'
import { collectionIds } from '../collections/lost_collections.js'
import { readCollectionCounters, readStoreCounters, writeStoreCounters } from '../counters.js'
import { openEntry } from '../entries/entry.js'
import type { Environment } from '../environment.js'
import { renewEpoch } from '../epochs.js'
import { type Head, HEAD_FLAGS } from '../head.js'
import { readObject } from '../objects.js'
import { bodyKey, collectionOfKey, counterKey, docidOfKey, lsnOfKey, parseBodyKey } from '../rows/keys.js'
import { CorruptRecord } from '../rows/record.js'
import { SERVER_SETTINGS, SETTING_KINDS } from '../settings.js'
import { countState, nothingCounted, TALLIED } from '../tally.js'
import { View } from '../view.js'

/** Rows that one transaction removes while a restored binlog is reset. */
const RESTORE_ROWS_PER_TRANSACTION = 10_000
/**
 * A restored store goes on at the next multiple: its next LSNs were assigned to other entries, and the ids of
 * deliveries to webhooks have them. More writes than a server makes between two backups.
 */
const RESTORE_LSNS = 2n ** 32n

/** @throws CorruptRecord or any other Error: the env must not be served */
export function checkEnvironment(environment: Environment): void {
  checkNames(environment)
  const retired = new Set([...environment.retired.getKeys()].map(collectionOfKey))
  const { lastLsn } = readStoreCounters(environment)
  for (const { key, value } of environment.binlog.getRange()) {
    openEntry(environment.seals, lsnOfKey(key), value)
    if (lsnOfKey(key) > lastLsn) throw new CorruptRecord(`binlog entry ${lsnOfKey(key)}`, `beyond the last LSN ${lastLsn}`)
  }
  const view = new View(environment, 0)
  for (const key of environment.bodies.getKeys()) {
    const body = parseBodyKey(key)
    if (!retired.has(body.collection)) view.checkBody(body)
  }
  for (const { id, name } of new View(environment, 0).collections()) checkCollection(environment, id, name)
}

/** Checked first, because nothing of a collection without its row could be opened or counted. */
function checkNames(environment: Environment): void {
  const { heads, identities, sealedIdentities, collectionSettings, sealings, retired } = environment
  const named = new View(environment, 0).collections().map(({ id }) => id)
  const known = new Set([SERVER_SETTINGS, ...named, ...[...retired.getKeys()].map(collectionOfKey)])
  for (const table of [heads, identities, sealedIdentities, collectionSettings, sealings]) {
    for (const id of collectionIds(table)) {
      if (!known.has(id)) throw new CorruptRecord(`collection ${id}`, 'it has rows, and no name leads to it')
    }
  }
}

function checkCollection(environment: Environment, id: number, name: string): void {
  const view = new View(environment, 0)
  const counted = nothingCounted()
  const prefix = counterKey(id)
  const range = { start: prefix, end: counterKey(id + 1) }
  for (const kind of SETTING_KINDS) view.settings(id, kind)
  for (const { key, value } of environment.heads.getRange(range)) {
    const head = view.stateOf(value, id, docidOfKey(key))
    checkReferences(environment, head)
    const identity = view.find(id, ...identityOf(head))
    if (identity?.docid !== head.docid) throw new CorruptRecord(`head ${id}/${head.docid}`, 'not found by its identity')
    counted.documents++
    counted.revisions += (head.flags & HEAD_FLAGS.revision) === 0 ? 0 : 1
    countState(counted, head)
  }
  for (const { key, value } of environment.revisions.getRange(range)) {
    checkReferences(environment, view.stateOf(value, id, docidOfKey(key)))
    counted.revisions++
  }
  const stored = readCollectionCounters(environment, id)
  for (const field of TALLIED) {
    if (stored[field] !== counted[field])
      throw new CorruptRecord(`counters of ${name}`, `${field} ${stored[field]}, ${counted[field]} counted`)
  }
}

function identityOf(head: Head): readonly [key: string, lang: string] {
  const { key, lang } = JSON.parse(`${head.json.toString('utf8')}}`) as { key: string; lang: string }
  return [key, lang]
}

function checkReferences(environment: Environment, { collection, docid, bodyLsn }: Head): void {
  const key = bodyKey(collection, docid, bodyLsn)
  if (!environment.bodies.doesExist(key) && readObject(environment, key) === undefined)
    throw new CorruptRecord(`body ${collection}/${docid}/${bodyLsn}`, 'missing')
}

/**
 * Empties the binlog. Followers, consumers and the index start from scratch: no earlier entries exist, and
 * bodies that only the binlog referred to are removed.
 * @param servedLsn LSN of the last entry of the store that this one replaces
 */
export function resetBinlog(environment: Environment, servedLsn = 0n): void {
  const { root, binlog, garbage } = environment
  for (;;) {
    const keys = [...garbage.getKeys({ limit: RESTORE_ROWS_PER_TRANSACTION })]
    if (keys.length === 0) break
    root.transactionSync(() => {
      const view = new View(environment, 0)
      for (const key of keys) removeGarbage(environment, view, key, 0n)
    })
  }
  binlog.clear()
  root.transactionSync(() => {
    const counters = readStoreCounters(environment)
    const highest = counters.lastLsn > servedLsn ? counters.lastLsn : servedLsn
    const lastLsn = (highest / RESTORE_LSNS + 1n) * RESTORE_LSNS
    writeStoreCounters(environment, { ...counters, lastLsn, trimmedLsn: lastLsn, binlogBytes: 0 })
    removePositions(environment)
  })
  renewEpoch(environment)
}
