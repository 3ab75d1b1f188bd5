/**
 * Rows of the truth env and their checksums: the effects of a damaged row, and how a store of format 1 gets
 * checksums. The golden store (test/golden/store/format-1.mdb.gz) was written by the last version of format
 * 1: plaintext and encrypted collections, revisions, spellings, expiries, histories, settings.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { WriteTransaction } from '../../../src/store/apply.js'
import { isUpgradeWanted, openEnvironment, openTable, TABLE_NAMES, TABLES } from '../../../src/store/environment.js'
import type { Environment } from '../../../src/store/environment.js'
import { collectionKey, counterKey, identityKey } from '../../../src/store/rows/keys.js'
import { CorruptRecord, DAMAGED_ROW } from '../../../src/store/rows/record.js'
import { checkEnvironment } from '../../../src/store/backup/restored_env.js'
import { upgradeRows } from '../../../src/store/row_upgrade.js'
import { View } from '../../../src/store/view.js'
import { goldenKeyring, unpackGoldenStore } from '../../harness/store/golden_store.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-rows-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const goldenStore = (name: string): string => unpackGoldenStore(join(folder, name))

function rowsOf(environment: Environment): Map<string, string> {
  const rows = new Map<string, string>()
  for (const of of TABLE_NAMES)
    for (const { key, value } of environment[of].storedRows(undefined)) rows.set(`${of} ${key.toString('hex')}`, value.toString('hex'))
  rows.delete(`settings ${Buffer.from('format').toString('hex')}`)
  return rows
}

function uncheckedRows(environment: Environment): string[] {
  return TABLE_NAMES.flatMap((of) =>
    [...environment[of].storedRows(undefined)].filter(({ isChecked }) => !isChecked).map(({ key }) => `${of} ${key.toString('hex')}`),
  )
}

describe('a store of format 1', () => {
  it('gets checksums for every row of every table, in steps that any end of the process may part, and no value changes', async () => {
    const path = goldenStore('upgraded')
    let environment = openEnvironment(path, goldenKeyring())
    const before = rowsOf(environment)
    const tablesBefore = new Set([...before.keys()].map((name) => name.split(' ')[0]))
    for (const of of ['identities', 'sealedIdentities', 'collections', 'counters', 'spellings', 'expiries', 'histories', 'revisions'])
      assert.ok(tablesBefore.has(of), `the golden store has rows of ${of}`)
    assert.ok(uncheckedRows(environment).length >= before.size, 'nothing has one yet')
    let steps = 0
    for (let isMore = true; isMore; steps++) {
      isMore = environment.root.transactionSync(() => upgradeRows(environment, new View(environment, 0), 7, 4000))
      await environment.root.close()
      environment = openEnvironment(path, goldenKeyring())
    }
    assert.ok(steps > 20, `${steps} steps`)
    assert.deepEqual(uncheckedRows(environment), [])
    assert.equal(isUpgradeWanted(environment), false)
    assert.deepEqual(rowsOf(environment), before)
    checkEnvironment(environment)
    await environment.root.close()
  })

  it('is read unchanged before and during the upgrade, and new rows have their checksum at once', async () => {
    const environment = openEnvironment(goldenStore('lenient'), goldenKeyring())
    checkEnvironment(environment)
    environment.root.transactionSync(() => upgradeRows(environment, new View(environment, 0), 40, 1 << 20))
    checkEnvironment(environment)
    environment.root.transactionSync(() => environment.bodyCounts.put(Buffer.alloc(16, 9), Buffer.alloc(4)))
    assert.equal(uncheckedRows(environment).includes(`bodyCounts ${Buffer.alloc(16, 9).toString('hex')}`), false)
    await environment.root.close()
  })

  it('is refused by an older version from the first opening on, and a format of the future by this one', async () => {
    const path = goldenStore('refused')
    const environment = openEnvironment(path)
    const raw = openTable(environment.root, 'settings')
    assert.equal(raw.get(Buffer.from('format'))?.[0], 4)
    environment.root.transactionSync(() => environment.settings.put(Buffer.from('format'), Buffer.from([5, 1])))
    await environment.root.close()
    assert.throws(() => openEnvironment(path), /has format 5; this version reads formats 1 to 4/)
  })

  it('is not added to rows that are damaged already: an identity that leads to another document, an incomplete record', async () => {
    const environment = openEnvironment(goldenStore('damaged'), goldenKeyring())
    const { id } = new View(environment, 0).collection('plain') as { readonly id: number }
    const raw = openTable(environment.root, 'identities')
    const key = identityKey(id, 'doc-3', 'en')
    const heads = openTable(environment.root, 'heads')
    const [head] = [...heads.getRange({ limit: 1 })].map((row) => ({ key: Buffer.from(row.key), value: Buffer.from(row.value) }))
    assert.ok(head)
    environment.root.transactionSync(() => {
      const value = Buffer.from(raw.get(key) as Buffer)
      value.writeUInt32LE(value.readUInt32LE(0) ^ 1, 0)
      void raw.put(key, value)
      head.value[40] = (head.value[40] as number) ^ 4
      void heads.put(head.key, head.value)
    })
    while (environment.root.transactionSync(() => upgradeRows(environment, new View(environment, 0), 100, 1 << 20)));
    assert.equal(environment.identities.get(key), DAMAGED_ROW)
    assert.equal(environment.heads.get(head.key), DAMAGED_ROW)
    const { length } = uncheckedRows(environment)
    assert.ok(length === 2 || length === 3, 'the head, the row, and the identity of the head')
    await environment.root.close()
  })
})

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
    const path = goldenStore('named')
    const environment = openEnvironment(path, goldenKeyring())
    while (environment.root.transactionSync(() => upgradeRows(environment, new View(environment, 0), 500, 1 << 20)));
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
          ['dropped', 'sealed'],
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
