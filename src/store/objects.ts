/**
 * Bodies in a storage backend: objects in process memory or in an object store, named by a random id. For
 * each present state whose body has an object, the env has a row with the location of the object, and a row
 * that leads from the object back to the body. An object never changes. An object without a row is referenced
 * by nothing. Layout: docs/formats/truth-env.md. Any thread reads; only `apply` writes.
 */
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Environment } from './environment.js'
import { readOrMakeFile } from './files/once_file.js'
import { counterKey, parseBodyKey, prefixEnd } from './rows/keys.js'
import { noteDamage } from './rows/noted_damage.js'
import { checkRecord, DAMAGED_ROW, requireIntact, sealRecord } from './rows/record.js'
import { CLEAR } from './sealing/collection_seal.js'
import type { SealedAddress } from './sealing/sealed_record.js'

/** The location of process memory. Every other location is a setting of the server (kind `location`). */
export const MEMORY_LOCATION = 0
const OBJECT_ID_BYTES = 16
const INSTANCE_BYTES = 8
const HASH_BYTES = 16
const BODY_KEY_BYTES = 16

export interface BodyObject {
  readonly location: number
  /** 48 bits of Unix milliseconds, then random bits. */
  readonly id: Buffer
  /** Id of the server that created the object. It names the folder of the object. */
  readonly instance: Buffer
  /** Size of the object as stored. */
  readonly bytes: number
  /** Id of the key that the object is sealed under; 0: plaintext. */
  readonly keyId: number
  /** The first half of the object's SHA-256. */
  readonly hash: Buffer
}

/**
 * Thrown when a reader needs the bytes of objects that are not cached. The reader is called again once they
 * are.
 */
export class BodiesWanted extends Error {
  constructor(readonly objects: readonly BodyObject[]) {
    const depth = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super('bodies lie in a storage backend')
    Error.stackTraceLimit = depth
    this.name = 'BodiesWanted'
  }
}

const KEY_ID_AT = 6
const LOCATION_AT = 8
const BYTES_AT = 12
const ID_AT = 16
const INSTANCE_AT = ID_AT + OBJECT_ID_BYTES
const HASH_AT = INSTANCE_AT + INSTANCE_BYTES
const RECORD_BYTES = HASH_AT + HASH_BYTES

export function encodeObject({ location, id, instance, bytes, keyId, hash }: BodyObject): Buffer {
  const record = Buffer.alloc(RECORD_BYTES)
  record[KEY_ID_AT] = keyId
  record.writeUInt32LE(location, LOCATION_AT)
  record.writeUInt32LE(bytes, BYTES_AT)
  record.set(id, ID_AT)
  record.set(instance, INSTANCE_AT)
  record.set(hash, HASH_AT)
  sealRecord(record)
  return record
}

/** @throws CorruptRecord */
export function decodeObject(record: Buffer, name: () => string): BodyObject {
  checkRecord(record, RECORD_BYTES, name)
  return {
    keyId: record[KEY_ID_AT] as number,
    location: record.readUInt32LE(LOCATION_AT),
    bytes: record.readUInt32LE(BYTES_AT),
    id: Buffer.from(record.subarray(ID_AT, INSTANCE_AT)),
    instance: Buffer.from(record.subarray(INSTANCE_AT, HASH_AT)),
    hash: Buffer.from(record.subarray(HASH_AT, RECORD_BYTES)),
  }
}

/** For a record that was just encoded: it is not checked. */
export function idOfObject(record: Uint8Array): Buffer {
  return Buffer.from(record.buffer, record.byteOffset + ID_AT, OBJECT_ID_BYTES)
}

/** For a record that was just encoded: it is not checked. */
export function locationOfObject(record: Uint8Array): number {
  return Buffer.from(record.buffer, record.byteOffset, record.length).readUInt32LE(LOCATION_AT)
}

/** For a record that was just encoded: it is not checked. */
export function keyIdOfObject(record: Uint8Array): number {
  return record[KEY_ID_AT] as number
}

