/**
 * Bodies that lie in a storage backend: objects in process memory or in an object store, named by a random
 * id. The env keeps for each present state whose body has one a row that says where it is, and the way back
 * from the object to the row. An object never changes; an object without a row is nobody's. Layout:
 * docs/formats/truth-env.md. Any thread reads; only `apply` writes.
 */
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Environment } from './environment.js'
import { counterKey, parseBodyKey, prefixEnd } from './keys.js'
import { readOrMakeFile } from './once_file.js'
import { noteDamage } from './noted_damage.js'
import { checkRecord, DAMAGED_ROW, requireIntact, sealRecord } from './record.js'
import { CLEAR } from './sealing/collection_seal.js'
import type { SealedPlace } from './sealing/sealed_record.js'

/** Of process memory; every other location is a setting of the server (kind `location`). */
export const MEMORY_LOCATION = 0
export const OBJECT_ID_BYTES = 16
export const INSTANCE_BYTES = 8
const HASH_BYTES = 16
const BODY_KEY_BYTES = 16

export interface BodyObject {
  readonly location: number
  /** 48 bits of Unix milliseconds, then chance. */
  readonly id: Buffer
  /** Of the server that made it: the folder that it lies in. */
  readonly instance: Buffer
  /** Of the object as it lies there. */
  readonly bytes: number
  /** Of the key that it is sealed under; 0: in clear. */
  readonly keyId: number
  /** The first half of its SHA-256. */
  readonly hash: Buffer
}

/** A reader needs the bytes of objects that are not at hand: it is to be asked again once they are. */
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

/** In a record that was just encoded: not checked. */
export function idOfObject(record: Uint8Array): Buffer {
  return Buffer.from(record.buffer, record.byteOffset + ID_AT, OBJECT_ID_BYTES)
}

/** In a record that was just encoded: not checked. */
export function locationOfObject(record: Uint8Array): number {
  return Buffer.from(record.buffer, record.byteOffset, record.length).readUInt32LE(LOCATION_AT)
}

/** In a record that was just encoded: not checked. */
export function keyIdOfObject(record: Uint8Array): number {
  return record[KEY_ID_AT] as number
}

export function newObjectId(): Buffer {
  const id = Buffer.allocUnsafe(OBJECT_ID_BYTES)
  id.writeUIntBE(Math.max(0, Date.now()), 0, 6)
  randomBytes(OBJECT_ID_BYTES - 6).copy(id, 6)
  return id
}

/** Unix milliseconds at which the object was made. */
export function timeOfObject(id: Uint8Array): number {
  return Buffer.from(id).readUIntBE(0, 6)
}

export function hashOfObject(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, HASH_BYTES)
}

/** The folder of a server's objects below the prefix of a location. */
export function folderOf(instance: Uint8Array): string {
  return `mds-${Buffer.from(instance).toString('hex')}/`
}

/** The object's key below the prefix of its location. */
export function keyOfObject({ instance, id }: Pick<BodyObject, 'instance' | 'id'>): string {
  return `${folderOf(instance)}${id.toString('hex')}`
}

/** The id in a key that `keyOfObject` made; undefined for anything else. */
export function idOfObjectKey(key: string): Buffer | undefined {
  const digits = /^mds-[0-9a-f]{16}\/([0-9a-f]{32})$/.exec(key)?.[1]
  return digits === undefined ? undefined : Buffer.from(digits, 'hex')
}

/** An object belongs to a collection, whatever document shows it. */
export function objectPlace(collection: number, id: Uint8Array): SealedPlace {
  return { kind: 'object', key: Buffer.concat([counterKey(collection), id]), clearBytes: 8 }
}

/** (location, id): the way back. */
function ownerKey(location: number, id: Uint8Array): Buffer {
  return Buffer.concat([counterKey(location), id])
}

export function readObject(environment: Environment, body: Buffer): BodyObject | undefined {
  const record = environment.objects.get(body)
  return record === undefined ? undefined : decodeObject(record, () => `object of body ${body.toString('hex')}`)
}

/** The body that has the object. @throws CorruptRecord */
export function ownerOf(environment: Environment, { location, id }: BodyObject): ReturnType<typeof parseBodyKey> | undefined {
  const body = environment.objectOwners.get(ownerKey(location, id))
  if (body === undefined) return undefined
  requireIntact(body, BODY_KEY_BYTES, () => `owner of object ${id.toString('hex')}`)
  return parseBodyKey(body)
}

/** In place of the one that the body had. @returns the one that it had */
export function writeObject(environment: Environment, body: Buffer, record: Buffer, now: number): BodyObject | undefined {
  const before = removeObject(environment, body, now)
  const { location, id } = decodeObject(record, () => 'object')
  environment.objects.put(body, record)
  environment.objectOwners.put(ownerKey(location, id), body)
  return before
}

