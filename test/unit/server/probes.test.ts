/**
 * Answers of the probes in states that are difficult to reach with a real server. The other states:
 * test/contract/server/probes.test.ts.
 */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { describe, it } from 'node:test'
import { ANONYMOUS } from '../../../src/access/principal.js'
import { loadConfig } from '../../../src/config/config.js'
import { SlotTable } from '../../../src/dispatch/queue/slot_table.js'
import { OWN } from '../../../src/dispatch/surface.js'
import type { Ticket } from '../../../src/dispatch/ticket.js'
import { entryOf } from '../../../src/errors.js'
import { systemAnswers } from '../../../src/system/loop_answers.js'
import { LANE_SILENCE_MS_MAX } from '../../../src/system/probes.js'
import type { ServerState } from '../../../src/system/server_state.js'
import { installTelemetry, Telemetry } from '../../../src/telemetry/registry.js'
import type { Phase } from '../../../src/wire/control_block.js'
import { ControlBlock } from '../../../src/wire/control_block.js'

// Health reads gauges of other threads.
installTelemetry(Telemetry.create([]))

function answer(
  probe: 'livez' | 'readyz',
  given: { phase?: Phase; overdueMs?: number; stale?: boolean; mode?: string; db?: string },
  asked = {},
): unknown {
  const config = loadConfig(['--db', given.db ?? tmpdir(), '--mode', given.mode ?? 'wr'], {})
  const state: ServerState = {
    listenAddresses: new Map([['http', '127.0.0.1:4711']]),
    surfaces: [],
    startedAt: Date.now(),
    config,
    mode: config.mode,
    update: () => undefined,
    mcpSessions: () => undefined,
    phase: () => given.phase ?? 'healthy',
    phaseReason: () => 'storage failure',
    lanesOverdueMs: () => given.overdueMs ?? 0,
    isIndexStale: () => given.stale ?? false,
    indexUnstored: () => false,
    areVectorsUnstored: () => false,
    damageFound: () => 0,
    areWritesLost: () => false,
    isDiskFull: () => false,
    diskFloorBytes: () => 0,
    auditObstacle: () => null,
    auditNearlyFull: () => null,
    vectorConfig: () => ({ enabled: false, provider: 'none', model: '', dimensions: 0, apiUrl: '' }),
  }
  const [, run] = systemAnswers(state).find(([row]) => row.name === probe) ?? assert.fail(probe)
  const { code, body } = run(asked, ANONYMOUS)
  return [code === undefined ? 200 : entryOf(code).http, JSON.parse(String(body))]
}

describe('probes', () => {
  it('livez: alive in every phase but a storage failure; 503 when a lane is long behind a deadline', () => {
    for (const phase of ['healthy', 'warming_up', 'draining'] as const)
      assert.deepEqual(answer('livez', { phase }), [200, { status: 'alive' }])
    assert.deepEqual(answer('livez', { phase: 'unhealthy' }), [503, { status: 'failed', error: 'storage failure' }])
    assert.deepEqual(answer('livez', { overdueMs: LANE_SILENCE_MS_MAX - 1 }), [200, { status: 'alive' }])
    assert.deepEqual(answer('livez', { overdueMs: LANE_SILENCE_MS_MAX }), [
      503,
      { status: 'stuck', error: 'a lane is 60 s behind a deadline' },
    ])
  })

  it('livez: a lane is as far behind as the oldest deadline of a request that it has', () => {
    const slots = new SlotTable(ControlBlock.create())
    const ticket = (deadlineAt: number, batch = 1): Ticket => ({ deadlineAt, batch, surface: OWN, stream: 0 }) as Ticket
    assert.equal(slots.overdueMs(1000), 0)
    // During a long start requests wait in the queues, for example the scrapes of a monitor, but in no lane.
    slots.take(ticket(100, 0))
    assert.equal(slots.overdueMs(1000), 0)
    const late = ticket(400)
    for (const each of [ticket(2000), late, ticket(900)]) slots.take(each)
    assert.equal(slots.overdueMs(1000), 600)
    slots.release(late)
    assert.equal(slots.overdueMs(1000), 100)
  })

  it('readyz: 503 with the reason while the server warms up, shuts down, fails, or builds the index; by what is asked for', () => {
    const notReady = (reason: string, mode = 'wr'): unknown => [503, { status: 'not_ready', mode, reason }]
    assert.deepEqual(answer('readyz', {}), [200, { status: 'ready', mode: 'wr' }])
    assert.deepEqual(answer('readyz', { phase: 'warming_up' }), notReady('warming_up'))
    assert.deepEqual(answer('readyz', { phase: 'draining' }), notReady('shutting_down'))
    assert.deepEqual(answer('readyz', { phase: 'unhealthy' }), notReady('unhealthy'))
    assert.deepEqual(answer('readyz', { stale: true }), notReady('index_building'))
    assert.deepEqual(answer('readyz', { stale: true }, { mode: 'write' }), [200, { status: 'ready', mode: 'write' }])
    assert.deepEqual(answer('readyz', { db: '/nowhere' }), notReady('not_writable'))
    assert.deepEqual(answer('readyz', { db: '/nowhere' }, { mode: 'read' }), [200, { status: 'ready', mode: 'read' }])
    assert.deepEqual(answer('readyz', { db: '/nowhere', mode: 'read' }), [200, { status: 'ready', mode: 'read' }])
    assert.throws(() => answer('readyz', {}, { mode: 'all' }), /invalid mode/)
  })
})
