/**
 * Finds out who asks: checks the credential of a request before its body is read. What is found out is kept
 * for the credential as it came, until the access epoch changes, the credential expires, or a minute has
 * passed. The epoch word is raised before a change of rights is acknowledged, so a change holds from the next
 * request on, on every event loop. One object an event loop. Decision:
 * docs/decisions/operation/access-control.md.
 */
import { BoundedCache } from '../base/bounded_cache.js'
import type { ErrorCode } from '../errors.js'
import type { Operation } from '../operations/row/operation.js'
import { type Checked, type CheckedRequest, emitCheck } from './checks.js'
import { type Credential, type CredentialFields, credentialOf, storedHashOf } from './credentials.js'
import type { FailureReports } from './failure_reports.js'
import type { AskedIdentity, Identity } from './principal.js'
import { ANONYMOUS, GUEST, type Principal, REFUSED_GUEST } from './principal.js'
import { Rights } from './rights.js'
import { TokenReader } from './tokens.js'

/** Identified credentials that one event loop keeps: some 4 MB with tokens. */
const IDENTITIES_KEPT_MAX = 4_096
/**
 * An event loop asks for the owner of a token or an API key again after this time at the latest. So it is the
 * precision of a key's last use.
 */
const IDENTITY_KEPT_MS_MAX = 60_000

/** Asks the store who a credential belongs to. @returns null: nobody; a code: it can't be said now */
type Identify = (asked: AskedIdentity) => Promise<Identity | null | ErrorCode>

interface Kept {
  readonly principal: Principal
  readonly epoch: number
  /** Milliseconds since the epoch. */
  readonly until: number
}

interface Asked {
  readonly epoch: number
  readonly found: Promise<Checked>
}

export interface AuthenticatorParts {
  /** Null: access control is off. */
  readonly jwtSecret: string | null
  readonly control: { readonly accessEpoch: number }
  readonly identify: Identify
  readonly failures: FailureReports
}

