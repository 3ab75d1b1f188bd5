/**
 * Storage backends without servers: process memory and two object stores, as maps that a run can clear. As an
 * `ObjectSource` it returns the cached bodies: all of memory, and the objects fetched from the stores since
 * the last `forget`. One thread.
 */
import assert from 'node:assert/strict'
import type { PreparedObject } from '../../../src/domain/commands.js'
import type { ObjectSource } from '../../../src/store/object_source.js'
import type { BodyObject } from '../../../src/store/objects.js'
import { encodeObject, hashOfObject, MEMORY_LOCATION, newObjectId } from '../../../src/store/objects.js'
import { keyIdOf } from '../../../src/store/sealing/sealed_record.js'
import type { View } from '../../../src/store/view.js'

const INSTANCE = Buffer.alloc(8, 7)

export class ObjectBackends implements ObjectSource {
  readonly #memory = new Map<string, Buffer>()
  readonly #stored = new Map<string, Buffer>()
  readonly #fetched = new Set<string>()

  get(id: Buffer): Buffer | undefined {
    const name = id.toString('hex')
    const found = this.#memory.get(name) ?? (this.#fetched.has(name) ? this.#stored.get(name) : undefined)
    return found === undefined ? undefined : Buffer.from(found)
  }

  has(id: Buffer): boolean {
    return this.get(id) !== undefined
  }

  /**
   * What a lane and the front end do together: the object is stored in its backend before its row is written.
   */
  make(view: View, collection: number, location: number, body: Buffer): PreparedObject {
    const id = newObjectId()
    const name = id.toString('hex')
    if (location === MEMORY_LOCATION) {
      this.#memory.set(name, Buffer.from(body))
      return {
        collection,
        record: encodeObject({ location, id, instance: INSTANCE, bytes: body.length, keyId: 0, hash: Buffer.alloc(0) }),
        memoryRecord: body,
      }
    }
    const bytes = Buffer.from(view.objects.sealed(collection, id, body))
    this.#stored.set(name, bytes)
    return {
      collection,
      record: encodeObject({ location, id, instance: INSTANCE, bytes: bytes.length, keyId: keyIdOf(bytes), hash: hashOfObject(bytes) }),
      memoryRecord: null,
    }
  }

  /** Fetches an object as a suspended request does. Fails if the object cannot be fetched. */
  fetch({ location, id, hash, bytes }: BodyObject): void {
    const name = id.toString('hex')
    assert.notEqual(location, MEMORY_LOCATION, `${name} lay in memory, and a row names it still`)
    const stored = this.#stored.get(name)
    assert.ok(stored, `${name} was never sent`)
    assert.equal(stored.length, bytes)
    assert.deepEqual(hashOfObject(stored), hash)
    this.#fetched.add(name)
  }

  /** Clears the cache of fetched objects; memory is kept. */
  forget(): void {
    this.#fetched.clear()
  }

  /** Removes the objects that the commit has released: exactly those without references. */
  release(ids: readonly Buffer[]): void {
    for (const id of ids)
      assert.ok(this.#memory.delete(id.toString('hex')), `${id.toString('hex')} was released twice, or is not in memory`)
  }

  /** A process restart: memory and fetched objects are lost. */
  endProcess(): void {
    this.#memory.clear()
    this.forget()
  }

  get inMemory(): readonly string[] {
    return [...this.#memory.keys()].sort()
  }
}
