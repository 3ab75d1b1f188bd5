/** Rows of the truth env and their checksums: the effects of a damaged row. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { WriteTransaction } from '../../../src/store/apply.js'
import { openEnvironment, openTable, TABLE_NAMES, TABLES } from '../../../src/store/environment.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { collectionKey, counterKey, identityKey } from '../../../src/store/rows/keys.js'
import { CorruptRecord, DAMAGED_ROW } from '../../../src/store/rows/record.js'
import { View } from '../../../src/store/view.js'
import { goldenEntriesKeyring, unpackGoldenEntries } from '../../harness/store/golden_entries.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-rows-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('a damaged row', () => {
  it('of any table is refused, whichever bit of its key, its value or its checksum has changed', async () => {
    const path = join(folder, 'bits')
    mkdirSync(path)
    const environment = openEnvironment(path)
    const key = Buffer.from('00000001000000020000000000000003', 'hex')
    const value = Buffer.from('some value of a row')
    for (const of of TABLE_NAMES) {
      if (of === 'settings') continue
      const table = environment[of]
      const raw = openTable(environment.root, TABLES[of][0])
      environment.root.transactionSync(() => table.put(key, value))
      const stored = raw.get(key) as Buffer
      assert.deepEqual(table.get(key), value)
      // The rest of a record has a separate checksum.
      const covered = table.isOfRecords
        ? [...Array(32).keys(), ...bitsFrom(value.length * 8, stored.length * 8)]
        : bitsFrom(0, stored.length * 8)
      for (const bit of covered) {
        environment.root.transactionSync(() => void raw.put(key, flipped(stored, bit)))
        assert.equal(table.get(key), DAMAGED_ROW, `${of}: bit ${bit} of the value`)
        assert.equal(table.peek(key), DAMAGED_ROW)
        assert.equal([...table.getRange()][0]?.value, DAMAGED_ROW)
        assert.deepEqual([...table.intactKeys()], [])
        assert.equal(table.has(key), false)
      }
      environment.root.transactionSync(() => raw.removeSync(key))
      for (let bit = 0; bit < key.length * 8; bit++) {
        const moved = flipped(key, bit)
        environment.root.transactionSync(() => void raw.put(moved, stored))
        assert.equal(table.get(moved), DAMAGED_ROW, `${of}: bit ${bit} of the key`)
        environment.root.transactionSync(() => raw.removeSync(moved))
      }
    }
    await environment.root.close()
  })

  it('that was moved from one table to another is refused there', async () => {
    const path = join(folder, 'tables')
    mkdirSync(path)
    const environment = openEnvironment(path)
    const key = counterKey(7)
    environment.root.transactionSync(() => {
      environment.counters.put(key, Buffer.from([1, 2, 3, 4]))
      void openTable(environment.root, 'retired').put(key, openTable(environment.root, 'counters').get(key) as Buffer)
    })
    assert.deepEqual([...environment.retired.getKeys()].length, 1)
    assert.equal(environment.retired.has(key), false)
    assert.equal(new WriteTransaction(environment, 0).isRetired(7), false)
    await environment.root.close()
  })

  it('of an identity, a collection or a counter is reported by each reader, and shows no data of another row', async () => {
    const environment = openEnvironment(currentGeneration(unpackGoldenEntries(folder)), goldenEntriesKeyring())
    const view = new View(environment, 0)
    const { id } = view.collection('plain') as { readonly id: number }
    for (const [of, key, read] of [
      ['identities', identityKey(id, 'doc-3', 'en'), (now: View) => now.find(id, 'doc-3', 'en')],
      ['collections', collectionKey('plain'), (now: View) => now.collection('plain')],
      ['counters', counterKey(id), (now: View) => now.collectionCounters(id)],
      ['counters', counterKey(0), (now: View) => now.storeCounters()],
    ] as const) {
      const raw = openTable(environment.root, TABLES[of][0])
      const stored = Buffer.from(raw.get(key) as Buffer)
      environment.root.transactionSync(() => void raw.put(key, flipped(stored, 1)))
      assert.throws(() => read(new View(environment, 0)), CorruptRecord)
      if (of === 'collections')
        assert.deepEqual(
          new View(environment, 0).collections().map(({ name }) => name),
          ['ingested', 'limited', 'moved', 'sealed'],
          'the others are there',
        )
      environment.root.transactionSync(() => void raw.put(key, stored))
      assert.ok(read(new View(environment, 0)))
    }
    await environment.root.close()
  })
})

function bitsFrom(begin: number, end: number): number[] {
  return Array.from({ length: end - begin }, (_, at) => begin + at)
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7))
  return copy
}
