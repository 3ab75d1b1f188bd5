/** Who a credential belongs to, as the store knows it. Plain data; it crosses threads. */
import type { PlainRights } from './rights.js'

/** Either names what is asked for. */
export interface AskedIdentity {
  readonly username?: string
  /** SHA-256 of an API key, in hexadecimal digits. */
  readonly keyHash?: string
  /** SHA-256 of a key of MCP, likewise. */
  readonly mcpKeyHash?: string
}

export interface Identity {
  readonly username: string
  /** Tokens of another epoch are not valid. */
  readonly tokenEpoch: number
  readonly rights: PlainRights
  /** Unix seconds until which the API key is valid; 0: without end. */
  readonly expiresAt: number
}
