/**
 * Wakes the change feed (src/background/feed) after commits, while it has clients. It reads no entries: the
 * feed reads them on a read lane, so that neither reading nor encoding holds up a commit.
 */
import type { BinlogConsumer, ConsumerTools } from './consumer.js'

/** Topic of the notice: entries were committed. */
const FEED_TOPIC = 'changes'
/**
 * Milliseconds in which commits are gathered: at most 500 notices a second, however many commits there are.
 */
const FEED_DELAY_MS = 2

export function changeFeed({ notify, isFeedWatched }: ConsumerTools): BinlogConsumer {
  return {
    name: 'change-feed',
    position: 'present',
    writesUnasked: false,
    isWanted: isFeedWatched,
    delayMs: FEED_DELAY_MS,
    pauseMs: 0,
    next: (view) => {
      if (isFeedWatched()) notify([FEED_TOPIC])
      return { lsn: view.lastLsn(), isMore: false }
    },
  }
}
