/** Calls by HTTP, by the first route of the operation. */
import assert from 'node:assert/strict'
import { operationByName } from '../../../src/operations/index.js'
import type { Server } from '../server/server.js'
import { httpRequestOf } from './http_request.js'
import { type Caller, type Fields, type Outcome, type Refusal, refused, succeeded } from './outcome.js'

const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: 'invalid', 401: 'unauthenticated', 403: 'forbidden', 404: 'not found', 409: 'conflict', 413: 'invalid', 422: 'invalid',
  429: 'unavailable', 500: 'internal', 503: 'unavailable',
} // prettier-ignore

export class HttpCaller implements Caller {
  readonly protocol = 'HTTP'

  constructor(readonly server: Server) {}

  async call(name: string, input: Fields, headers: Readonly<Record<string, string>>): Promise<Outcome> {
    const row = operationByName.get(name)
    assert.ok(row, name)
    const asked = await httpRequestOf(row, input)
    const answer = await this.server.request(asked.method, asked.path, asked.body, { ...asked.headers, ...headers })
    if (answer.status < 300) {
      const isJson = answer.headers['content-type']?.startsWith('application/json') === true
      const value: unknown = isJson ? answer.json<unknown>() : answer.text
      const total = answer.headers['x-total-count']
      return succeeded(total === undefined ? value : { documents: value, total: Number(total) })
    }
    const { error } = answer.json<{ readonly error?: string }>()
    return refused(REFUSALS[answer.status] ?? 'internal', error ?? '')
  }
}
