/** Common parts of the rows of all collection settings. Pure data. */
import { DEADLINE_POINT_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'

export const inCollection = { collections: named('collection'), group: 'Collection settings' } as const
export const asked = { effect: 'read', permission: 'read', deadlineMs: DEADLINE_POINT_MS, audit: null } as const
export const changed = { effect: 'write', permission: 'write', cost: 'write', deadlineMs: DEADLINE_WRITE_MS } as const
