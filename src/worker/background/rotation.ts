/**
 * Runs the key rotation. While a job is unfinished, its steps run one after another as ordinary work in the
 * write lane's queue. The pauses between the steps leave most of a core to the requests. A job left by a
 * killed server continues after the next start. Write lane only.
 */
import { Chore } from '../../chore.js'
import { stepRotation, unfinishedRotation } from '../../domain/rotation.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/commit.js'
import { ROTATION_POLL_MS, ROTATION_REST_FACTOR, ROTATION_REST_MS_MIN, ROTATION_WAIT_MS } from '../../limits/encryption.js'
import { log } from '../../telemetry/log.js'
import type { Work } from '../commit/commit_work.js'
import type { LaneContext } from '../request/handler.js'
import { DONE, type LaneWork } from './lane_work.js'

export function keyRotation({ lane, tools, enqueue }: LaneWork): Chore {
  let under: string | undefined
  return new Chore(tools, {
    name: 'key-rotation',
    first: ROTATION_POLL_MS,
    failure: 'the rotation of keys does not go on yet',
    round: async () => {
      const job = lane.store.read(unfinishedRotation)
      if (under !== undefined && under !== job?.id) logEnd(lane, under)
      under = job?.id
      if (job === undefined) return ROTATION_POLL_MS
      const step = stepOf(job.id)
      await enqueue(step.work)
      return step.waits() ? ROTATION_WAIT_MS : Math.max(ROTATION_REST_MS_MIN, step.tookMs() * ROTATION_REST_FACTOR)
    },
  })
}

function logEnd(lane: LaneContext, id: string): void {
  const job = lane.store.read((view) => view.job('rotation', id))
  log.info('rotation of keys ended', { job: id, status: String(job?.fields.status ?? 'gone') })
}

function stepOf(id: string): { readonly work: Work; readonly tookMs: () => number; readonly waits: () => boolean } {
  let tookMs = 0
  let waits = false
  const work: Work = {
    onFullDisk: 'waits',
    origin: 'upkeep',
    weight: COMMIT_SLICE_DOCUMENTS_MAX,
    run: (transaction) => {
      const begun = performance.now()
      waits = stepRotation(transaction, id, Date.now())
      tookMs = performance.now() - begun
      return false
    },
    answer: () => DONE,
  }
  return { work, tookMs: () => tookMs, waits: () => waits }
}
