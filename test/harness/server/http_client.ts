/**
 * A small JSON client for the fault tests. Keeps connections alive. Every request ends within
 * `ANSWER_MS_MAX`: with an answer, or with `NoAnswer`, after which the outcome is unknown.
 */
import { Agent, request } from 'node:http'

/**
 * The contract of the fault tests: a request is answered, or its connection ended, within 12 s (10 s of the
 * store's own watchdog plus time for the process to die).
 */
export const ANSWER_MS_MAX = 12_000
/** No answer here is larger than a page of 50 documents of 10 KB. */
const ANSWER_BYTES_MAX = 4 << 20

export interface Reply {
  readonly status: number
  readonly body: unknown
}

export interface RawReply {
  readonly status: number
  readonly bytes: Buffer
}

/** The connection ended without an answer; the server may or may not have executed the request. */
export class NoAnswer extends Error {
  /** True if the server neither answered nor ended the connection in time: a hang. */
  readonly hung: boolean

  constructor(cause: Error) {
    super(`no answer: ${cause.message}`, { cause })
    this.name = 'NoAnswer'
    this.hung = cause.message === HUNG
  }
}

const HUNG = `silence for ${ANSWER_MS_MAX} ms`

export class HttpClient {
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 })

  constructor(port: number) {
    this.#port = port
  }

  post(path: string, body: unknown): Promise<Reply> {
    return this.send('POST', path, JSON.stringify(body))
  }

  async send(method: string, path: string, body?: string): Promise<Reply> {
    const { status, bytes } = await this.fetch(method, path, body)
    try {
      return { status, body: JSON.parse(bytes.toString()) }
    } catch (cause) {
      throw new Error(`answer to ${method} ${path} is no JSON`, { cause })
    }
  }

  /** The complete body as received; an incomplete body is not an answer. */
  fetch(method: string, path: string, body?: string): Promise<RawReply> {
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
    return new Promise((resolve, reject) => {
      const outgoing = request({ agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path, headers }, (incoming) => {
        const chunks: Buffer[] = []
        let bytes = 0
        incoming.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          bytes += chunk.length
          if (bytes > ANSWER_BYTES_MAX) outgoing.destroy(new Error(`answer above ${ANSWER_BYTES_MAX} bytes`))
        })
        incoming.on('error', fail)
        incoming.on('end', () => {
          clearTimeout(alarm)
          resolve({ status: incoming.statusCode ?? 0, bytes: Buffer.concat(chunks) })
        })
      })
      const alarm = setTimeout(() => outgoing.destroy(new Error(HUNG)), ANSWER_MS_MAX)
      const fail = (cause: Error): void => {
        clearTimeout(alarm)
        reject(new NoAnswer(cause))
      }
      outgoing.on('error', fail)
      outgoing.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
