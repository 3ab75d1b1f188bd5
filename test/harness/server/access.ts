/**
 * Servers with access control for tests: their environment, tokens without a login, and requests on behalf of
 * users.
 */
import assert from 'node:assert/strict'
import type { Grant } from '../../../src/access/rights.js'
import { TokenSigner } from '../../../src/access/tokens.js'
import type { Server, TestResponse } from './server.js'

export const JWT_SECRET = 'a secret of tests, which is long enough'
export const ADMIN_PASSWORD = 'the password of the administrator'

/**
 * Cheap hashes, as what is tested is not their cost. Two HTTP loops: what is kept for a credential is kept by
 * each of them.
 */
export const ACCESS_ENV: Readonly<Record<string, string>> = {
  SVC_AUTH_ENABLED: 'true',
  SVC_AUTH_JWT_SECRET: JWT_SECRET,
  SVC_AUTH_ADMIN_PASSWORD: ADMIN_PASSWORD,
  SVC_HTTP_LOOPS: '2',
  SVC_LIMIT_BCRYPT_COST: '4',
}

/** Hashes of the cost that production has. */
export const REAL_HASHES = { ...ACCESS_ENV, SVC_LIMIT_BCRYPT_COST: undefined }

export type Headers = Readonly<Record<string, string>>

/** A token as a login would give it, without the time of its hash. */
export function tokenOf(username: string, tokenEpoch = 1, validMs = 3_600_000): string {
  return new TokenSigner(JWT_SECRET, validMs).issue({ username, isAdmin: false, tokenEpoch }).token
}

export function bearer(text: string): Headers {
  return { authorization: `Bearer ${text}` }
}

export function asUser(username: string): Headers {
  return bearer(tokenOf(username))
}

/** The administrator of a server with `ACCESS_ENV`. */
export class Admin {
  readonly headers = asUser('admin')

  constructor(readonly server: Server) {}

  async do(method: string, path: string, body?: unknown): Promise<TestResponse> {
    const answer = await this.server.request(method, path, body, this.headers)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }

  async register(username: string, password = `the password of ${username}`): Promise<void> {
    await this.do('POST', '/v1/auth/register', { username, password })
  }

  async grant(username: string, collection: string, grant: Partial<Grant>): Promise<void> {
    await this.do('POST', '/v1/auth/permissions', { username, collection, ...grant })
  }

  async grantGroup(group: string, collection: string, grant: Partial<Grant>): Promise<void> {
    await this.do('POST', '/v1/auth/group-permissions', { group, collection, ...grant })
  }
}

/** An API key of the user. */
export async function keyOf(server: Server, username: string, expiresAt = 0): Promise<string> {
  const answer = await server.post('/v1/auth/api-key', { description: 'of a test', expiresAt }, asUser(username))
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ readonly key: string }>().key
}
