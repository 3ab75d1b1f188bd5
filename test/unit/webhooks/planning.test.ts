/** The consumer that records deliveries: what it does where entries were trimmed that it has not seen. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { webhookPlanning } from '../../../src/consumers/webhook_planning.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { SERVER_SETTINGS } from '../../../src/store/settings.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { installTelemetry, Telemetry } from '../../../src/telemetry/registry.js'

const telemetry = Telemetry.create([])
telemetry.claimRow()
installTelemetry(telemetry)
const folder = mkdtempSync(join(tmpdir(), 'mds-planning-'))
const store = new TruthStore(openDataDirectory(folder).generationPath)
after(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const HOOKS = ['0000000000000001', '0000000000000002']

function setWebhook(transaction: WriteTransaction, id: string): void {
  const value = JSON.stringify({ id, url: 'https://example.com/', events: ['doc.added'], collection: '', since: 0, headerNames: [] })
  const lsn = transaction.nextLsn
  const entry = { kind: 'setting', lsn, collection: SERVER_SETTINGS, docid: 0, collectionName: '', setting: 'webhook', id, value } as const
  transaction.apply(entry, undefined)
}

it('webhooks: where changes were trimmed before they were recorded, all are suspended from the first of them on', async () => {
  const writer = store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  const write = (change: (transaction: WriteTransaction) => void): Promise<void> => writer.group(() => 1_000, change)
  await write((transaction) => {
    for (const id of HOOKS) setWebhook(transaction, id)
    transaction.setPosition('webhooks', 1n)
  })
  const consumer = webhookPlanning({ notify: () => undefined, isFeedWatched: () => false, backlogMax: { ofHook: 10, ofAll: 100 } })
  const next = () => store.read((view) => consumer.next(view, view.lastLsn()))
  const suspended = (): unknown[] => store.read((view) => HOOKS.map((id) => view.deliveries.suspendedAt(id)))
  assert.equal(next().change, undefined)
  consumer.onLost?.()
  // The store did not take it the first time, as on a full disk.
  assert.notEqual(next().change, undefined)
  const { change } = next()
  await write((transaction) => change?.(transaction))
  assert.deepEqual(suspended(), [2n, 2n])
  assert.equal(next().change, undefined, 'told once')
})
