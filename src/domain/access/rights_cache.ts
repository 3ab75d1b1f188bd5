/**
 * The rights of users, for the checks of one lane: read from the store, and kept until the access epoch
 * changes. The epoch is read before a batch takes its snapshot: what an older snapshot says must not be kept
 * for a newer epoch.
 */
import { Rights } from '../../access/rights.js'
import { BoundedCache } from '../../base/bounded_cache.js'
import { RIGHTS_KEPT_MAX } from '../../limits/access.js'
import type { View } from '../../store/view.js'
import { identityOfUser } from './accounts.js'

interface Kept {
  /** Undefined: there is no such user any more, or it is disabled. */
  readonly rights: Rights | undefined
  readonly epoch: number
}

export class RightsCache {
  readonly #kept = new BoundedCache<Kept>(RIGHTS_KEPT_MAX)
  #epoch = 0

  constructor(
    readonly control: { readonly accessEpoch: number },
    readonly bootstrapAdmin: string,
  ) {}

  /** Called before the first snapshot of each batch of requests. */
  beginBatch(): void {
    this.#epoch = this.control.accessEpoch
  }

  /** @param read runs on a snapshot that was taken since the batch began */
  rightsOf(username: string, read: <Result>(run: (view: View) => Result) => Result): Rights | undefined {
    const epoch = this.#epoch
    const kept = this.#kept.get(username)
    if (kept?.epoch === epoch) return kept.rights
    const identity = read((view) => identityOfUser(view, username, this.bootstrapAdmin))
    const rights = identity === undefined ? undefined : new Rights(identity.rights)
    this.#kept.set(username, { rights, epoch })
    return rights
  }
}
