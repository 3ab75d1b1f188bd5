/**
 * Tokens of logins: JSON Web Tokens, signed with HMAC-SHA-256 and no other algorithm. A token says who its
 * owner is and until when it is valid. What the owner may do is looked up for each request, so the claim
 * `admin` is for clients only. Claims: service-2, "Authentication". Any thread.
 */
import { createRequire } from 'node:module'
import type { VerifierOptions } from 'fast-jwt'

const require = createRequire(import.meta.url)
/** Loaded only where access control is on (docs/decisions/operation/starting.md). */
const jwt = (): typeof import('fast-jwt') => require('fast-jwt') as typeof import('fast-jwt')

const ALGORITHM = 'HS256'
/** Tokens of other issuers with the same secret are refused. */
const ISSUER = 'mds'
/** Tokens of this issuer for another service are refused. */
const AUDIENCE = 'mds'

interface TokenOwner {
  readonly username: string
  readonly isAdmin: boolean
  /** Raised when all tokens of the user are to become invalid. */
  readonly tokenEpoch: number
}

interface Claims {
  readonly username: string
  readonly tokenEpoch: number
  /** Unix seconds. */
  readonly expiresAt: number
}

export class TokenSigner {
  readonly #sign: (payload: object) => string

  constructor(
    secret: string,
    readonly validMs: number,
  ) {
    this.#sign = jwt().createSigner({ key: secret, algorithm: ALGORITHM })
  }

  /** @returns the token, and the Unix seconds until which it is valid */
  issue({ username, isAdmin, tokenEpoch }: TokenOwner): { readonly token: string; readonly expiresAt: number } {
    const expiresAt = Math.floor((Date.now() + this.validMs) / 1000)
    return { token: this.#sign({ iss: ISSUER, aud: AUDIENCE, username, admin: isAdmin, epoch: tokenEpoch, exp: expiresAt }), expiresAt }
  }
}

export class TokenReader {
  readonly #verify: (token: string) => unknown

  constructor(secret: string) {
    // Claims without which a token is not valid; `read` checks those of its own and `exp`.
    const requiredClaims = ['iss', 'aud']
    const allowed = { algorithms: [ALGORITHM], allowedIss: ISSUER, allowedAud: AUDIENCE } satisfies Partial<VerifierOptions>
    this.#verify = jwt().createVerifier({ key: secret, ...allowed, requiredClaims, cache: false })
  }

  /** @returns null for a token that is not valid now, for whatever reason */
  read(token: string): Claims | null {
    let payload: unknown
    try {
      payload = this.#verify(token)
    } catch {
      return null
    }
    const { username, epoch, exp } = (payload ?? {}) as Readonly<Record<string, unknown>>
    if (typeof username !== 'string' || username === '' || typeof epoch !== 'number' || typeof exp !== 'number') return null
    return { username, tokenEpoch: epoch, expiresAt: exp }
  }
}
