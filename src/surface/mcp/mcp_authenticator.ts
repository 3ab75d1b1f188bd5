/**
 * Who asks on the port of MCP. With access control, clients show a token or an API key as elsewhere. With
 * keys of MCP, they show one of those and nothing else: keys of the configuration have the rights of the
 * bootstrap administrator, keys of the store those of the user who made them, within the access mode of MCP.
 * What was found out about a key is kept for a time, and until rights change. One object a thread.
 */
import { hashOfKey } from '../../access/api_keys.js'
import type { Authenticator } from '../../access/authenticator.js'
import { type Checked, type CheckedRequest, emitCheck } from '../../access/checks.js'
import { credentialOf } from '../../access/credentials.js'
import type { FailureReports } from '../../access/failure_reports.js'
import type { AskedIdentity, Identity } from '../../access/principal.js'
import { ANONYMOUS, type Principal } from '../../access/principal.js'
import { Rights } from '../../access/rights.js'
import { BoundedCache } from '../../base/bounded_cache.js'
import type { Config } from '../../config/config.js'
import type { ErrorCode } from '../../errors.js'
import { CREDENTIAL_CHARS_MAX } from '../../limits/access.js'

/** Keys of MCP whose owners are kept. */
const MCP_KEYS_KEPT_MAX = 4_096

/** A request as the port of MCP knows it. */
export interface McpRequest extends CheckedRequest {
  /** `?api_key=`; empty: none. */
  readonly queryKey: string
  addressKey(): string
}

export interface Identified {
  readonly principal: Principal
  /** Under which sessions and requests are counted: a user, a key, or the address of an anonymous client. */
  readonly identity: string
}

interface McpAuthenticatorParts {
  readonly config: Config
  readonly authenticator: Authenticator
  readonly control: { readonly accessEpoch: number }
  readonly identify: (asked: AskedIdentity) => Promise<Identity | null | ErrorCode>
  readonly failures: FailureReports
}

interface Kept {
  readonly identified: Identified
  readonly epoch: number
  /** Milliseconds since the epoch. */
  readonly until: number
}

export class McpAuthenticator {
  readonly #parts: McpAuthenticatorParts
  /** Names of the keys of the configuration, by hash: a comparison of keys takes the same time for all. */
  readonly #configured: ReadonlyMap<string, string>
  readonly #kept = new BoundedCache<Kept>(MCP_KEYS_KEPT_MAX)

  constructor(parts: McpAuthenticatorParts) {
    this.#parts = parts
    this.#configured = new Map(parts.config.mcpApiKeys.map(({ key, name }) => [hashOfKey(key), name]))
  }

  /** Must be called in the turn of the event loop in which the request came. Never rejects. */
  async check(request: McpRequest): Promise<Identified | ErrorCode> {
    if (this.#parts.config.mcpApiKeyEnabled) return await this.#checkKey(request)
    const checked = await this.#parts.authenticator.checkUser(request)
    if (typeof checked === 'string') return checked
    const identity = checked.kind === 'anonymous' ? `address ${request.addressKey()}` : `user ${checked.name}`
    return { principal: checked, identity }
  }

  /**
   * Whether the credential of a request that was admitted is still valid. While that can't be said, it is
   * taken to be: what goes on shows its credential again with each message. Never rejects.
   */
  async isStillAdmitted(request: McpRequest): Promise<boolean> {
    const { config, authenticator } = this.#parts
    const key = config.mcpApiKeyEnabled ? keyOf(request) : null
    const found = key === null ? await authenticator.recheck(request) : await this.#identified(key)
    return found !== 'invalidToken' && found !== 'invalidApiKey'
  }

  async #checkKey(request: McpRequest): Promise<Identified | ErrorCode> {
    const key = keyOf(request)
    const checked: Promise<Identified | ErrorCode> = key === null ? Promise.resolve('missingAuthentication') : this.#identified(key)
    const principal: Promise<Checked> = checked.then((found) => (typeof found === 'string' ? found : found.principal))
    emitCheck(request, key === null ? null : { kind: 'key', text: key }, principal)
    this.#parts.failures.watch(principal, request)
    return await checked
  }

  async #identified(key: string): Promise<Identified | ErrorCode> {
    if (key.length > CREDENTIAL_CHARS_MAX) return 'invalidApiKey'
    const hash = hashOfKey(key)
    // Read first: a change that is made meanwhile makes what is kept invalid.
    const epoch = this.#parts.control.accessEpoch
    const kept = this.#kept.get(hash)
    if (kept !== undefined && kept.epoch === epoch && Date.now() < kept.until) return kept.identified
    const found = await this.#find(hash)
    if (typeof found === 'string') return found
    const until = Math.min(Date.now() + this.#parts.config.mcpApiKeyCacheMs, found.expiresAt === 0 ? Infinity : found.expiresAt * 1000)
    const identified = { principal: found.principal, identity: `key ${hash}` }
    this.#kept.set(hash, { identified, epoch, until })
    return identified
  }

  async #find(hash: string): Promise<{ readonly principal: Principal; readonly expiresAt: number } | ErrorCode> {
    const { auth, authAdminUsername } = this.#parts.config
    const isConfigured = this.#configured.has(hash)
    if (isConfigured && auth === null) return { principal: ANONYMOUS, expiresAt: 0 }
    const identity = await this.#parts.identify(isConfigured ? { username: authAdminUsername } : { mcpKeyHash: hash })
    if (identity === null) return 'invalidApiKey'
    if (typeof identity === 'string') return identity
    const { username, rights, expiresAt } = identity
    if (auth === null) return { principal: ANONYMOUS, expiresAt }
    return { principal: { kind: 'user', name: username, rights: new Rights(rights) }, expiresAt }
  }
}

/** @returns null if there is none */
function keyOf(request: McpRequest): string | null {
  if (request.apiKey !== '') return request.apiKey
  const credential = credentialOf({ authorization: request.authorization, apiKey: '' })
  if (credential !== null && credential.kind !== 'unreadable') return credential.text
  return request.queryKey === '' ? null : request.queryKey
}
