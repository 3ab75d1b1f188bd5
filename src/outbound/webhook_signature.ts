/**
 * Signatures of Standard Webhooks (version 1): HMAC-SHA256 over id, time and body, which the receiver
 * computes again. With two secrets there are two, so that a receiver may change from one to the other. Pure.
 */
import { createHmac } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'

/** @param secrets base64 behind `whsec_`; the first is the present one @param at Unix seconds */
export function signedHeaders(id: string, at: number, body: Uint8Array, secrets: readonly string[]): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => `v1,${signatureOf(id, at, body, secret)}`)
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signatures.join(' ') }
}

function signatureOf(id: string, at: number, body: Uint8Array, secret: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64')
}
