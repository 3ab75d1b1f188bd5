/** The registration of all consumers of the binlog: a consumer runs once it has its line here. */
import { changeNotices } from './change_notices.js'
import type { ConsumerMaker } from './consumer.js'
import { revisionPacking } from './revision_packing.js'

export const CONSUMERS: readonly ConsumerMaker[] = [revisionPacking, changeNotices]