export function newObjectId(): Buffer {
  const id = Buffer.allocUnsafe(OBJECT_ID_BYTES)
  id.writeUIntBE(Math.max(0, Date.now()), 0, 6)
  randomBytes(OBJECT_ID_BYTES - 6).copy(id, 6)
  return id
}

/** Unix milliseconds at which the object was created. */
function timeOfObject(id: Uint8Array): number {
  return Buffer.from(id).readUIntBE(0, 6)
}

export function hashOfObject(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, HASH_BYTES)
}

/** The folder of a server's objects under the prefix of a location. */
export function folderOf(instance: Uint8Array): string {
  return `mds-${Buffer.from(instance).toString('hex')}/`
}

/** The object's key under the prefix of its location. */
export function keyOfObject({ instance, id }: Pick<BodyObject, 'instance' | 'id'>): string {
  return `${folderOf(instance)}${id.toString('hex')}`
}

/**
 * The address under which an object is sealed. It depends on the collection, not on the document that refers
 * to it.
 */
export function objectAddress(collection: number, id: Uint8Array): SealedAddress {
  return { kind: 'object', key: Buffer.concat([counterKey(collection), id]), clearBytes: 8 }
}

/** (location, id): the key of the row that leads from an object to its body. */
function ownerKey(location: number, id: Uint8Array): Buffer {
  return Buffer.concat([counterKey(location), id])
}

export function readObject(environment: Environment, body: Buffer): BodyObject | undefined {
  const record = environment.objects.get(body)
  return record === undefined ? undefined : decodeObject(record, () => `object of body ${body.toString('hex')}`)
}

/** The key of the body that refers to the object, parsed. @throws CorruptRecord */
export function ownerOf(environment: Environment, { location, id }: BodyObject): ReturnType<typeof parseBodyKey> | undefined {
  const body = environment.objectOwners.get(ownerKey(location, id))
  if (body === undefined) return undefined
  requireIntact(body, BODY_KEY_BYTES, () => `owner of object ${id.toString('hex')}`)
  return parseBodyKey(body)
}

/** Sets the object of a body, replacing an earlier one. @returns the earlier one */
export function writeObject(environment: Environment, body: Buffer, record: Buffer, now: number): BodyObject | undefined {
  const before = removeObject(environment, body, now)
  const { location, id } = decodeObject(record, () => 'object')
  environment.objects.put(body, record)
  environment.objectOwners.put(ownerKey(location, id), body)
  return before
}

/**
 * Removes the object of a body. For an object in an object store, the time of its release is stored, because
 * earlier backups may refer to it. For a plaintext object, its collection is stored as well, because the
 * collection may be encrypted now or later.
 * @param now unix seconds
 * @returns the removed object
 */
export function removeObject(environment: Environment, body: Buffer, now: number): BodyObject | undefined {
  const object = objectToRemove(environment, body)
  environment.objects.remove(body)
  if (object === undefined) return undefined
  const key = ownerKey(object.location, object.id)
  environment.objectOwners.remove(key)
  if (object.location !== MEMORY_LOCATION) environment.objectReleases.put(key, releaseOf(body, object, now))
  return object
}

/** A write must not fail because of a damaged object row: such an object stays where it is stored. */
function objectToRemove(environment: Environment, body: Buffer): BodyObject | undefined {
  try {
    return readObject(environment, body)
  } catch (error) {
    noteDamage(error)
    return undefined
  }
}

/** Layout of a release: its time; for a plaintext object also its collection and the folder of the object. */
const SECONDS_BYTES = 8
const RELEASE_COLLECTION_AT = 8
const RELEASE_INSTANCE_AT = 12

function releaseOf(body: Buffer, { keyId, instance }: BodyObject, now: number): Buffer {
  if (keyId !== CLEAR) return secondsOf(now)
  return Buffer.concat([secondsOf(now), counterKey(parseBodyKey(body).collection), instance])
}

