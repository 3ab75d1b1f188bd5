/**
 * Bodies and the number of references to them. States of documents refer to bodies, and so do deltas that are
 * based on them. A body without references stays until the binlog, whose readers may still need it, has been
 * trimmed past the release. Inside a write transaction only.
 */
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { bodyKey, garbageKey, parseBodyKey } from '../rows/keys.js'
import { noteDamage } from '../rows/noted_damage.js'
import { requireIntact } from '../rows/record.js'
import { bodyAddress, CLEAR } from '../sealing/collection_seal.js'
import type { BodyReader } from './body_reader.js'

const NOTHING = Buffer.alloc(0)

/**
 * Writes the body in the stored form of its collection, sealed or plaintext.
 * @param record of a new body with its first reference, or another form of the stored one
 */
export function writeBody(environment: Environment, collection: number, key: Buffer, record: Buffer): void {
  const seal = environment.seals.of(collection)
  const isSealed = seal !== undefined && seal.writtenForm !== CLEAR
  environment.bodies.put(key, isSealed ? seal.seal(bodyAddress(key), record) : record)
}

/**
 * Adds the reference of a state that is written.
 * @param body undefined: the state shares the body of another state, or its body is stored only as an object
 */
export function referBody(environment: Environment, head: Head, lsn: bigint, body: Buffer | undefined): void {
  const key = bodyKey(head.collection, head.docid, head.bodyLsn)
  if (body !== undefined) writeBody(environment, head.collection, key, body)
  // Otherwise it is the state's own body, which is stored only as an object.
  else if (head.bodyLsn !== lsn) retainBody(environment, key)
}

/** Adds a reference to an existing body. */
export function retainBody(environment: Environment, key: Buffer): void {
  const count = references(environment, key)
  if (count !== undefined) environment.bodyCounts.put(key, countOf(count + 1))
}

/**
 * Removes a reference. After the last one, the body becomes garbage.
 * @param lsn of the entry that removes the reference
 */
export function releaseBody(environment: Environment, key: Buffer, lsn: bigint): void {
  const count = references(environment, key)
  if (count === undefined) return
  const left = count - 1
  if (left > 1) environment.bodyCounts.put(key, countOf(left))
  if (left === 1) environment.bodyCounts.remove(key)
  if (left === 0) environment.garbage.put(garbageKey(lsn, key), NOTHING)
}

/**
 * Removes the body from the env if only one state refers to it. That state has it in a storage backend from
 * now on.
 */
export function removeOnlyReference(environment: Environment, key: Buffer): void {
  if (references(environment, key) === 1) environment.bodies.remove(key)
}

/**
 * Removes a garbage body. If it is a delta, its reference to its base is removed, too, and the base may
 * become garbage.
 * @param row a key of the garbage table
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
 * The number of references. Undefined if the count is damaged: the number is then unknown, and the body stays
 * until its document is deleted.
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
