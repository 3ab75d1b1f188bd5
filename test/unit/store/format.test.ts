/**
 * The format of the truth env: another one is refused before anything is read or written, with what to do.
 * docs/formats/truth-env.md.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readCollectionCounters } from '../../../src/store/counters.js'
import { DamagedFormat, openEnvironment, openTable, UnknownFormat } from '../../../src/store/environment.js'
import { decodeHead, encodeHead, jsonOfRecord } from '../../../src/store/head.js'
import { counterKey } from '../../../src/store/rows/keys.js'
import { pack } from '../../../src/store/rows/packages.js'
import { CorruptRecord, sealRecord } from '../../../src/store/rows/record.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-format-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const FORMAT = Buffer.from('format')

/** A store whose row of the format has these bytes. */
async function storeOf(name: string, format: readonly number[], isChecked = true): Promise<string> {
  const path = join(folder, name)
  mkdirSync(path)
  const { root, settings } = openEnvironment(path)
  root.transactionSync(() => {
    if (isChecked) settings.put(FORMAT, Buffer.from(format))
    else void openTable(root, 'settings').put(FORMAT, Buffer.from(format))
  })
  await root.close()
  return path
}

describe('the format of a store', () => {
  it('format: older and newer ones are refused with what was found, what is read and what to do, and nothing is changed', async () => {
    const found: readonly (readonly [name: string, stored: Promise<string>])[] = [
      ['format 1', storeOf('one', [1], false)],
      ['format 2', storeOf('two', [2, 1])],
      ['format 3', storeOf('three', [3, 1])],
      ['format 4 with rows of format 1', storeOf('begun', [4, 0])],
      ['format 5', storeOf('five', [5, 1])],
    ]
    for (const [name, stored] of found) {
      const path = await stored
      const file = join(path, 'truth.mdb')
      const before = readFileSync(file)
      for (const isReadOnly of [false, true]) {
        assert.throws(
          () => openEnvironment(path, undefined, undefined, isReadOnly),
          (error: Error) => {
            assert.ok(error instanceof UnknownFormat && !(error instanceof DamagedFormat))
            const remedy = 'export its collections with the version that wrote it, and import them here'
            assert.equal(error.message, `${file} has ${name}; this version reads format 4 only: ${remedy}`)
            return true
          },
        )
      }
      assert.ok(readFileSync(file).equals(before), name)
    }
  })

  it('format: a row of the format that is damaged is no other format', async () => {
    const path = await storeOf('damaged', [4, 1, 0, 0, 0, 0, 0], false)
    assert.throws(() => openEnvironment(path), /the row that says its format is damaged/)
  })

  it('format: heads and counters without content hashes, as before format 4, are damage', async () => {
    const fields = { docid: 1, revision: 1, flags: 0, lsn: 1n, indexedLsn: 1n, bodyLsn: 1n, bodyRawBytes: 1, bodyStoredBytes: 1 }
    const times = { expiresAt: 0, addedAt: 1, updatedAt: 1, contentHash: 7n << 40n, metaTriples: 0 }
    const text = { id: 'c|k|en', key: 'k', lang: 'en', meta: '{}' }
    const head = encodeHead({ ...fields, ...times }, text)
    assert.equal(decodeHead(head, 1, () => 'head').contentHash, 7n << 40n)
    // The text followed at 88.
    const unhashed = Buffer.concat([head.subarray(0, 88), jsonOfRecord(head)])
    unhashed[5] = 0
    sealRecord(unhashed)
    assert.throws(() => decodeHead(unhashed, 1, () => 'head'), CorruptRecord)

    const path = join(folder, 'counters')
    mkdirSync(path)
    const environment = openEnvironment(path)
    for (const row of [
      [1, 2, 3, 0x12345678, 2],
      [1, 2, 3, 2, 1, 0n, 0n, 0n, 0n],
    ]) {
      environment.root.transactionSync(() => environment.counters.put(counterKey(1), pack(row)))
      assert.throws(() => readCollectionCounters(environment, 1), CorruptRecord)
    }
    await environment.root.close()
  })
})
