/**
 * A pushed answer whose client must stay admitted: an answer without an end outlives changes of rights.
 * Before anything is written in another access epoch than the last, the credential is checked again. If it is
 * refused, nothing more is written and the answer ends. A quiet answer is looked at every second. On the
 * thread of its surface.
 */
import type { Authenticator } from '../access/authenticator.js'
import type { Checked } from '../access/checks.js'
import type { CredentialFields } from '../access/credentials.js'
import type { BodyPush, DetachReason, PushedBody } from '../wire/body_streams.js'

/** Between two looks at a quiet answer: how long the client of a revoked credential stays connected. */
const GUARD_MS = 1_000
/** A credential is checked again after this time, for one that expires while no rights change. */
const GUARD_CHECKED_MS_MAX = 60_000

interface PushGuard {
  readonly config: { readonly authEnabled: boolean }
  readonly control: { readonly accessEpoch: number }
  readonly authenticator: Pick<Authenticator, 'recheck'>
}

/** @param client its credential, as it came */
export function guardedPush(body: PushedBody, guard: PushGuard, client: CredentialFields): PushedBody {
  return guard.config.authEnabled ? new GuardedPush(body, guard, client) : body
}

class GuardedPush implements PushedBody, BodyPush {
  readonly pulse: Uint8Array
  readonly farewell?: Uint8Array
  readonly #body: PushedBody
  readonly #guard: PushGuard
  readonly #client: CredentialFields
  #push: BodyPush | undefined
  #watch: NodeJS.Timeout | undefined
  /** What waits for a check. Undefined: none runs. The producer has been told to wait. */
  #held: Uint8Array[] | undefined
  #isEnding = false
  #epoch: number | undefined
  #checkedAt = 0

  constructor(body: PushedBody, guard: PushGuard, client: CredentialFields) {
    this.pulse = body.pulse
    if (body.farewell !== undefined) this.farewell = body.farewell
    this.#body = body
    this.#guard = guard
    this.#client = client
  }

  attach(push: BodyPush): void {
    this.#push = push
    this.#watch = setInterval(() => {
      if (this.#held === undefined && !this.#isCurrent()) this.#hold([])
    }, GUARD_MS).unref()
    this.#body.attach(this)
  }

  detach(reason: DetachReason): void {
    this.#stop()
    this.#body.detach(reason)
  }

  drained(): void {
    if (this.#held === undefined) this.#body.drained?.()
  }

  write(bytes: Uint8Array): boolean {
    if (this.#push === undefined || this.#isEnding) return false
    if (this.#held === undefined && this.#isCurrent()) return this.#push.write(bytes)
    if (this.#held === undefined) return this.#hold([bytes])
    this.#held.push(bytes)
    return false
  }

  end(): void {
    this.#isEnding = true
    if (this.#held !== undefined) return
    this.#push?.end()
    this.#stop()
  }

  close(): void {
    this.#push?.close()
    this.#stop()
  }

  #isCurrent(): boolean {
    return this.#epoch === this.#guard.control.accessEpoch && performance.now() - this.#checkedAt < GUARD_CHECKED_MS_MAX
  }

  /** @returns as `write` */
  #hold(bytes: Uint8Array[]): boolean {
    this.#held = bytes
    const epoch = this.#guard.control.accessEpoch
    const checked = this.#guard.authenticator.recheck(this.#client)
    if (!(checked instanceof Promise)) return this.#settle(checked, epoch)
    void checked.then((found) => {
      if (this.#settle(found, epoch)) this.#body.drained?.()
    })
    return false
  }

  /** @returns whether the client has taken everything, and the answer goes on */
  #settle(found: Checked, epoch: number): boolean {
    const held = this.#held
    const push = this.#push
    this.#held = undefined
    if (held === undefined || push === undefined) return false
    if (typeof found === 'string') {
      this.#stop()
      push.end()
      if (!this.#isEnding) this.#body.detach('refused')
      return false
    }
    this.#epoch = epoch
    this.#checkedAt = performance.now()
    let isTaken = true
    for (const piece of held) isTaken = push.write(piece) && isTaken
    if (this.#isEnding) this.end()
    return isTaken && !this.#isEnding
  }

  #stop(): void {
    clearInterval(this.#watch)
    this.#push = undefined
    this.#held = undefined
  }
}
