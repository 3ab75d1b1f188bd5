/** What a flood is, and the sockets and repeated requests of which floods consist. */
import { connect, type Socket } from 'node:net'

export interface Flood {
  readonly surface: 'grpc' | 'graphql' | 'mcp' | 'http'
  readonly what: string
  /** Sends until the end, on the clock of `performance`. Its connections are closed by `closeAll`. */
  readonly send: (end: number) => Promise<void>
}

interface Closable {
  destroy(): void
}

const open = new Set<Closable>()

/** The connection ends with the flood at the latest. */
export function endsWithFlood<Connection extends Closable>(connection: Connection): Connection {
  open.add(connection)
  return connection
}

export function closeAll(): void {
  for (const connection of open) connection.destroy()
  open.clear()
}

export const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms))

export const untilEnd = async (end: number): Promise<void> => await pause(Math.max(0, end - performance.now()))

export interface SocketRules {
  /** Another one is opened in the place of one that the server closes. Default: none. */
  readonly again?: boolean
  /** Whether what the server sends is read. Default: it is. */
  readonly reads?: boolean
}

/** Opens a connection, sends the bytes and nothing more, and leaves it open. */
export function openSocket(port: number, bytes: string | Buffer, end: number, rules: SocketRules = {}): void {
  const socket: Socket = connect(port, '127.0.0.1', () => socket.write(bytes))
  endsWithFlood(socket)
  if (rules.reads === false) socket.pause()
  else socket.resume()
  socket.on('error', () => undefined)
  socket.on('close', () => {
    open.delete(socket)
    if (rules.again === true && performance.now() < end) setImmediate(() => openSocket(port, bytes, end, rules))
  })
}

/** @param ask is called again when it has settled, by so many at once */
export async function repeat(times: number, end: number, ask: () => Promise<unknown>): Promise<void> {
  const work = async (): Promise<void> => {
    while (performance.now() < end) await ask().catch(() => undefined)
  }
  await Promise.all(Array.from({ length: times }, work))
}

/** A whole request of HTTP/1.1, as bytes. */
export function postOf(path: string, body: string | Buffer, headers = ''): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(body)])
}
