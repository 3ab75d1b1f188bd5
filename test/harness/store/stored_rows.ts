/**
 * Invariants of the rows of a closed truth env, whatever was written to it. Master key 1 decrypts sealed
 * rows.
 */
import assert from 'node:assert/strict'
import { openEnvironment } from '../../../src/store/environment.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import type { Head } from '../../../src/store/head.js'
import { decodeObject } from '../../../src/store/objects.js'
import { bodyKey, counterKey, parseBodyKey } from '../../../src/store/rows/keys.js'
import { View } from '../../../src/store/view.js'
import { keyringWith } from './sealing.js'

/**
 * Every body counts its states and the bodies that are differences from it. It exists as long as the count is
 * not zero; after that it waits for the trimming of the binlog.
 */
export function checkReferences(path: string): void {
  const environment = openEnvironment(openDataDirectory(path).generationPath, keyringWith(1))
  const view = new View(environment, 0)
  const retired = new Set([...environment.retired.getKeys()].map((id) => id.readUInt32BE(0)))
  const wanted = new Map<string, number>()
  const count = (collection: number, docid: number, lsn: bigint): void => {
    const name = bodyKey(collection, docid, lsn).toString('hex')
    wanted.set(name, (wanted.get(name) ?? 0) + 1)
  }
  for (const table of [environment.heads, environment.revisions]) {
    for (const { key: at, value } of table.getRange()) {
      if (retired.has(at.readUInt32BE(0))) continue
      const head = view.stateOf(value, at.readUInt32BE(0), at.readUInt32BE(4))
      count(head.collection, head.docid, head.bodyLsn)
    }
  }
  const bodies = [...environment.bodies.getRange()].filter(({ key: at }) => !retired.has(at.readUInt32BE(0)))
  const garbage = new Set([...environment.garbage.getKeys()].map((at) => at.subarray(8).toString('hex')))
  for (const { key: at } of bodies) {
    const base = view.baseOf(parseBodyKey(at))
    // A document that was deleted as a whole has no counts.
    const isDeleted = !environment.heads.doesExist(at.subarray(0, 8))
    if (base !== undefined && !isDeleted) count(at.readUInt32BE(0), at.readUInt32BE(4), base)
  }
  for (const { key: at } of bodies) {
    const name = at.toString('hex')
    const stored = environment.bodyCounts.get(at)?.readUInt32LE(0) ?? (garbage.has(name) ? 0 : 1)
    assert.equal(stored, wanted.get(name) ?? 0, `references of body ${name}`)
    wanted.delete(name)
  }
  // A body in a storage backend belongs to the present state alone. `checkObjects` checks its object.
  const isElsewhere = (name: string): boolean => wanted.get(name) === 1 && environment.objects.doesExist(Buffer.from(name, 'hex'))
  const missing = [...wanted.keys()].filter((name) => !retired.has(Number.parseInt(name.slice(0, 8), 16)) && !isElsewhere(name))
  assert.deepEqual(missing, [], 'a body that is referred to is there')
  void environment.root.close()
}

/**
 * Every object has a back reference to its body, which is that of a present state, and nothing else has one.
 */
export function checkObjects(path: string): void {
  const environment = openEnvironment(openDataDirectory(path).generationPath, keyringWith(1))
  const view = new View(environment, 0)
  const owners = new Map([...environment.objectOwners.getRange()].map(({ key, value }) => [key.toString('hex'), value.toString('hex')]))
  for (const { key, value } of environment.objects.getRange()) {
    const name = key.toString('hex')
    const { location, id } = decodeObject(value, () => `object of body ${name}`)
    const owner = Buffer.concat([counterKey(location), id]).toString('hex')
    assert.equal(owners.get(owner), name, `the way back from ${owner}`)
    owners.delete(owner)
    const { collection, docid, bodyLsn } = parseBodyKey(key)
    if (environment.retired.doesExist(counterKey(collection))) continue
    assert.equal(view.headEvenExpired(collection, docid)?.bodyLsn, bodyLsn, `body ${name} is of the present state`)
  }
  assert.deepEqual([...owners], [], 'objects without a body')
  void environment.root.close()
}

/** No table has rows of deleted collections. */
export function checkPurged(path: string): void {
  const { collections, root, ...tables } = openEnvironment(openDataDirectory(path).generationPath, keyringWith(1))
  const known = new Set([...collections.getRange()].map(({ value }) => value.readUInt32LE(0)))
  const { heads, bodies, bodyCounts, revisions, identities, spellings, collectionSettings } = tables
  const { sealings, sealedIdentities, sealedSpellings, sealedSettings, histories, leaderboard, eventMinutes } = tables
  const { objects, vectors, vectorStamps, vectorVariants } = tables
  const clear = {
    objects,
    heads,
    bodies,
    bodyCounts,
    revisions,
    identities,
    spellings,
    collectionSettings,
    histories,
    leaderboard,
    eventMinutes,
    vectors,
    vectorStamps,
    vectorVariants,
  }
  for (const [name, table] of Object.entries({ ...clear, sealings, sealedIdentities, sealedSpellings, sealedSettings }))
    for (const at of table.getKeys()) assert.ok(known.has(at.readUInt32BE(0)), `${name} ${at.toString('hex')} is of no collection`)
  void root.close()
}

/** The JSON text of the document, with its content, as its rows have it. */
export function textOf(view: View, head: Head): Buffer {
  return Buffer.concat([head.json, Buffer.from(',"contentMd":"'), view.escapedContent(head), Buffer.from('"}')])
}
