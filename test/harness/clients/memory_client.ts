/** Requests of tests to the conversational memory of a server. */
import assert from 'node:assert/strict'
import type { Headers } from '../server/access.js'
import type { Server } from '../server/server.js'
import { type Fields, summary } from './documents_client.js'

export interface Session {
  readonly sessionId: string
  readonly userId: string
  readonly title: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly expiresAt?: number
  readonly messageCount: number
}

export interface Message {
  readonly messageId: string
  readonly id: string
  readonly key: string
  readonly content: string
  readonly contentMd: string
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly embedded: boolean
}

export class MemoryClient {
  #users = 0

  /** @param headers of all requests */
  constructor(
    readonly server: Server,
    readonly headers: Headers = {},
  ) {}

  /** @param path behind `/v1/memory/` */
  async ask<Answer = Fields>(path: string, body: Fields): Promise<Answer> {
    const answer = await this.server.post(`/v1/memory/${path}`, body, this.headers)
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.json<Answer>()
  }

  /** Status and text of an answer. */
  async refused(path: string, body: Fields): Promise<string> {
    return summary(await this.server.post(`/v1/memory/${path}`, body, this.headers))
  }

  /** Of a user of its own, unless one is given. */
  async start(more: Fields = {}): Promise<Session> {
    return await this.ask('session', { userId: `user${++this.#users}`, ...more })
  }

  async say(sessionId: string, content: string, more: Fields = {}): Promise<Fields> {
    return await this.ask('message', { sessionId, role: 'user', content, ...more })
  }

  async history(sessionId: string, more: Fields = {}): Promise<{ readonly messages: readonly Message[]; readonly total: number }> {
    return await this.ask('history', { sessionId, ...more })
  }

  async sessions(body: Fields): Promise<{ readonly sessions: readonly Session[]; readonly total: number }> {
    return await this.ask('sessions', body)
  }

  async document(collection: string, key: string): Promise<Fields> {
    return (await this.server.post('/v1/get', { collection, key, lang: 'en' })).json<Fields>()
  }
}
