/** The background work of the write lane: the list is complete, and on a follower none of it commits. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ChoreTools } from '../../../src/chore.js'
import { CHORE_NAMES, CHORES } from '../../../src/chore_list.js'
import { loadConfig } from '../../../src/config/config.js'
import type { Role } from '../../../src/role.js'
import { installTelemetry, Telemetry } from '../../../src/telemetry/registry.js'
import { type LaneChoreParts, laneChores } from '../../../src/worker/background/chores.js'
import { DONE } from '../../../src/worker/background/lane_work.js'
import { MemoryEnds } from '../../../src/worker/background/memory_ends.js'
import type { Work } from '../../../src/worker/commit/commit_work.js'
import type { CommitAnswer } from '../../../src/worker/request/handler.js'
import { StillClock } from '../../harness/chore_tools.js'

const telemetry = Telemetry.create([])
telemetry.claimRow()
installTelemetry(telemetry)

/** Looks for expired documents that find some: a sweep rests as long as it took, which is nothing here. */
const DUE_LOOKS = 100

/** A message whose session is gone. */
const meta = { sessionId: ['s'], type: ['message'] }
const messageHead = { json: Buffer.from(JSON.stringify({ id: 'i', key: 's/1', lang: 'en', meta }).slice(0, -1)), meta: Buffer.from('{}') }

/** A lane with pending work for every chore. */
function partsOf(role: Role, clock: StillClock, committed: Work[]): LaneChoreParts {
  let looks = 0
  const view = {
    due: () => (++looks > DUE_LOOKS ? [] : [{ expiresAt: 1, collection: 1, docid: 1 }]),
    soonestExpiry: () => 1,
    lastLsn: () => 1n,
    now: 2,
    retired: () => [1],
    collection: () => ({ id: 1 }),
    docidsFrom: () => [1],
    find: () => undefined,
    headEvenExpired: () => messageHead,
    objects: { isIndexIncomplete: () => false },
  }
  const lane = {
    config: { ...loadConfig([], {}), temporal: true, encryption: {} },
    store: { read: (run: (of: unknown) => unknown) => run(view), compare: () => false },
    engine: { search: () => ({ hits: [{ docid: 1 }] }), storageState: () => 'good', stats: () => ({ checkpoint: 0n }) },
    accesses: { take: (give: (...read: number[]) => void) => give(1, 1, 1, 1) },
  }
  const tools: ChoreTools = { role: { role }, telemetry, clock }
  const enqueue = (work: Work): Promise<CommitAnswer> => {
    committed.push(work)
    return Promise.resolve(DONE)
  }
  const memoryEnds = new MemoryEnds({ lane: lane as never, tools, enqueue }, () => false)
  const rest = { memoryEnds, purgeRowsMax: () => 1, isIndexBuilding: () => false, onFindings: () => undefined, onFatal: () => undefined }
  return { lane: lane as never, tools, enqueue, ...rest }
}

describe('the chores of the write lane', () => {
  it('chores: the list has every chore of the write lane, but what the lane has itself: the watch of the disk, consumers of the binlog', () => {
    const own: readonly string[] = ['disk-watch', 'binlog-consumers']
    const names = laneChores(partsOf('leader', new StillClock(), [])).map(({ name }) => name)
    const listed = CHORE_NAMES.filter((name) => CHORES[name].thread === 'write lane' && !own.includes(name))
    assert.deepEqual([...names].sort(), [...listed].sort())
  })

  it('role: a leader commits without being asked, a follower commits nothing, also when it ends', async () => {
    for (const role of ['leader', 'follower', 'read_only'] as const) {
      const committed: Work[] = []
      const clock = new StillClock()
      const chores = laneChores(partsOf(role, clock, committed))
      for (const chore of chores) void chore.start()
      await clock.advance(2500)
      await Promise.all(chores.map((chore) => chore.stop()))
      if (role === 'leader') assert.ok(committed.length > 6, `${committed.length} groups`)
      else assert.equal(committed.length, 0, role)
    }
  })
})
