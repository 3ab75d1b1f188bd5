/**
 * Bodies and who refers to them: states of documents, and bodies that are differences from others. A body without a reference stays until the binlog, whose readers may still want it, has been trimmed past the release.
 * Inside a write transaction only.
 */
import type { Environment } from './environment.js'
import { bodyKey, garbageKey, parseBodyKey } from './keys.js'
import { bodyPlace, CLEAR } from './sealing/collection_seal.js'
import type { View } from './view.js'

const NOTHING = Buffer.alloc(0)

/** As the collection's records lie on disk: sealed or in clear. @param record with its first reference, or another form of what is there */
export function writeBody(environment: Environment, collection: number, key: Buffer, record: Buffer): void {
  const seal = environment.seals.of(collection)
  const isSealed = seal !== undefined && seal.writtenForm !== CLEAR
  void environment.bodies.put(key, isSealed ? seal.seal(bodyPlace(key), record) : record)
}

/** One more reference to a body that is there. */
export function retainBody(environment: Environment, key: Buffer): void {
  void environment.bodyCounts.put(key, countOf(references(environment, key) + 1))
}

/** Lets go of one reference; with the last one the body becomes garbage. @param lsn of the entry that lets go */
export function releaseBody(environment: Environment, key: Buffer, lsn: bigint): void {
  const left = references(environment, key) - 1
  if (left > 1) void environment.bodyCounts.put(key, countOf(left))
  if (left === 1) void environment.bodyCounts.remove(key)
  if (left === 0) void environment.garbage.put(garbageKey(lsn, key), NOTHING)
}

/** Removes the body where one state alone refers to it, which has it elsewhere from now on. */
export function removeOnlyReference(environment: Environment, key: Buffer): void {
  if (references(environment, key) === 1) void environment.bodies.remove(key)
}

/** Removes garbage: the body, and with it its reference to the one that it is the difference from, which may become garbage. @param row a key of the table */
export function removeGarbage(environment: Environment, view: View, row: Buffer, lsn: bigint): void {
  const key = Buffer.from(row.subarray(8))
  const body = parseBodyKey(key)
  const base = view.baseOf(body)
  void environment.bodies.remove(key)
  void environment.garbage.remove(row)
  if (base !== undefined) releaseBody(environment, bodyKey(body.collection, body.docid, base), lsn)
}

function references(environment: Environment, key: Buffer): number {
  return environment.bodyCounts.get(key)?.readUInt32LE(0) ?? 1
}

function countOf(count: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32LE(count, 0)
  return bytes
}
