/**
 * The objects of a view: bodies that are stored in a storage backend (objects.ts). Valid as long as the view.
 */
import { OBJECTS_WANTED_BYTES, RELEASES_SCANNED_MAX } from '../../limits/store.js'
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { isIndexIncomplete } from '../index_mark.js'
import type { BodyObject } from '../objects.js'
import {
  bodiesAt,
  BodiesWanted,
  bodiesWithObjects,
  clearReleases,
  decodeObject,
  isUnwanted,
  MEMORY_LOCATION,
  nextInOtherForm,
  objectAddress,
  ownerOf,
  readObject,
} from '../objects.js'
import { bodyKey, counterKey, documentKey, parseBodyKey, prefixEnd } from '../rows/keys.js'
import type { CollectionSeal } from '../sealing/collection_seal.js'
import { CLEAR } from '../sealing/collection_seal.js'
import { keyIdOf } from '../sealing/sealed_record.js'
import type { BodyOf, BodyReader } from './body_reader.js'

/** Objects that one round of a request fetches: twice a page of the default size. */
const OBJECTS_WANTED_MAX = 100

export class ObjectView {
  readonly #environment: Environment
  readonly #bodies: BodyReader
  readonly #sealOf: (collection: number) => CollectionSeal | undefined

  constructor(environment: Environment, bodies: BodyReader, sealOf: (collection: number) => CollectionSeal | undefined) {
    this.#environment = environment
    this.#bodies = bodies
    this.#sealOf = sealOf
  }

  /** The object of a state's body. @throws CorruptRecord */
  of({ collection, docid, bodyLsn }: BodyOf): BodyObject | undefined {
    return readObject(this.#environment, bodyKey(collection, docid, bodyLsn))
  }

  /** The body that refers to the object. */
  ownerOf(object: BodyObject): BodyOf | undefined {
    return ownerOf(this.#environment, object)
  }

  /** Whether the content is stored in a storage backend and not in the env. */
  isElsewhere(body: BodyOf): boolean {
    return this.#bodies.objectOnly(body) !== undefined
  }

  /** Whether any body has an object. */
  isUsed(): boolean {
    return this.#environment.objects.getKeysCount({ limit: 1 }) > 0
  }

  /** Whether documents may be missing from the index because objects were unavailable. */
  isIndexIncomplete(): boolean {
    return isIndexIncomplete(this.#environment)
  }

  /** Whether any body of the collection has an object. */
  isUsedBy(collection: number): boolean {
    return bodiesWithObjects(this.#environment, counterKey(collection), 1).length > 0
  }

  /**
   * For a reader of several documents that has found one whose content is not cached. Requests the contents
   * of all of them that are not cached, up to the number that is fetched at a time.
   * @param met the error for the first one
   * @throws BodiesWanted
   */
  wantAll(met: BodiesWanted, heads: Iterable<Head>): never {
    const objects = [...met.objects]
    let bytes = 0
    for (const head of heads) {
      const object = this.#bodies.objectOnly(head)
      if (object === undefined || this.#environment.cachedObjects.has(object.id) || met.objects.some(({ id }) => id.equals(object.id)))
        continue
      objects.push(object)
      bytes += object.bytes
      if (objects.length >= OBJECTS_WANTED_MAX || bytes >= OBJECTS_WANTED_BYTES) break
    }
    throw new BodiesWanted(objects)
  }

  /** Locations of the first objects of the collection. */
  locationsOf(collection: number, count: number): ReadonlySet<number> {
    const bodies = bodiesWithObjects(this.#environment, counterKey(collection), count)
    return new Set(bodies.flatMap((body) => readObject(this.#environment, body)?.location ?? []))
  }

  /** The record in the form for a storage backend: sealed if the collection is sealed. */
  sealed(collection: number, id: Buffer, record: Buffer): Buffer {
    const seal = this.#sealOf(collection)
    return seal === undefined || seal.writtenForm === CLEAR ? record : seal.seal(objectAddress(collection, id), record)
  }

  /** Id of the key under which the collection's records are written now; 0: plaintext. */
  writtenForm(collection: number): number {
    return this.#sealOf(collection)?.writtenForm ?? CLEAR
  }

  /** The next body of the collection whose object is not in the present form of its records (objects.ts). */
  nextInOtherForm(collection: number, from: Buffer | undefined, count: number): ReturnType<typeof nextInOtherForm> {
    return nextInOtherForm(this.#environment, collection, this.writtenForm(collection), from, count)
  }

  /**
   * Counts present states that are stored under the collection's present key while the objects of their
   * bodies are stored under another one. The result maps the other key id to the number of states. Looks at
   * every object of the collection.
   */
  statesBehind(collection: number): ReadonlyMap<number, number> {
    const form = this.writtenForm(collection)
    const prefix = counterKey(collection)
    const counts = new Map<number, number>()
    for (const { key, value } of this.#environment.objects.getRange({ start: prefix, end: prefixEnd(prefix) })) {
      const { location, keyId } = decodeObject(value, () => `object of body ${key.toString('hex')}`)
      if (location === MEMORY_LOCATION || keyId === form) continue
      const head = this.#environment.heads.get(documentKey(collection, parseBodyKey(key).docid))
      if (head !== undefined && keyIdOf(head) === form) counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
    }
    return counts
  }

  /** Whether no body refers to the object and none has for `seconds`. @param now unix seconds */
  isUnwanted(location: number, id: Uint8Array, now: number, seconds: number): boolean {
    return isUnwanted(this.#environment, location, id, now, seconds)
  }

  /** Plaintext objects of encrypted collections (objects.ts). */
  clearReleases(from: Buffer | undefined, count: number): ReturnType<typeof clearReleases> {
    return clearReleases(this.#environment, from, count)
  }

  /** Whether any plaintext object of an encrypted collection is known. Looks at every release. */
  hasClearReleases(): boolean {
    let page = this.clearReleases(undefined, RELEASES_SCANNED_MAX)
    while (page.found.length === 0 && page.next !== undefined) page = this.clearReleases(page.next, RELEASES_SCANNED_MAX)
    return page.found.length > 0
  }

  /** Bodies with objects at a location, one page per call. */
  bodiesAt(location: number, count: number, from?: Buffer): ReturnType<typeof bodiesAt> {
    return bodiesAt(this.#environment, location, count, from)
  }
}