function isRelease(value: Buffer): boolean {
  return value !== DAMAGED_ROW && value.length >= SECONDS_BYTES
}

/** The collection whose content a released plaintext object contains, if it was stored. */
function clearCollectionOf(release: Buffer): number | undefined {
  return release.length > RELEASE_COLLECTION_AT ? release.readUInt32BE(RELEASE_COLLECTION_AT) : undefined
}

function isSealed({ seals }: Environment, collection: number): boolean {
  return (seals.of(collection)?.writtenForm ?? CLEAR) !== CLEAR
}

/** A plaintext object without references, of a collection that is encrypted by now. */
interface ClearRelease {
  /** Key of the row of its release. */
  readonly row: Buffer
  readonly location: number
  /** Key of the object. */
  readonly key: string
  /** Time of the release in unix seconds. */
  readonly since: number
}

/**
 * Searches `count` releases for plaintext objects of encrypted collections.
 * @param from key of the release at which to continue; undefined: the first
 * @returns those found, and the key at which to continue; undefined: the end
 */
export function clearReleases(
  environment: Environment,
  from: Buffer | undefined,
  count: number,
): { readonly found: readonly ClearRelease[]; readonly next: Buffer | undefined } {
  const found: ClearRelease[] = []
  let seen = 0
  for (const { key, value } of environment.objectReleases.getRange(from === undefined ? {} : { start: from })) {
    if (seen++ === count) return { found, next: Buffer.from(key) }
    const [row, release] = [Buffer.from(key), value]
    const collection = isRelease(release) ? clearCollectionOf(release) : undefined
    if (collection === undefined || !isSealed(environment, collection) || environment.objectOwners.doesExist(row)) continue
    const name = keyOfObject({ instance: release.subarray(RELEASE_INSTANCE_AT), id: row.subarray(4) })
    found.push({ row, location: row.readUInt32BE(0), key: name, since: Number(release.readBigUInt64LE(0)) })
  }
  return { found, next: undefined }
}

function secondsOf(now: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(now))
  return bytes
}

const ADOPTED_KEY = Buffer.from('adopted')

/**
 * Stores the time at which this store replaced another one. The other store may have referred to objects that
 * this one does not know, and backups of it may still be restored. Inside a write transaction.
 * @param now unix seconds
 */
export function noteAdoption(environment: Environment, now: number): void {
  environment.settings.put(ADOPTED_KEY, secondsOf(now))
}

/**
 * Whether no body refers to the object and none has for `seconds`. For an object that this store has never
 * referred to, the time counts from the creation time in its id or, if that is later, from the adoption of
 * this store (`noteAdoption`).
 */
export function isUnwanted(environment: Environment, location: number, id: Uint8Array, now: number, seconds: number): boolean {
  const key = ownerKey(location, id)
  if (environment.objectOwners.doesExist(key)) return false
  const release = environment.objectReleases.get(key)
  // A damaged release has no readable time: the object stays.
  if (release !== undefined) return isRelease(release) && now - Number(release.readBigUInt64LE(0)) >= seconds
  const noted = environment.settings.get(ADOPTED_KEY)
  if (noted !== undefined && !isRelease(noted)) return false
  const adopted = Number(noted?.readBigUInt64LE(0) ?? 0n)
  return now - Math.max(adopted, Math.floor(timeOfObject(id) / 1000)) >= seconds
}

/**
 * Deletes the releases of objects whose retention period has passed, whether or not the objects have been
 * removed yet: an object that is old enough by its release is also old enough by its id. Releases of
 * plaintext objects of encrypted collections stay until the objects have been removed. Inside a write
 * transaction.
 * @param before unix seconds
 * @param from key at which to continue; undefined: the first
 * @returns the key at which to continue after `count` rows; undefined: the end
 */
