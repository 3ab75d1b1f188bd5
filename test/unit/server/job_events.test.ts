/** Events of jobs in the change feed (src/background/feed/job_events.ts): which, and how often. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { endOfJob, JobEvents } from '../../../src/background/feed/job_events.js'
import type { JobNews } from '../../../src/domain/feed/feed_types.js'

const news = (status: string, job = 'bulk_1', isNew = false): JobNews => ({
  lsn: 1,
  job,
  collection: 'c',
  status,
  isNew,
  record: { status },
})

it('job events: progress at most once a second and job, then one end; a cancelled job has not started', (test) => {
  let now = 10_000
  test.mock.method(performance, 'now', () => now)
  const events = new JobEvents()
  const of = (status: string, job?: string): string[] => events.of(news(status, job)).map(({ event }) => event)
  assert.deepEqual(events.of(news('pending', 'bulk_1', true)), [])
  assert.deepEqual(of('processing'), ['job.started'])
  now += 999
  assert.deepEqual(of('processing'), [])
  now += 1
  assert.deepEqual(of('processing'), ['job.progress'])
  assert.deepEqual(of('processing', 'bulk_2'), ['job.progress'], 'another job, whose start was not seen')
  now += 500
  assert.deepEqual(of('processing'), [])
  assert.deepEqual(of('failed'), ['job.failed'])
  assert.deepEqual(of('failed'), [], 'its record may change once more')
  events.of(news('pending', 'bulk_3', true))
  assert.deepEqual(of('completed', 'bulk_3'), ['job.started', 'job.completed'])
  events.of(news('pending', 'bulk_4', true))
  assert.deepEqual(of('cancelled', 'bulk_4'), ['job.cancelled'])
  const [event] = endOfJob(news('completed'))
  assert.match(
    event?.text ?? '',
    /^event: job\.completed\ndata: \{"event":"job\.completed","timestamp":\d+,"job":\{"status":"completed"\}\}\n\n$/,
  )
  assert.deepEqual([endOfJob(news('processing')), endOfJob(news('pending', 'x', true))], [[], []])
})
