/** Object I/O without object stores, for tests and benches of the front end that never access one. */
import { ObjectIo } from '../../../src/background/objects/object_io.js'
import { ObjectStores } from '../../../src/outbound/object_stores.js'
import { Outbound } from '../../../src/outbound/safe_fetch.js'

export const noObjects = new ObjectIo(
  new ObjectStores(new Outbound({ allowed: [], allowPrivate: false }), { has: () => false, cache: () => undefined }),
)
