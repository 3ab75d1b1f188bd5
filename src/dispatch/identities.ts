/**
 * Who credentials belong to, and what users may do, as the store says. It asks a lane, for the event loops
 * that check credentials, and keeps the rights of users for requests that come by a port with a name only.
 * Front-end thread only.
 */
import type { AskedIdentity, Identity, Principal } from '../access/principal.js'
import { Rights } from '../access/rights.js'
import { BoundedCache } from '../base/bounded_cache.js'
import type { ErrorCode } from '../errors.js'
import { RIGHTS_KEPT_MAX } from '../limits/access.js'
import { identify } from '../operations/access/auth.js'
import { log } from '../telemetry/log.js'
import type { Dispatcher } from './dispatcher.js'
import { askFor, Refused } from './inner_request.js'

interface KeptRights {
  readonly rights: Rights
  readonly epoch: number
}

export class Identities {
  readonly #rights = new BoundedCache<KeptRights>(RIGHTS_KEPT_MAX)

  constructor(
    readonly dispatcher: Dispatcher,
    /** Called for each API key that was found valid. */
    readonly onKeyUse: (hash: string) => void,
    /** Called for each token or API key that was refused, with the address of the client. */
    readonly onFailure: (ip: string) => void,
  ) {}

  /** Never rejects. @returns null for nobody, or the code of a refusal: it can't be said now */
  async identify(asked: AskedIdentity): Promise<Identity | null | ErrorCode> {
    const epoch = this.dispatcher.control.accessEpoch
    try {
      const { identity } = await askFor<{ readonly identity: Identity | null }>(this.dispatcher, identify, asked)
      if (identity === null) return null
      if (asked.keyHash !== undefined) this.onKeyUse(asked.keyHash)
      this.#rights.set(identity.username, { rights: new Rights(identity.rights), epoch })
      return identity
    } catch (error) {
      if (error instanceof Refused) return error.code
      log.error('access control', { fault: error })
      return 'internal'
    }
  }

  /**
   * The principal with its rights.
   * @param principal as it came from another thread
   * @returns a promise while a lane is asked
   */
  withRights(principal: Principal): Principal | Promise<Principal | ErrorCode> {
    const { kind, name } = principal
    const user = principal.shown === undefined ? { kind, name } : { kind, name, shown: principal.shown }
    if (kind !== 'user') return user
    const kept = this.#rights.get(name)
    if (kept !== undefined && kept.epoch === this.dispatcher.control.accessEpoch) return { ...user, rights: kept.rights }
    return this.identify({ username: name }).then((identity) => {
      if (identity === null) return 'invalidToken'
      return typeof identity === 'string' ? identity : { ...user, rights: new Rights(identity.rights) }
    })
  }
}