export class Authenticator {
  readonly #parts: AuthenticatorParts
  readonly #tokens: TokenReader | null
  readonly #kept = new BoundedCache<Kept>(IDENTITIES_KEPT_MAX)
  /** Credentials that are being looked up, so that each is asked for once. */
  readonly #asked = new Map<string, Asked>()

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts
    this.#tokens = parts.jwtSecret === null ? null : new TokenReader(parts.jwtSecret)
  }

  /** @returns a promise while the store is asked; it never rejects */
  check(operation: Operation, request: CheckedRequest): Checked | Promise<Checked> {
    const tokens = this.#tokens
    if (tokens === null) return ANONYMOUS
    if (operation.knowsCaller === true && operation.permission === 'public') return this.#callerOf(tokens, request)
    return operation.permission === 'public' ? GUEST : this.#check(tokens, request, operation.needsLogin === true)
  }

  /** @returns who asks, as far as that is known without a look-up; a guest otherwise */
  known(fields: CredentialFields): Principal {
    const credential = this.#tokens === null ? null : credentialOf(fields)
    const kept = credential === null || credential.kind === 'unreadable' ? undefined : this.#kept.get(credential.text)
    return kept !== undefined && this.#isCurrent(kept) ? kept.principal : GUEST
  }

  /** For what is open to every user. @returns as `check` */
  checkUser(request: CheckedRequest): Checked | Promise<Checked> {
    return this.#tokens === null ? ANONYMOUS : this.#check(this.#tokens, request, false)
  }

  /** As `checkUser`, for what was admitted and goes on. It is no request: no event, and no failure. */
  recheck(fields: CredentialFields): Checked | Promise<Checked> {
    return this.#tokens === null ? ANONYMOUS : this.#identify(this.#tokens, credentialOf(fields), false)
  }

  /** For what is open to administrators of the server only. Access control must be on. */
  async checkAdmin(request: CheckedRequest): Promise<Checked> {
    if (this.#tokens === null) return 'missingAuthentication'
    const checked = await this.#check(this.#tokens, request, false)
    return typeof checked === 'string' || checked.rights?.isAdmin === true ? checked : 'adminRequired'
  }

  #check(tokens: TokenReader, request: CheckedRequest, needsLogin: boolean): Checked | Promise<Checked> {
    const credential = credentialOf(request)
    const checked = this.#identify(tokens, credential, needsLogin)
    emitCheck(request, credential, checked)
    this.#parts.failures.watch(checked, request)
    return checked
  }

  #callerOf(tokens: TokenReader, request: CheckedRequest): Principal | Promise<Principal> {
    if (request.authorization === '' && request.apiKey === '') return GUEST
    const checked = this.#check(tokens, request, false)
    return checked instanceof Promise ? checked.then(orGuest) : orGuest(checked)
  }

  #identify(tokens: TokenReader, credential: Credential | null, needsLogin: boolean): Checked | Promise<Checked> {
    if (credential === null) return 'missingAuthentication'
    if (credential.kind === 'unreadable') return 'invalidToken'
    if (credential.kind === 'key' && needsLogin) return 'loginRequired'
    const kept = this.#kept.get(credential.text)
    if (kept !== undefined && this.#isCurrent(kept)) return kept.principal
    return credential.kind === 'token' ? this.#checkToken(tokens, credential.text) : this.#checkKey(credential.text)
  }

  #isCurrent({ epoch, until }: Kept): boolean {
    return epoch === this.#parts.control.accessEpoch && Date.now() < until
  }

  #checkToken(tokens: TokenReader, text: string): Checked | Promise<Checked> {
    const claims = tokens.read(text)
    if (claims === null) return 'invalidToken'
    const { username, tokenEpoch, expiresAt } = claims
    return this.#find({ kind: 'token', text }, { username }, ({ tokenEpoch: current }) =>
      current === tokenEpoch ? keptUntil(expiresAt) : null,
    )
  }

  #checkKey(text: string): Checked | Promise<Checked> {
    const keyHash = storedHashOf(text)
    if (keyHash === null) return 'invalidApiKey'
    return this.#find({ kind: 'key', text }, { keyHash }, ({ expiresAt }) => keptUntil(expiresAt))
  }

  /** @param untilOf returns until when the identity may be kept; null: the credential is not valid */
  #find(
    { kind, text }: Exclude<Credential, { kind: 'unreadable' }>,
    asked: AskedIdentity,
    untilOf: (identity: Identity) => number | null,
  ): Promise<Checked> {
    // Read first: a change that is made meanwhile makes what is kept invalid.
    const epoch = this.#parts.control.accessEpoch
    const before = this.#asked.get(text)
    // A look-up that began before a change may say what held before it.
    if (before?.epoch === epoch) return before.found
    const found = this.#ask(asked, { kind, text, epoch, untilOf }).then((checked) => {
      if (this.#asked.get(text)?.found === found) this.#asked.delete(text)
      return checked ?? (kind === 'token' ? 'invalidToken' : 'invalidApiKey')
    })
    this.#asked.set(text, { epoch, found })
    return found
  }

  async #ask(
    asked: AskedIdentity,
    {
      kind,
      text,
      epoch,
      untilOf,
    }: {
      readonly kind: 'token' | 'key'
      readonly text: string
      readonly epoch: number
      readonly untilOf: (identity: Identity) => number | null
    },
  ): Promise<Checked | null> {
    const identity = await this.#parts.identify(asked)
    if (identity === null || typeof identity === 'string') return identity
    const until = untilOf(identity)
    if (until === null) return null
    const rights = new Rights(identity.rights)
    const principal: Principal = { kind: 'user', name: identity.username, ...(kind === 'key' ? { shown: 'key' } : {}), rights }
    this.#kept.set(text, { principal, epoch, until })
    return principal
  }
}

function orGuest(checked: Checked): Principal {
  return typeof checked === 'string' ? REFUSED_GUEST : checked
}

/** @param expiresAt Unix seconds; 0: never. @returns milliseconds since the epoch */
function keptUntil(expiresAt: number): number {
  return Math.min(Date.now() + IDENTITY_KEPT_MS_MAX, expiresAt === 0 ? Infinity : expiresAt * 1000)
}
