/**
 * The rotation of keys as the write lane drives it: as long as a job is unfinished, one step of it after another as ordinary work in the queue, with rests between them that leave most of a core to
 * the requests. A job that a killed server has left goes on with the next start. Runs on the write lane's event loop.
 */
import { stepRotation, unfinishedRotation } from '../../domain/rotation.js'
import { COMMIT_SLICE_DOCUMENTS_MAX, ROTATION_POLL_MS, ROTATION_REST_FACTOR, ROTATION_REST_MS_MIN, ROTATION_WAIT_MS } from '../../limits.js'
import { log } from '../../telemetry/log.js'
import type { Work } from '../commit/commit_work.js'
import type { LaneContext } from '../request/handler.js'

/**
 * @param enqueue puts work into the commit queue and resolves when it is on disk
 * @returns a function that stops it; a step that is queued still runs
 */
export function rotationWork(lane: LaneContext, enqueue: (work: Work) => Promise<unknown>): () => void {
  if (lane.config.encryption === null) return () => undefined
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  const later = (restMs: number): void => {
    if (!isStopped) timer = setTimeout(() => void round(), restMs)
  }
  let under: string | undefined
  const round = async (): Promise<void> => {
    const job = lane.store.read(unfinishedRotation)
    if (under !== undefined && under !== job?.id) logEnd(lane, under)
    under = job?.id
    if (job === undefined) {
      later(ROTATION_POLL_MS)
      return
    }
    const step = stepOf(job.id)
    await enqueue(step.work)
    later(step.waits() ? ROTATION_WAIT_MS : Math.max(ROTATION_REST_MS_MIN, step.tookMs() * ROTATION_REST_FACTOR))
  }
  later(ROTATION_POLL_MS)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
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
    weight: COMMIT_SLICE_DOCUMENTS_MAX,
    run: (transaction) => {
      const begun = performance.now()
      waits = stepRotation(transaction, id, Date.now())
      tookMs = performance.now() - begun
      return false
    },
    answer: () => ({ body: '' }),
  }
  return { work, tookMs: () => tookMs, waits: () => waits }
}
