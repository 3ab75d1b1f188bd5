/**
 * The answer to messages that were posted to `/mcp`: one JSON body, or a stream of events if notifications
 * come before the response, or the response takes long, or the client accepts nothing else.
 */
import type { Answered } from '../protocol/call.js'
import { notificationText } from '../protocol/message.js'
import type { EventStream } from './event_stream.js'
import type { Exchange } from './exchange.js'

/** An answer that takes longer becomes a stream, so that its connection is not idle. */
const MCP_STREAM_AFTER_MS = 10_000

export class PostAnswer {
  readonly #exchange: Exchange
  readonly #headers: readonly string[]
  readonly #acceptsStream: boolean
  readonly #late: NodeJS.Timeout
  #stream: EventStream | null = null

  /** @param headers of the answer: name, value ... */
  constructor(exchange: Exchange, headers: readonly string[]) {
    this.#exchange = exchange
    this.#headers = headers
    this.#acceptsStream = exchange.accepts('text/event-stream')
    this.#late = setTimeout(() => this.#open(), MCP_STREAM_AFTER_MS).unref()
  }

  /** A client that accepts no stream does not get it. */
  notify(method: string, params: object): void {
    this.#open()?.send(notificationText(method, params))
  }

  /** @param answered null: the request was cancelled, and has no response */
  finish(answered: Answered | null): void {
    clearTimeout(this.#late)
    if (this.#exchange.gone.aborted) return
    if (answered === null) return this.#end()
    if (this.#stream === null && (answered.status !== 200 || this.#exchange.accepts('application/json')))
      return this.#exchange.answerJson(answered.status, answered.text, this.#headers)
    this.#open()?.send(answered.text)
    this.#stream?.close()
  }

  /** Responses to a batch. */
  finishAll(answered: readonly Answered[]): void {
    clearTimeout(this.#late)
    if (this.#exchange.gone.aborted) return
    if (answered.length === 0) return this.#end()
    const texts = answered.map(({ text }) => text)
    if (this.#stream === null && this.#exchange.accepts('application/json'))
      return this.#exchange.answerJson(200, `[${texts.join(',')}]`, this.#headers)
    for (const text of texts) this.#open()?.send(text)
    this.#stream?.close()
  }

  #end(): void {
    if (this.#stream === null && !this.#acceptsStream) this.#exchange.answerEmpty(202, this.#headers)
    else {
      this.#open()
      this.#stream?.close()
    }
  }

  #open(): EventStream | null {
    if (this.#stream === null && this.#acceptsStream) this.#stream = this.#exchange.openStream(this.#headers)
    return this.#stream
  }
}
