/**
 * A client of server-sent events for tests, over a socket of its own. It parses the stream as a browser does:
 * an id without data moves the last id on, comments are ignored.
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http'

export interface SentEvent {
  /** The last id at this event; empty: none so far. */
  readonly id: string
  /** Whether the event has an id of its own. */
  readonly hasId: boolean
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

export class EventSource {
  readonly events: SentEvent[] = []
  lastId = ''
  retryMs = 0
  /** Comments so far: heartbeats. */
  comments = 0
  status = 0
  /** Of a refusal. */
  text = ''
  hasEnded = false
  /** The stream ended by its last chunk. */
  isComplete = false
  #buffer = ''
  readonly #waiting: (() => void)[] = []
  readonly #request: ClientRequest
  #response: IncomingMessage | undefined

  /** @param url with the query */
  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#request = request(url, { agent: false, headers: { accept: 'text/event-stream', ...headers } }, (response) => this.#take(response))
    this.#request.on('error', () => this.#end())
    this.#request.end()
  }

  /** Resolves when the head has come. */
  async opened(): Promise<this> {
    await this.until(() => this.status !== 0 || this.hasEnded)
    return this
  }

  /** @throws Error if the stream ends before */
  async until(holds: () => boolean): Promise<this> {
    while (!holds()) {
      if (this.hasEnded) throw new Error(`the stream has ended: ${this.status} ${this.text} after ${this.events.length} events`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this
  }

  async ended(): Promise<this> {
    while (!this.hasEnded) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this
  }

  pause(): void {
    this.#response?.pause()
  }

  resume(): void {
    this.#response?.resume()
  }

  close(): void {
    this.#request.destroy()
  }

  #take(response: IncomingMessage): void {
    this.#response = response
    this.status = response.statusCode ?? 0
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => this.#add(chunk))
    response.on('end', () => {
      this.isComplete = response.complete
      this.#end()
    })
    response.on('error', () => this.#end())
    response.on('close', () => this.#end())
    this.#wake()
  }

  #add(chunk: string): void {
    if (this.status !== 200) this.text += chunk
    else {
      const blocks = (this.#buffer + chunk).split('\n\n')
      this.#buffer = blocks.pop() ?? ''
      for (const block of blocks) this.#block(block)
    }
    this.#wake()
  }

  #block(block: string): void {
    if (block.startsWith(':')) this.comments++
    const fields = new Map(
      block
        .split('\n')
        .filter((line) => !line.startsWith(':'))
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const),
    )
    const id = fields.get('id')
    if (id !== undefined) this.lastId = id
    if (fields.has('retry')) this.retryMs = Number(fields.get('retry'))
    const data = fields.get('data')
    if (data === undefined) return
    const event = {
      id: this.lastId,
      hasId: id !== undefined,
      event: fields.get('event') ?? '',
      data: JSON.parse(data) as SentEvent['data'],
    }
    this.events.push(event)
  }

  #end(): void {
    this.hasEnded = true
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
