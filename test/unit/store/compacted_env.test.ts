/**
 * A property that a compacted copy of an env must have: its first transaction may free many pages, as a
 * restore does.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openEnvironment } from '../../../src/store/environment.js'
import { bodyKey } from '../../../src/store/rows/keys.js'

const ROWS = 3000
const folder = mkdtempSync(join(tmpdir(), 'mds-compacted-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('a compacted copy', () => {
  it('its first transaction may free as many pages as it likes', async () => {
    for (const name of ['one', 'two']) mkdirSync(join(folder, name))
    const source = openEnvironment(join(folder, 'one'))
    const keys = Array.from({ length: ROWS }, (_, docid) => bodyKey(1, docid + 1, 1n))
    // Each value on its own pages.
    source.root.transactionSync(() => keys.forEach((key) => source.bodies.put(key, Buffer.alloc(6000, 7))))
    await source.root.backup(join(folder, 'two', 'truth.mdb'), true)
    await source.root.close()
    const copy = openEnvironment(join(folder, 'two'))
    copy.root.transactionSync(() => keys.forEach((key) => copy.bodies.remove(key)))
    assert.equal(copy.bodies.rowCount, 0)
    copy.root.transactionSync(() => keys.forEach((key) => copy.bodies.put(key, Buffer.alloc(6000, 8))))
    assert.equal(copy.bodies.rowCount, ROWS)
    await copy.root.close()
  })
})
