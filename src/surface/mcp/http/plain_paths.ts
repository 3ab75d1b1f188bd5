/**
 * Tools and resources by plain HTTP, for clients that do not speak JSON-RPC: `GET /tools`,
 * `POST /tools/call`, `GET /resources`, `POST /resources/read`. Errors are `{"error": text}`, as on the port
 * of HTTP.
 */
import { CatalogueError, RESOURCE_NOT_FOUND } from '../catalogue/catalogue.js'
import type { Call } from '../protocol/call.js'
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../protocol/codes.js'
import { isObject, type Params } from '../protocol/message.js'
import { errorOf } from '../protocol/methods.js'
import type { Exchange } from './exchange.js'
import type { Asker, EndpointParts } from './parts.js'

/** Statuses of the errors that a catalogue refuses with. */
const STATUSES = new Map([
  [INVALID_PARAMS, 400],
  [METHOD_NOT_FOUND, 404],
  [RESOURCE_NOT_FOUND, 404],
])

export class PlainPaths {
  readonly #parts: EndpointParts

  constructor(parts: EndpointParts) {
    this.#parts = parts
  }

  tools(exchange: Exchange): void {
    exchange.answerJson(200, JSON.stringify({ tools: this.#parts.methods.tools }))
  }

  resources(exchange: Exchange): void {
    exchange.answerJson(200, JSON.stringify(this.#parts.methods.resources))
  }

  async call(exchange: Exchange, asker: Asker): Promise<void> {
    await this.#run('tools/call', exchange, asker)
  }

  async read(exchange: Exchange, asker: Asker): Promise<void> {
    await this.#run('resources/read', exchange, asker)
  }

  async #run(method: 'tools/call' | 'resources/read', exchange: Exchange, { caller }: Asker): Promise<void> {
    const body = await exchange.readBody(this.#parts.bodies)
    if (body === null) return
    const read = Buffer.isBuffer(body) ? this.#parts.reader.read(body) : body
    if ('status' in read) return answerError(exchange, read.status, read.message)
    if (!isObject(read.value)) return answerError(exchange, 400, 'an object expected')
    const params: Params = read.value
    this.#parts.note(exchange, method, params['name'])
    const { gone: signal } = exchange
    const call: Call = { era: 'handshake', caller, signal, logLevel: null, isStructured: true, notify: () => undefined }
    try {
      exchange.answerJson(200, JSON.stringify(await this.#parts.methods.run(method, params, call)))
    } catch (error) {
      if (signal.aborted) return
      const { code, message } = errorOf(error, 'handshake')
      answerError(exchange, error instanceof CatalogueError ? (STATUSES.get(code) ?? 500) : 500, message)
    }
  }
}

export function answerError(exchange: Exchange, status: number, text: string, headers: readonly string[] = []): void {
  exchange.answerJson(status, JSON.stringify({ error: text }), headers)
}
