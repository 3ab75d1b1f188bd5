/** The registry of all binlog consumers: a consumer runs once it has its line here. */
import { changeFeed } from './change_feed.js'
import { changeNotices } from './change_notices.js'
import type { ConsumerMaker } from './consumer.js'
import { revisionPacking } from './revision_packing.js'
import { webhookPlanning } from './webhook_planning.js'

export const CONSUMERS: readonly ConsumerMaker[] = [revisionPacking, changeNotices, webhookPlanning, changeFeed]
/** Of those that read every entry: their names, and their numbers in this order. */
export const FOLLOWING_CONSUMERS: readonly (readonly [name: string, index: number])[] = CONSUMERS.flatMap((make, index) => {
  const { name, isWanted } = make({ notify: () => undefined, isFeedWatched: () => false, backlogMax: { ofHook: 0, ofAll: 0 } })
  return isWanted === undefined ? [[name, index] as const] : []
})
