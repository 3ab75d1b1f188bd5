/**
 * Deliveries to webhooks through kills: webhook_run.ts. The campaign (`npm run campaign -- webhook-kill`) has
 * more of them.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runSeed } from '../../harness/random.js'
import { runWebhookKills } from './webhook_run.js'

const KILLS = 5

it('deliveries: through kills each acknowledged write is told to each webhook, in order for each document, and nothing under two ids', async (test) => {
  const report = await runWebhookKills(runSeed(), KILLS, 0)
  test.diagnostic(JSON.stringify(report))
  assert.ok(report.kills === KILLS && report.posts > 0)
})
