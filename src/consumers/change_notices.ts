/**
 * Notifies the front end of changes: settings, jobs, sealings, locations of bodies, deleted collections. It
 * reads entries and not requests, so that no surface, replay or follower bypasses the watchers. The kinds of
 * entries define which of them have a topic (`topicOf`). The first notice of a lane has the topic `store`:
 * another store may be served than before, and everything is to be checked. So does a notice after entries
 * were trimmed unseen, as on a full disk.
 */
import type { BinlogConsumer, ConsumerTools } from './consumer.js'

/** Entries of the binlog that one slice examines for notices: about 0.2 ms if none has a topic. */
const NOTICE_ENTRIES_MAX = 1024

/** Another store is served from now on, or notices were lost. */
const STORE_TOPIC = 'store'

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
      if (isFirst || after < view.storeCounters().trimmedLsn) topics.add(STORE_TOPIC)
      isFirst = false
      if (topics.size > 0) notify([...topics])
      return { lsn, isMore: lsn - after >= BigInt(NOTICE_ENTRIES_MAX) }
    },
  }
}
