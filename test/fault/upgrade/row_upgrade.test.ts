/**
 * A store of format 1, whose rows have no checksums: it is restored from a backup, and its keys are rotated
 * during the upgrade. Other properties of the upgrade: row_damage.test.ts.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { decideRotation, stepRotation } from '../../../src/domain/rotation.js'
import { WriteTransaction } from '../../../src/store/apply.js'
import { sealBackup } from '../../../src/store/backup/backup_file.js'
import { isUpgradeWanted, openEnvironment } from '../../../src/store/environment.js'
import type { Environment } from '../../../src/store/environment.js'
import { presentEpoch } from '../../../src/store/epochs.js'
import { Keyring } from '../../../src/store/sealing/keyring.js'
import { beginSealing } from '../../../src/store/collections/sealing_change.js'
import { View } from '../../../src/store/view.js'
import { GOLDEN_KEY, goldenContent, goldenKeyring, unpackGoldenStore } from '../../harness/store/golden_store.js'
import { startServer } from '../../harness/server/server.js'
import type { Server } from '../../harness/server/server.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-row-upgrade-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const OTHER_KEY = Buffer.alloc(32, 0x42).toString('base64')
const MDS = fileURLToPath(new URL('../../../../bin/mds.mjs', import.meta.url))
const JOB = 'rot-0123456789abcdef'
/** Rows per step, so that a table takes several steps. */
const UPGRADED_ROWS = 12
const UPGRADED_BYTES = 1 << 20

describe('a store of format 1', () => {
  it('row upgrade: a backup of it is restored, served at once and brought to format 2', async () => {
    const generation = unpackGoldenStore(join(folder, 'read'))
    const backups = join(folder, 'restored', 'backups')
    mkdirSync(backups, { recursive: true })
    cpSync(join(generation, 'truth.mdb'), join(backups, 'old.db'))
    // Opening the copy raises its format; this resets it to the old one.
    const environment = openEnvironment(generation, goldenKeyring())
    const epoch = presentEpoch(environment)
    const { lastLsn } = new View(environment, 0).storeCounters()
    await environment.root.close()
    await sealBackup(join(backups, 'old.db'), { epoch, lastLsn, createdAt: 1_700_000_000 })

    const directory = join(folder, 'restored')
    const env = { SVC_ENCRYPTION_KEY: GOLDEN_KEY }
    let server = await startServer({ directory, env })
    try {
      assert.equal((await server.post('/v1/restore', { from: 'old.db' })).text, '{"restored":"old.db"}')
      await servesGolden(server)
      const added = await server.post('/v1/add', { collection: 'sealed', key: 'new', lang: 'en', contentMd: 'written meanwhile' })
      assert.equal(added.status, 200, added.text)
      while (!server.output().includes('every row of the store has its checksum now')) await setImmediate()
      assert.equal(await server.stop(), 0, server.output())
      server = await startServer({ directory, env })
      await servesGolden(server)
      assert.equal(await server.stop(), 0, server.output())
    } finally {
      await server.kill()
    }
    isWhole(directory, env)
  })

  it('row upgrade: keys are rotated while it is under way, in turns and over a restart; then the old key is not needed', async () => {
    const directory = join(folder, 'rotated')
    const generation = unpackGoldenStore(join(directory, 'gen-000001'))
    writeFileSync(join(directory, 'CURRENT'), 'gen-000001\n')
    let environment = open(generation)
    write(environment, (transaction) => {
      for (const { entry, body } of decideRotation(transaction, JOB, null, 1).steps) transaction.apply(entry, body)
    })
    let turns = 0
    for (; isUpgradeWanted(environment) && isRotated(environment) === false; turns++) {
      write(environment, (transaction) => void transaction.upgradeRows(UPGRADED_ROWS, UPGRADED_BYTES))
      write(environment, (transaction) => void stepRotation(transaction, JOB, 2))
      if (turns !== 5) continue
      await environment.root.close()
      environment = open(generation)
    }
    assert.ok(turns > 10, `${turns} turns`)
    while (isUpgradeWanted(environment)) write(environment, (transaction) => void transaction.upgradeRows(UPGRADED_ROWS, UPGRADED_BYTES))
    while (!isRotated(environment)) write(environment, (transaction) => void stepRotation(transaction, JOB, 2))
    const { fields } = new View(environment, 0).job('rotation', JOB) ?? assert.fail('no job')
    assert.deepEqual([fields.status, fields.errors], ['completed', 0], inspect(fields))
    await environment.root.close()

    const env = { SVC_ENCRYPTION_KEY: OTHER_KEY, SVC_ENCRYPTION_KEY_ID: '2' }
    const server = await startServer({ directory, env })
    try {
      await servesGolden(server)
      assert.equal(await server.stop(), 0, server.output())
    } finally {
      await server.kill()
    }
    isWhole(directory, env)
  })
})

/** Opens the store with the other key as the primary one, as a start does. */
function open(generation: string): Environment {
  const keys = {
    primary: { id: 2, bytes: Buffer.from(OTHER_KEY, 'base64') },
    previous: [{ id: 1, bytes: Buffer.from(GOLDEN_KEY, 'base64') }],
  }
  const environment = openEnvironment(generation, new Keyring(keys, () => assert.fail('there is a master key')))
  beginSealing(environment)
  return environment
}

function write(environment: Environment, change: (transaction: WriteTransaction) => void): void {
  environment.root.transactionSync(() => {
    const transaction = new WriteTransaction(environment, 1_800_000_000)
    change(transaction)
    transaction.finish()
  })
}

function isRotated(environment: Environment): boolean {
  return !['queued', 'running'].includes(String(new View(environment, 0).job('rotation', JOB)?.fields.status))
}

async function servesGolden(server: Server): Promise<void> {
  for (const collection of ['Plain', 'sealed'])
    for (let document = 0; document < 24; document++) {
      if (document === 8) continue
      const { status, text } = await server.post('/v1/get', { collection, key: `doc-${document}`, lang: 'en' })
      assert.equal(status, 200, `${collection} ${document}: ${text}`)
      assert.equal((JSON.parse(text) as { readonly contentMd: string }).contentMd, goldenContent(document))
    }
}

/** Checks that every row has its checksum and is consistent with the others. */
function isWhole(directory: string, env: Readonly<Record<string, string>>): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MDS, 'doctor', '--db', directory], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
}
