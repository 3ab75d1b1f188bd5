/**
 * Runs the key rotation. While a job is unfinished, its steps run one after another as ordinary work in the
 * write lane's queue. The pauses between the steps leave most of a core to the requests. A job left by a
 * killed server continues after the next start. Write lane only.
 */
import { Chore } from '../../chore.js'
import { stepRotation, unfinishedRotation } from '../../domain/rotation.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import { type AuditEvent, emitAuditEvent } from '../../telemetry/audit.js'
import { log } from '../../telemetry/log.js'
import type { Work } from '../commit/commit_work.js'
import type { LaneContext } from '../request/handler.js'
import { DONE, type LaneWork } from './lane_work.js'

/** Interval at which the write lane checks for a requested rotation. */
const ROTATION_POLL_MS = 500
/**
 * Pause of the write lane between two steps of a rotation, as a multiple of the step: a fifth of one core.
 */
const ROTATION_REST_FACTOR = 4
/** The shortest such pause. */
const ROTATION_REST_MS_MIN = 2
/** Interval between two checks whether the objects that a rotation waits for have been moved. */
const ROTATION_WAIT_MS = 2_000

export function keyRotation({ lane, tools, enqueue }: LaneWork): Chore {
  let under: string | undefined
  return new Chore(tools, {
    name: 'key-rotation',
    first: ROTATION_POLL_MS,
    failure: 'the rotation of keys does not go on yet',
    round: async () => {
      const job = lane.store.read(unfinishedRotation)
      if (under !== undefined && under !== job?.id) reportEnd(lane, under)
      under = job?.id
      if (job === undefined) return ROTATION_POLL_MS
      const step = stepOf(job.id)
      await enqueue(step.work)
      // A server that was killed continues a job that is running: it has reported its start.
      if (job.fields.status === 'queued') report(job.id, 'encryption.rotation_started', 'ok')
      return step.waits() ? ROTATION_WAIT_MS : Math.max(ROTATION_REST_MS_MIN, step.tookMs() * ROTATION_REST_FACTOR)
    },
  })
}

function reportEnd(lane: LaneContext, id: string): void {
  const status = String(lane.store.read((view) => view.job('rotation', id))?.fields.status ?? 'gone')
  log.info('rotation of keys ended', { job: id, status })
  if (status === 'completed') report(id, 'encryption.rotation_completed', 'ok')
  else report(id, 'encryption.rotation_failed', 'fail')
}

/** The job has no client any more: the event of its request names that. */
function report(id: string, action: string, result: AuditEvent['result']): void {
  emitAuditEvent({ action, actor: '', resource: `/v1/encryption/jobs/${id}`, result, ip: '', userAgent: '', detail: id })
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
