/** The registry of all binlog consumers: a consumer runs once it has its line here. */
import { changeNotices } from './change_notices.js'
import type { ConsumerMaker } from './consumer.js'
import { revisionPacking } from './revision_packing.js'
import { webhookPlanning } from './webhook_planning.js'

export const CONSUMERS: readonly ConsumerMaker[] = [revisionPacking, changeNotices, webhookPlanning]
/** Their names, in this order. */
export const CONSUMER_NAMES: readonly string[] = CONSUMERS.map(
  (make) => make({ notify: () => undefined, backlogMax: { ofHook: 0, ofAll: 0 } }).name,
)
