/** The text of API keys: service-2, "Authentication". They are stored by their SHA-256. Pure; any thread. */
import { createHash, randomBytes } from 'node:crypto'

/** Known to scanners of leaked secrets. */
export const KEY_PREFIX = 'svc_live_'
const KEY_RANDOM_BYTES = 24
const KEY = new RegExp(`^${KEY_PREFIX}[0-9a-f]{${2 * KEY_RANDOM_BYTES}}$`)

export function newKey(): string {
  return `${KEY_PREFIX}${randomBytes(KEY_RANDOM_BYTES).toString('hex')}`
}

/** Of MCP. Its text is not checked, because the operator may configure keys of any form. */
export function newMcpKey(): string {
  return `mcp_${randomBytes(KEY_RANDOM_BYTES).toString('hex')}`
}

/** Whether the text can be a key. Others need not be looked up. */
export function isKeyText(text: string): boolean {
  return KEY.test(text)
}

/**
 * Hexadecimal digits. A key has 192 random bits, so that a hash of one round can't be reversed, and a look-up
 * by it tells nothing by its time.
 */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