/**
 * One in an object store is noted as nobody's from now on: backups of before may refer to it. Of one in clear
 * it is noted whose it was, too, in case that is encrypted by now or later. @param now unix seconds @returns
 * the one that was there
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

/** Inside a write nothing may fail for it: an object whose row is damaged is left where it lies. */
function objectToRemove(environment: Environment, body: Buffer): BodyObject | undefined {
  try {
    return readObject(environment, body)
  } catch (error) {
    noteDamage(error)
    return undefined
  }
}

/** Of a release: since when; of an object in clear also whose it was, and in which folder it lies. */
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

/** The collection whose content a released object shows in clear, as far as that is noted. */
function clearCollectionOf(release: Buffer): number | undefined {
  return release.length > RELEASE_COLLECTION_AT ? release.readUInt32BE(RELEASE_COLLECTION_AT) : undefined
}

function isSealed({ seals }: Environment, collection: number): boolean {
  return (seals.of(collection)?.writtenForm ?? CLEAR) !== CLEAR
}

/** An object in clear, of a collection that is encrypted by now, to which nothing refers any more. */
export interface ClearRelease {
  /** Key of its release. */
  readonly row: Buffer
  readonly location: number
  /** Key of the object. */
  readonly key: string
  /** Unix seconds. */
  readonly since: number
}

/**
 * @param from key of a release to go on with; undefined: the first @returns those among `count` releases, and
 * where to go on; undefined: the end
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
 * Another store was served before this one and may have referred to objects of which this one knows nothing;
 * backups of it may be restored yet. Inside a write transaction.
 * @param now unix seconds
 */
export function noteAdoption(environment: Environment, now: number): void {
  environment.settings.put(ADOPTED_KEY, secondsOf(now))
}

/**
 * Whether no body refers to the object, and none has for `seconds`. One that this store has never referred to
 * is as old as its name says, and has been nobody's since the store has been served, at the longest.
 */
export function isUnwanted(environment: Environment, location: number, id: Uint8Array, now: number, seconds: number): boolean {
  const key = ownerKey(location, id)
  if (environment.objectOwners.doesExist(key)) return false
  const release = environment.objectReleases.get(key)
  // A damaged one does not say since when: the object stays.
  if (release !== undefined) return isRelease(release) && now - Number(release.readBigUInt64LE(0)) >= seconds
  const noted = environment.settings.get(ADOPTED_KEY)
  if (noted !== undefined && !isRelease(noted)) return false
  const adopted = Number(noted?.readBigUInt64LE(0) ?? 0n)
  return now - Math.max(adopted, Math.floor(timeOfObject(id) / 1000)) >= seconds
}

/**
 * Forgets since when objects have been nobody's that are not kept any longer for it, whoever removes them:
 * what is old enough by its release is so by its name. What shows an encrypted collection in clear stays
 * known until it has been removed. Inside a write transaction.
 * @param before unix seconds @param from key to go on with; undefined: the first
 * @returns where to go on after `count` rows; undefined: the end
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
 * Looks at objects in stores of one collection, from the body `from` on, for one that lies there under
 * another key id than `form`.
 * @returns where it is, or where to go on after `count` rows; undefined: the end
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

/** Of objects that have been removed. Inside a write transaction. @param rows keys of releases */
export function forgetSwept(environment: Environment, rows: readonly Uint8Array[]): void {
  for (const row of rows) environment.objectReleases.remove(Buffer.from(row))
}

/** Keys of the bodies below a prefix (a collection, a document) that have objects, at most `count`. */
export function bodiesWithObjects(environment: Environment, prefix: Buffer, count?: number): Buffer[] {
  const range = { start: prefix, end: prefixEnd(prefix), ...(count === undefined ? {} : { limit: count }) }
  return [...environment.objects.getKeys(range)].map((key) => Buffer.from(key))
}

/** Bodies whose objects lie at a location, from the key `from` on, at most `count`. */
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
 * Which server it is: by the folder of this name it knows its own objects in a store that it shares with
 * others, copies of its own data among them. Not in any backup.
 * @throws Error where the file is there and is not an id
 */
export function instanceOf(directory: string): Buffer {
  const text = readOrMakeFile(directory, INSTANCE_FILE, () => randomBytes(INSTANCE_BYTES).toString('hex'))
  const id = Buffer.from(text, 'hex')
  if (id.length !== INSTANCE_BYTES)
    throw new Error(`${join(directory, INSTANCE_FILE)} is not an id: ${INSTANCE_BYTES * 2} hexadecimal digits expected`)
  return id
}
