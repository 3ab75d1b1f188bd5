/**
 * One connection to each event loop of a server. The kernel divides connections between the loops, and the
 * access log names the thread that served a request, so connections are opened until each loop has one.
 */
import { Agent, type ClientRequest, request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { untilAsked } from '../process/until.js'
import type { Server } from './server.js'

/** The server must be started with these. */
export const LOOP_LOG = { SVC_LOG_FORMAT: 'json', SVC_ACCESS_LOG: 'true' } as const
/** More than enough for four loops: each connection meets a given one with a probability of a quarter. */
const CONNECTIONS_MAX = 200

export interface LoopAnswer {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly text: string
}

/** A client that keeps one connection. */
export class LoopClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #socket: Socket | undefined

  constructor(
    readonly port: number,
    /** As the log names it: `main`, `http loop 1` ... */
    public thread = '',
  ) {}

  ask(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<LoopAnswer> {
    return this.#send(method, path, body, headers, (asked, bytes) => asked.end(bytes))
  }

  /** Posts the beginning of a body. @returns sends the rest */
  beginPost(path: string, body: object): () => Promise<LoopAnswer> {
    let finish = (): void => undefined
    const answer = this.#send('POST', path, body, {}, (asked, bytes) => {
      const half = Math.floor((bytes?.length ?? 0) / 2)
      asked.write(bytes?.subarray(0, half))
      finish = () => asked.end(bytes?.subarray(half))
    })
    // Whoever sends the rest looks at it.
    answer.catch(() => undefined)
    return () => (finish(), answer)
  }

  #send(
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
    send: (asked: ClientRequest, bytes: Buffer | undefined) => void,
  ): Promise<LoopAnswer> {
    return new Promise((resolve, reject) => {
      const bytes =
        body === undefined
          ? undefined
          : typeof body === 'string' || body instanceof Uint8Array
            ? Buffer.from(body)
            : Buffer.from(JSON.stringify(body))
      // Node declares no body of a DELETE.
      const all = bytes === undefined ? headers : { 'content-length': String(bytes.length), ...headers }
      const asked = httpRequest({ port: this.port, host: '127.0.0.1', method, path, headers: all, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('latin1') }),
        )
      })
      asked.on('error', reject)
      asked.on('socket', (socket) => (this.#socket = socket))
      send(asked, bytes)
    })
  }

  /** Whether the connection of the last request is still open, after a turn in which its end is seen. */
  async isConnected(): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve))
    return this.#socket?.destroyed === false
  }

  close(): void {
    this.#agent.destroy()
  }
}

let lastProbe = 0

/** The thread that serves the client's connection. */
export async function threadOf(server: Server, client: LoopClient): Promise<string> {
  const path = `/probe/${++lastProbe}`
  await client.ask('GET', path)
  const line = new RegExp(`^.*"path":"${path}".*$`, 'm')
  const [found] = (await untilAsked(
    () => Promise.resolve(line.exec(server.output())),
    (match) => match !== null,
  )) as RegExpExecArray
  return (JSON.parse(found) as { readonly thread: string }).thread
}

/** One client for each of the loops, in the order of their names. */
export async function clientsOfLoops(server: Server, loops: number): Promise<readonly LoopClient[]> {
  const byThread = new Map<string, LoopClient>()
  for (let at = 0; at < CONNECTIONS_MAX && byThread.size < loops; at++) {
    const client = new LoopClient(server.port)
    client.thread = await threadOf(server, client)
    if (byThread.has(client.thread)) client.close()
    else byThread.set(client.thread, client)
  }
  if (byThread.size < loops) throw new Error(`connections were served by ${[...byThread.keys()].join(', ')} only`)
  return [...byThread.values()].sort((a, b) => (a.thread < b.thread ? -1 : 1))
}
