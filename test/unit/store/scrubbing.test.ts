/** Data overwritten by a rotation of keys must not be found in the file that the next start writes. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openEnvironment } from '../../../src/store/environment.js'
import { isScrubWanted, scrub, wantScrub } from '../../../src/store/resealing/scrubbing.js'
import { bodyKey } from '../../../src/store/rows/keys.js'
import { SmallDisk } from '../../harness/process/small_disk.js'

const ROWS = 400
const CLEAR = Buffer.from('zebrafink '.repeat(40))
/**
 * Longer than LMDB stores within a leaf, shorter than a page: the value is on a separate page and does not
 * fill it.
 */
const SEALED = Buffer.alloc(2300, 7)
const folder = mkdtempSync(join(tmpdir(), 'mds-scrubbing-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('the file rewritten after a rotation', () => {
  const keys = Array.from({ length: ROWS }, (_, docid) => bodyKey(1, docid + 1, 1n))
  const file = join(folder, 'truth.mdb')

  it('contains no overwritten bytes, not even behind the end of a value', async () => {
    const environment = openEnvironment(folder)
    environment.root.transactionSync(() => keys.forEach((key) => void environment.bodies.put(key, CLEAR)))
    // LMDB reuses leaves that were changed and emptied within one transaction for the new values without
    // clearing them.
    environment.root.transactionSync(() => {
      for (const key of keys) void environment.bodies.remove(key)
      for (const key of keys) void environment.bodies.put(key, SEALED)
      wantScrub(environment)
    })
    await environment.root.close()
    assert.ok(readFileSync(file).includes('zebrafink'), 'the case is met')
    assert.match(await scrub(folder), /was rewritten/)
    assert.equal(readFileSync(file).includes('zebrafink'), false)
  })

  it('contains every row of every table, and is not marked to be rewritten', async () => {
    const environment = openEnvironment(folder)
    assert.deepEqual([...environment.bodies.getKeys()].map(String), keys.map(String))
    for (const { value } of environment.bodies.getRange()) assert.deepEqual(Buffer.from(value), SEALED)
    assert.equal(isScrubWanted(environment), false)
    await environment.root.close()
  })

  it('is not begun if the disk has too little space: the store stays unchanged, and the missing space is reported', async (test) => {
    const disk = SmallDisk.mount(32)
    if (disk === undefined) {
      test.skip('no tmpfs can be mounted here: rewriting a store on a full disk is NOT TESTED')
      return
    }
    test.after(() => disk.unmount())
    const environment = openEnvironment(disk.path)
    environment.root.transactionSync(() => wantScrub(environment))
    await environment.root.close()
    const before = readFileSync(join(disk.path, 'truth.mdb'))
    assert.match(await scrub(disk.path), /can't be rewritten \(\d+ bytes more must be free\)/)
    assert.deepEqual(readFileSync(join(disk.path, 'truth.mdb')), before)
    assert.deepEqual(
      readdirSync(disk.path).filter((name) => name === 'scrub'),
      [],
    )
  })
})
