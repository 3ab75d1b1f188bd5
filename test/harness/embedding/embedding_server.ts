/**
 * A test server that speaks the four embedding protocols: OpenAI's under /openai, Voyage's under /voyage,
 * Cohere's under /cohere, Ollama's under /ollama. Its vectors are a function of the text alone: hashed words,
 * so that texts with common words are close to each other. Faults are queued one by one, or stay in force
 * until they are removed.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface EmbeddingRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
  readonly texts: readonly string[]
}

export type EmbeddingFault =
  | 'hang'
  | 'close'
  | 'closeInBody'
  | 'wrongDimensions'
  | 'nan'
  | 'infinite'
  | 'tooLarge'
  | 'null'
  | 'text'
  | 'truncated'
  | 'notJson'
  | 'fewer'
  | 'more'
  | 'twice'
  | 'shuffled'
  | 'huge'
  | 'redirect'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }

type Rows = readonly (readonly unknown[])[]

export class EmbeddingServer {
  readonly requests: EmbeddingRequest[] = []
  /** A fault for every request while it is set. */
  standing: EmbeddingFault | undefined
  /** Requests for which it returns true are refused with 400. */
  refuses: (request: EmbeddingRequest) => boolean = () => false
  /** Number of dimensions of every vector, unless a request asks for another. */
  dimensions = 8
  /** Maximum number of concurrent requests so far. */
  concurrencyMax = 0
  /** The models that Ollama lists. */
  ollamaModels: readonly string[] = []
  #underWay = 0
  readonly #faults: EmbeddingFault[] = []
  readonly #held: (() => void)[] = []
  #holds = false

  private constructor(
    readonly server: Server,
    readonly port: number,
  ) {}

  static async start(port = 0): Promise<EmbeddingServer> {
    const server = createServer()
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
    const made = new EmbeddingServer(server, (server.address() as AddressInfo).port)
    server.on('request', (request, response) => void made.#answer(request, response))
    return made
  }

  /** The base address for a provider. */
  url(provider: 'openai' | 'voyage' | 'cohere' | 'ollama'): string {
    return `http://127.0.0.1:${this.port}/${provider}`
  }

  /** Queues faults for the next requests, one each. */
  fail(...faults: readonly EmbeddingFault[]): void {
    this.#faults.push(...faults)
  }

  /** Blocks requests until `release`. */
  hold(): void {
    this.#holds = true
  }

  release(): void {
    this.#holds = false
    for (const resolve of this.#held.splice(0)) resolve()
  }

  async stop(): Promise<void> {
    this.release()
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#underWay++
    this.concurrencyMax = Math.max(this.concurrencyMax, this.#underWay)
    response.once('close', () => this.#underWay--)
    const path = request.url ?? ''
    if (path === '/ollama/api/tags' || path === '/api/tags') {
      if (this.standing === 'hang') return
      response.end(JSON.stringify({ models: this.ollamaModels.map((name) => ({ name })) }))
      return
    }
    const body = JSON.parse((await readAll(request)) || '{}') as EmbeddingRequest['body']
    const texts = (body.input ?? body.texts ?? []) as readonly string[]
    const asked: EmbeddingRequest = { path, headers: request.headers, body, texts }
    this.requests.push(asked)
    if (this.#holds) await new Promise<void>((resolve) => this.#held.push(resolve))
    const fault = this.#faults.shift() ?? this.standing
    if (fault === undefined && this.refuses(asked)) send(response, 400, '{"error":{"message":"too long"}}')
    else this.#send(response, asked, fault)
  }

  #send(response: ServerResponse, request: EmbeddingRequest, fault: EmbeddingFault | undefined): void {
    if (fault === 'hang') return
    if (fault === 'close') {
      response.destroy()
      return
    }
    if (fault === 'redirect') {
      send(response, 307, '', { location: `http://127.0.0.1:${this.port}/elsewhere` })
      return
    }
    if (typeof fault === 'object') {
      send(response, fault.status, '{"error":{"message":"secret of the provider"}}', fault.headers)
      return
    }
    const rows = spoilt(
      request.texts.map((text) => [...embedText(text, this.#dimensionsOf(request.body, fault))]),
      fault,
    )
    const whole =
      fault === 'notJson' ? '<html></html>' : answerOf(request, rows, fault).replaceAll('"NaN"', 'NaN').replaceAll('"1e999"', '1e999')
    if (fault === 'closeInBody') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(whole.length) })
      response.write(whole.slice(0, whole.length >> 1), () => response.destroy())
      return
    }
    send(response, 200, fault === 'truncated' ? whole.slice(0, whole.length >> 1) : whole)
  }

  #dimensionsOf(body: EmbeddingRequest['body'], fault: EmbeddingFault | undefined): number {
    const asked = body.dimensions ?? body.output_dimension
    const dimensions = typeof asked === 'number' ? asked : this.dimensions
    return fault === 'wrongDimensions' ? dimensions + 1 : dimensions
  }
}

function send(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function spoilt(rows: Rows, fault: EmbeddingFault | undefined): Rows {
  const [first = [], ...others] = rows
  if (fault === 'nan') return [['NaN', ...first.slice(1)], ...others]
  if (fault === 'infinite') return [['1e999', ...first.slice(1)], ...others]
  if (fault === 'tooLarge') return [[3e38, ...first.slice(1)], ...others]
  if (fault === 'null') return [[null, ...first.slice(1)], ...others]
  if (fault === 'text') return [['0.5', ...first.slice(1)], ...others]
  if (fault === 'fewer') return others
  if (fault === 'more') return [first, ...rows]
  return rows
}

function answerOf({ path, body }: EmbeddingRequest, rows: Rows, fault: EmbeddingFault | undefined): string {
  const filler = fault === 'huge' ? { filler: 'x'.repeat(4 * 1024 * 1024) } : {}
  if (path.startsWith('/cohere/')) {
    const isTyped = Array.isArray(body.embedding_types)
    return JSON.stringify({ id: 'x', embeddings: isTyped ? { float: rows } : rows, ...filler })
  }
  if (path.startsWith('/ollama/') || path.startsWith('/api/')) return JSON.stringify({ model: body.model, embeddings: rows, ...filler })
  // Values that base64 cannot encode are sent as numbers: clients accept both.
  const isEncoded = body.encoding_format === 'base64' && rows.every((row) => row.every((value) => typeof value === 'number'))
  const data = rows.map((row, index) => ({
    object: 'embedding',
    index: fault === 'twice' ? 0 : index,
    embedding: isEncoded ? encode(row as readonly number[]) : row,
  }))
  return JSON.stringify({ object: 'list', data: fault === 'shuffled' ? data.toReversed() : data, model: body.model, ...filler })
}

function encode(row: readonly number[]): string {
  return Buffer.from(new Float32Array(row).buffer).toString('base64')
}

/** A vector of length 1; the same for the same text. */
export function embedText(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? ['']) {
    let hash = 0x811c9dc5
    for (const byte of Buffer.from(word)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
    for (let round = 0; round < 4; round++) {
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0
      const at = (hash >>> 1) % dimensions
      vector[at] = (vector[at] ?? 0) + ((hash & 1) === 0 ? 1 : -1)
    }
  }
  const length = Math.hypot(...vector)
  if (length === 0) vector[0] = 1
  return vector.map((value) => (length === 0 ? value : value / length))
}
