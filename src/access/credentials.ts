/**
 * The credential that a request carries: a token, or an API key. The same for every surface, whose protocol
 * has both fields. Pure; any thread.
 */
import { CREDENTIAL_CHARS_MAX } from '../limits/access.js'
import { hashOfKey, isKeyText, KEY_PREFIX } from './api_keys.js'

/** The fields as they came; empty if there is none. */
export interface CredentialFields {
  /** `Bearer <token or API key>`. */
  readonly authorization: string
  /** `X-API-Key`. */
  readonly apiKey: string
}

export type Credential =
  | { readonly kind: 'token'; readonly text: string }
  | { readonly kind: 'key'; readonly text: string }
  /** Of another kind, or too long. */
  | { readonly kind: 'unreadable' }

const BEARER = /^bearer +(\S+) *$/i

/**
 * A token goes before an API key, which goes before an `Authorization` of another scheme, as a proxy may have
 * its own.
 * @returns null if there is none
 */
export function credentialOf({ authorization, apiKey }: CredentialFields): Credential | null {
  if (authorization === '' && apiKey === '') return null
  if (authorization.length > CREDENTIAL_CHARS_MAX || apiKey.length > CREDENTIAL_CHARS_MAX) return { kind: 'unreadable' }
  const bearer = BEARER.exec(authorization)?.[1]
  if (bearer !== undefined) return { kind: bearer.startsWith(KEY_PREFIX) ? 'key' : 'token', text: bearer }
  return apiKey === '' ? { kind: 'unreadable' } : { kind: 'key', text: apiKey }
}

/** @returns the hash by which the key is stored; null if the text is no key */
export function storedHashOf(key: string): string | null {
  return isKeyText(key) ? hashOfKey(key) : null
}
