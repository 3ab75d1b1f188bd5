/**
 * Retention of unreferenced objects in object stores: it counts from their release, not from their creation
 * (docs/decisions/store/storage-backends.md).
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { openEnvironment } from '../../../src/store/environment.js'
import {
  encodeObject,
  forgetReleases,
  isUnwanted,
  MEMORY_LOCATION,
  noteAdoption,
  removeObject,
  writeObject,
} from '../../../src/store/objects.js'
import { bodyKey } from '../../../src/store/rows/keys.js'

const DAY = 86_400
const NOW = 2_000_000_000
const folder = mkdtempSync(join(tmpdir(), 'mds-releases-'))
mkdirSync(join(folder, 'gen'))
const environment = openEnvironment(join(folder, 'gen'))
after(async () => {
  await environment.root.close()
  rmSync(folder, { recursive: true, force: true })
})

/** An object made `days` before NOW. */
function made(days: number, last: number, location = 1) {
  const id = Buffer.alloc(16, last)
  id.writeUIntBE((NOW - days * DAY) * 1000, 0, 6)
  const object = { location, id, instance: Buffer.alloc(8, 1), bytes: 1, keyId: 0, hash: Buffer.alloc(16, 2) }
  return { id, record: encodeObject(object) }
}

it('a replaced object of any age is kept as long as older backups may refer to it', () => {
  const [old, next] = [made(100, 1), made(0, 2)]
  const body = bodyKey(1, 1, 1n)
  const isGone = (id: Buffer, now: number): boolean => isUnwanted(environment, 1, id, now, DAY)
  environment.root.transactionSync(() => void writeObject(environment, body, old.record, NOW))
  assert.equal(isGone(old.id, NOW + 10 * DAY), false, 'a body refers to it')
  environment.root.transactionSync(() => void writeObject(environment, body, next.record, NOW))
  assert.deepEqual([isGone(old.id, NOW), isGone(old.id, NOW + DAY - 1), isGone(old.id, NOW + DAY)], [false, false, true])
  assert.equal(isGone(next.id, NOW + DAY), false)
  environment.root.transactionSync(() => void removeObject(environment, body, NOW + DAY))
  assert.deepEqual([isGone(next.id, NOW + DAY), isGone(next.id, NOW + 2 * DAY)], [false, true])
  const forgotten = (before: number): number => {
    environment.root.transactionSync(() => {
      for (let from: Buffer | undefined, isLast = false; !isLast; isLast = from === undefined)
        from = forgetReleases(environment, before, from, 1)
    })
    return environment.objectReleases.rowCount
  }
  assert.equal(forgotten(NOW - 1), 2)
  assert.equal(forgotten(NOW), 1, 'one at a time')
  assert.equal(isGone(old.id, NOW + DAY), true, 'it needs no row for that')
  assert.deepEqual([isGone(next.id, NOW + DAY), isGone(next.id, NOW + 2 * DAY)], [false, true])
})

it('an object that was never referenced is as old as its name says; one in memory has no release row', () => {
  const [orphan, young] = [made(2, 3), made(0, 4)]
  assert.deepEqual([isUnwanted(environment, 1, orphan.id, NOW, DAY), isUnwanted(environment, 1, young.id, NOW, DAY)], [true, false])
  const before = environment.objectReleases.rowCount
  const held = made(2, 5, MEMORY_LOCATION)
  environment.root.transactionSync(() => {
    writeObject(environment, bodyKey(1, 2, 1n), held.record, NOW)
    removeObject(environment, bodyKey(1, 2, 1n), NOW)
  })
  assert.equal(environment.objectReleases.rowCount, before)
})

it('the retention period of objects that a store never referred to begins when it is served, because its predecessor may have used them', () => {
  const orphan = made(100, 6)
  const isGone = (now: number): boolean => isUnwanted(environment, 1, orphan.id, now, DAY)
  assert.equal(isGone(NOW), true)
  environment.root.transactionSync(() => noteAdoption(environment, NOW))
  assert.deepEqual([isGone(NOW), isGone(NOW + DAY - 1), isGone(NOW + DAY)], [false, false, true])
})
