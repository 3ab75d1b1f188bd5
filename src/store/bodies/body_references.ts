/**
 * Bodies and who refers to them: states of documents, and bodies that are differences from others. A body
 * without a reference stays until the binlog, whose readers may still want it, has been trimmed past the
 * release. Inside a write transaction only.
 */
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { noteDamage } from '../noted_damage.js'
import { requireIntact } from '../record.js'
import { bodyKey, garbageKey, parseBodyKey } from '../keys.js'
import { bodyPlace, CLEAR } from '../sealing/collection_seal.js'
import type { BodyReader } from './body_reader.js'

const NOTHING = Buffer.alloc(0)

/**
 * As the collection's records lie on disk: sealed or in clear. @param record with its first reference, or
 * another form of what is there
 */
export function writeBody(environment: Environment, collection: number, key: Buffer, record: Buffer): void {
  const seal = environment.seals.of(collection)
  const isSealed = seal !== undefined && seal.writtenForm !== CLEAR
  environment.bodies.put(key, isSealed ? seal.seal(bodyPlace(key), record) : record)
}

/**
 * Of a state that is written. @param body undefined: that of another state, or one that lies elsewhere only
 */
export function referBody(environment: Environment, head: Head, lsn: bigint, body: Buffer | undefined): void {
  const key = bodyKey(head.collection, head.docid, head.bodyLsn)
  if (body !== undefined) writeBody(environment, head.collection, key, body)
  // Else its own body, which has an object only.
  else if (head.bodyLsn !== lsn) retainBody(environment, key)
}

/** One more reference to a body that is there. */
export function retainBody(environment: Environment, key: Buffer): void {
  const count = references(environment, key)
  if (count !== undefined) environment.bodyCounts.put(key, countOf(count + 1))
}

/**
 * Lets go of one reference; with the last one the body becomes garbage. @param lsn of the entry that lets go
 */
export function releaseBody(environment: Environment, key: Buffer, lsn: bigint): void {
  const count = references(environment, key)
  if (count === undefined) return
  const left = count - 1
  if (left > 1) environment.bodyCounts.put(key, countOf(left))
  if (left === 1) environment.bodyCounts.remove(key)
  if (left === 0) environment.garbage.put(garbageKey(lsn, key), NOTHING)
}

/** Removes the body where one state alone refers to it, which has it elsewhere from now on. */
export function removeOnlyReference(environment: Environment, key: Buffer): void {
  if (references(environment, key) === 1) environment.bodies.remove(key)
}

/**
 * Removes garbage: the body, and with it its reference to the one that it is the difference from, which may
 * become garbage. @param row a key of the table
 */
export function removeGarbage(environment: Environment, bodies: Pick<BodyReader, 'baseOf'>, row: Buffer, lsn: bigint): void {
  const key = Buffer.from(row.subarray(8))
  const body = parseBodyKey(key)
  const base = bodies.baseOf(body)
  environment.bodies.remove(key)
  environment.garbage.remove(row)
  if (base !== undefined) releaseBody(environment, bodyKey(body.collection, body.docid, base), lsn)
}

/**
 * Undefined where the count is damaged: nobody knows how many there are, so the body stays until its document
 * goes.
 */
function references(environment: Environment, key: Buffer): number | undefined {
  const row = environment.bodyCounts.get(key)
  if (row === undefined) return 1
  try {
    requireIntact(row, 4, () => `references of body ${key.toString('hex')}`)
    return row.readUInt32LE(0)
  } catch (error) {
    noteDamage(error)
    return undefined
  }
}

function countOf(count: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32LE(count, 0)
  return bytes
}
