/**
 * Tells the front end what has changed: settings, jobs, sealings, locations of bodies, deleted collections.
 * It looks at entries and not at requests, so that no other surface, replay or follower bypasses whoever
 * watches. Which entries have a topic is said by their kinds (`topicOf`). The first notice of a lane has the
 * topic `store`: another store may be served than before, and everything is to be looked at.
 */
import { NOTICE_ENTRIES_MAX } from '../limits/consumers.js'
import type { BinlogConsumer, ConsumerTools } from './consumer.js'

/** Another store is served from now on, or notices were lost. */
export const STORE_TOPIC = 'store'

export function changeNotices({ notify }: ConsumerTools): BinlogConsumer {
  let isFirst = true
  return {
    name: 'change-notices',
    position: 'present',
    writesUnasked: false,
    delayMs: 0,
    pauseMs: 0,
    next: (view, after) => {
      const { topics, lsn } = view.binlog.topicsAfter(after, NOTICE_ENTRIES_MAX)
      if (isFirst) topics.add(STORE_TOPIC)
      isFirst = false
      if (topics.size > 0) notify([...topics])
      return { lsn, isMore: lsn - after >= BigInt(NOTICE_ENTRIES_MAX) }
    },
  }
}
