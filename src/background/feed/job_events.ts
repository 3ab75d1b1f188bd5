/**
 * Events of jobs for the clients of the change feed: started, progress, completed, failed, cancelled. They
 * have no ids. One object follows the jobs of one stream of pages. Front-end thread only.
 */
import { BoundedCache } from '../../base/bounded_cache.js'
import type { JobNews } from '../../domain/feed/feed_types.js'

/** Jobs whose course is remembered: 64 wait at most, and 256 finished ones are kept. */
const FEED_JOBS_KEPT_MAX = 1_024
/** Milliseconds between two events about the progress of a job. */
const JOB_PROGRESS_MS_MIN = 1_000

export interface JobEvent {
  readonly lsn: number
  readonly event: string
  readonly collection: string
  readonly job: string
  readonly text: string
}

interface Course {
  readonly isStarted: boolean
  readonly isEnded: boolean
  readonly progressAt: number
}

const ENDS: Readonly<Record<string, string>> = { completed: 'job.completed', failed: 'job.failed', cancelled: 'job.cancelled' }
const MADE: Course = { isStarted: false, isEnded: false, progressAt: -Infinity }

export class JobEvents {
  readonly #courses = new BoundedCache<Course>(FEED_JOBS_KEPT_MAX)

  /** @returns none, one, or that it has started and something else */
  of(news: JobNews): readonly JobEvent[] {
    const { job, status, isNew } = news
    if (isNew) {
      this.#courses.set(job, MADE)
      return []
    }
    // Of a job that was made before the first client came, it is not known whether it has started.
    const course = this.#courses.get(job) ?? { ...MADE, isStarted: true }
    if (course.isEnded) return []
    const end = ENDS[status]
    const now = performance.now()
    const started = course.isStarted || status === 'cancelled' ? [] : [eventOf(news, 'job.started')]
    const isDue = end === undefined && course.isStarted && now - course.progressAt >= JOB_PROGRESS_MS_MIN
    this.#courses.set(job, {
      isStarted: true,
      isEnded: end !== undefined,
      progressAt: isDue || started.length > 0 ? now : course.progressAt,
    })
    return [...started, ...(isDue ? [eventOf(news, 'job.progress')] : []), ...(end === undefined ? [] : [eventOf(news, end)])]
  }
}

/** How a job has ended, for a client that was not there; nothing of its course. */
export function endOfJob(news: JobNews): readonly JobEvent[] {
  const end = news.isNew ? undefined : ENDS[news.status]
  return end === undefined ? [] : [eventOf(news, end)]
}

function eventOf({ lsn, job, collection, record }: JobNews, event: string): JobEvent {
  const timestamp = Math.floor(Date.now() / 1000)
  const text = `event: ${event}\ndata: ${JSON.stringify({ event, timestamp, job: record })}\n\n`
  return { lsn, event, collection, job, text }
}
