/** A receiver of webhooks: what was posted to it, and what it answers. */
import assert from 'node:assert/strict'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { untilHolds } from './process/until.js'
import type { Server } from './server/server.js'

/**
 * Receivers of tests are on this machine. Waits between attempts are a hundredth of those of the contract.
 */
export const WEBHOOK_ENV = { SVC_OUTBOUND_ALLOW_PRIVATE: 'true', SVC_LIMIT_WEBHOOK_WAIT_PERCENT: '1' } as const

export interface Post {
  readonly path: string
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly payload: Payload
  /** Milliseconds of a monotonic clock. */
  readonly at: number
}

export interface Payload {
  readonly event: string
  readonly type: string
  readonly collection: string
  readonly key: string
  readonly lang: string
  readonly timestamp: number
  readonly document?: { readonly key: string; readonly contentMd?: string; readonly meta?: object }
  readonly detail?: { readonly deletedCount: number }
}

export interface Hook {
  readonly id: string
  readonly secret: string
}

export class WebhookReceiver {
  readonly posts: Post[] = []
  readonly #http: HttpServer
  readonly #held: ServerResponse[] = []
  /** Status of the next answer; null: none is given until `release`. */
  answer: (post: Post) => number | null = () => 204

  private constructor() {
    this.#http = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const body = Buffer.concat(parts).toString('utf8')
        const id = String(request.headers['webhook-id'])
        const payload = JSON.parse(body) as Payload
        const post = { path: request.url ?? '', id, headers: request.headers, body, payload, at: performance.now() }
        this.posts.push(post)
        const status = this.answer(post)
        if (status === null) this.#held.push(response)
        else response.writeHead(status, { location: '/elsewhere' }).end('x'.repeat(100))
      })
    })
  }

  static async start(port = 0): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    await new Promise<void>((resolve) => receiver.#http.listen(port, '127.0.0.1', resolve))
    return receiver
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port
  }

  url(path = 'hook'): string {
    return `http://127.0.0.1:${this.port}/${path}`
  }

  of(path: string): readonly Post[] {
    return this.posts.filter((post) => post.path === `/${path}`)
  }

  /** Resolves when so many posts have come to the path. */
  async until(count: number, path = 'hook'): Promise<readonly Post[]> {
    await untilHolds(
      () => this.of(path).length >= count,
      () => `${this.of(path).length} of ${count} posts to ${path} have come`,
    )
    return this.of(path)
  }

  /** Answers the posts that were held. */
  release(status = 204): void {
    for (const response of this.#held.splice(0)) response.writeHead(status).end()
  }

  async stop(): Promise<void> {
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
  }
}

export async function register(server: Server, fields: object, headers?: Readonly<Record<string, string>>): Promise<Hook> {
  const answer = await server.request('POST', '/v1/webhooks', fields, headers)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Hook>()
}

/** Whether the post has a valid signature by the secret, as a receiver of Standard Webhooks checks it. */
export function isSignedBy({ headers, body }: Post, secret: string): boolean {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const expected = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(signed)
    .digest()
  return String(headers['webhook-signature'])
    .split(' ')
    .map((each) => each.split(','))
    .some(([version, signature = '']) => version === 'v1' && isEqual(Buffer.from(signature, 'base64'), expected))
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