export function forgetReleases(environment: Environment, before: number, from: Buffer | undefined, count: number): Buffer | undefined {
  const range = { ...(from === undefined ? {} : { start: from }), limit: count + 1 }
  const rows = [...environment.objectReleases.getRange(range)].map(({ key, value }) => ({
    key: Buffer.from(key),
    since: isRelease(value) ? value.readBigUInt64LE(0) : undefined,
    collection: clearCollectionOf(value),
  }))
  for (const { key, since, collection } of rows.slice(0, count))
    if (since !== undefined && since <= BigInt(before) && (collection === undefined || !isSealed(environment, collection)))
      environment.objectReleases.remove(key)
  return rows[count]?.key
}

/**
 * Searches the objects of one collection in object stores, from the body `from` on, for one that is stored
 * under another key id than `form`.
 * @returns its key, or the key at which to continue after `count` rows; undefined: the end
 * @throws CorruptRecord
 */
export function nextInOtherForm(
  environment: Environment,
  collection: number,
  form: number,
  from: Buffer | undefined,
  count: number,
): { readonly found: Buffer | undefined; readonly next: Buffer | undefined; readonly scanned: number } {
  const prefix = counterKey(collection)
  const range = { start: from ?? prefix, end: prefixEnd(prefix), limit: count + 1 }
  let scanned = 0
  for (const { key, value } of environment.objects.getRange(range)) {
    if (scanned === count) return { found: undefined, next: Buffer.from(key), scanned }
    const { location, keyId } = decodeObject(value, () => `object of body ${key.toString('hex')}`)
    if (location !== MEMORY_LOCATION && keyId !== form) return { found: Buffer.from(key), next: undefined, scanned }
    scanned++
  }
  return { found: undefined, next: undefined, scanned }
}

/**
 * Deletes the releases of objects that have been removed. Inside a write transaction.
 * @param rows keys of releases
 */
export function forgetSwept(environment: Environment, rows: readonly Uint8Array[]): void {
  for (const row of rows) environment.objectReleases.remove(Buffer.from(row))
}

/** Keys of the bodies under a prefix (a collection, a document) that have objects, at most `count`. */
export function bodiesWithObjects(environment: Environment, prefix: Buffer, count?: number): Buffer[] {
  const range = { start: prefix, end: prefixEnd(prefix), ...(count === undefined ? {} : { limit: count }) }
  return [...environment.objects.getKeys(range)].map((key) => Buffer.from(key))
}

/** Bodies whose objects are stored at a location, from the key `from` on, at most `count`. */
export function bodiesAt(
  environment: Environment,
  location: number,
  count: number,
  from?: Buffer,
): { readonly bodies: { readonly key: Buffer; readonly id: Buffer }[]; readonly next: Buffer | undefined } {
  const prefix = counterKey(location)
  const rows = [...environment.objectOwners.getRange({ start: from ?? prefix, end: prefixEnd(prefix), limit: count + 1 })].map(
    ({ key, value }) => ({ row: Buffer.from(key), key: Buffer.from(value) }),
  )
  const intact = rows.slice(0, count).filter(({ key }) => key.length === BODY_KEY_BYTES)
  const bodies = intact.map(({ row, key }) => ({ key, id: row.subarray(4) }))
  return { bodies, next: rows[count]?.row }
}

const INSTANCE_FILE = 'instance'

/**
 * The id of this server. By the folder of this name it distinguishes its own objects in a shared object store
 * from those of other servers, including servers that run on copies of its data. No backup contains it.
 * @throws Error if the file exists and does not contain an id
 */
export function instanceOf(directory: string): Buffer {
  const text = readOrMakeFile(directory, INSTANCE_FILE, () => randomBytes(INSTANCE_BYTES).toString('hex'))
  const id = Buffer.from(text, 'hex')
  if (id.length !== INSTANCE_BYTES)
    throw new Error(`${join(directory, INSTANCE_FILE)} is not an id: ${INSTANCE_BYTES * 2} hexadecimal digits expected`)
  return id
}
