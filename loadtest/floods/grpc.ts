/** Floods on the port of gRPC: connections, streams, frames of HTTP/2, and answers that nobody reads. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2'
import { connect as connectSocket, type Socket } from 'node:net'
import { FRAME, frame, PREFACE } from '../../test/harness/clients/http2_frames.js'
import { endsWithFlood, type Flood, openSocket, repeat, untilEnd } from './flood.js'

/** Frames in one write. */
const FRAMES = 1_000
const MESSAGE_BYTES = 8 << 20
/** SearchRequest of the collection `large`, ten documents; FTSRequest of the word `word`. */
const SEARCH = framed(Buffer.from('0a056c61726765280a', 'hex'))
const FTS = framed(Buffer.from('0a056c617267651204776f7264', 'hex'))
const GET = framed(Buffer.from('0a076865616c74687912016b1a02656e', 'hex'))

function framed(message: Buffer, bytes = message.length): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(bytes, 1)
  return Buffer.concat([head, message])
}

const many = (bytes: Buffer): Buffer => Buffer.concat(Array<Buffer>(FRAMES).fill(bytes))
const PINGS = many(frame(FRAME.ping, 0, 0, Buffer.alloc(8)))
const SETTINGS = many(frame(FRAME.settings, 0, 0, Buffer.alloc(0)))
/** A head that begins and never ends: one literal field in each frame, and none is the last. */
const FIELD = Buffer.concat([Buffer.from([0, 1, 0x78, 1]), Buffer.from('y')])
const CONTINUATIONS = many(frame(FRAME.continuation, 0, 1, FIELD))

export function grpcFloods(port: number): readonly Flood[] {
  const session = (window: number): ClientHttp2Session => {
    const opened = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: window } })
    opened.on('error', () => undefined)
    return endsWithFlood(opened)
  }
  const call = (of: ClientHttp2Session, rpc: string): ClientHttp2Stream => {
    const head: OutgoingHttpHeaders = {
      ':method': 'POST',
      ':path': `/mddb.MDDB/${rpc}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    }
    return of.request(head).on('error', () => undefined)
  }
  /** Calls of which nothing is read, on connections that are opened again when the server ends them. */
  const unread = (connections: number, streams: number, rpc: string, message: Buffer) => async (end: number) => {
    const begin = (): void => {
      const opened = session(0)
      opened.on('connect', () => {
        for (let n = 0; n < streams; n++) call(opened, rpc).end(message)
      })
      opened.on('close', () => performance.now() < end && setTimeout(begin, 10))
    }
    for (let n = 0; n < connections; n++) begin()
    await untilEnd(end)
  }
  /** Frames without end, as fast as the server takes them. */
  const frames = (connections: number, first: Buffer, rest: Buffer) => async (end: number) => {
    const begin = (): void => {
      const socket: Socket = endsWithFlood(connectSocket(port, '127.0.0.1'))
      const write = (): void => {
        while (!socket.destroyed && performance.now() < end) if (!socket.write(rest)) return
      }
      socket.on('connect', () => {
        socket.write(first)
        write()
      })
      socket.on('drain', write)
      socket.on('error', () => undefined).resume()
      socket.on('close', () => performance.now() < end && setTimeout(begin, 10))
    }
    for (let n = 0; n < connections; n++) begin()
    await untilEnd(end)
  }
  const flood = (what: string, send: Flood['send']): Flood => ({ surface: 'grpc', what, send })
  return [
    flood('2 000 connections without a preface', async (end) => {
      for (let n = 0; n < 2_000; n++) openSocket(port, '', end, { again: true })
      await untilEnd(end)
    }),
    flood('500 prefaces that never end', async (end) => {
      for (let n = 0; n < 500; n++) openSocket(port, PREFACE.subarray(0, 10), end, { again: true })
      await untilEnd(end)
    }),
    flood('40 connections x 50 searches of 1 MB that nobody reads', unread(40, 50, 'Search', SEARCH)),
    flood('40 connections x 100 full-text searches that nobody reads', unread(40, 100, 'FTS', FTS)),
    flood('40 connections x 100 messages of 8 MB sent in part', async (end) => {
      const part = Buffer.alloc(1 << 20)
      for (let n = 0; n < 40; n++) {
        const opened = session(65_535)
        for (let at = 0; at < 100; at++) call(opened, 'Add').write(framed(part, MESSAGE_BYTES))
      }
      await untilEnd(end)
    }),
    flood('calls that are cancelled at once (rapid reset)', async (end) => {
      await repeat(8, end, async () => {
        const opened = session(65_535)
        while (!opened.destroyed && performance.now() < end) {
          for (let n = 0; n < 50 && !opened.destroyed; n++) call(opened, 'Search').end(SEARCH).close(8)
          await new Promise((resolve) => setImmediate(resolve))
        }
      })
    }),
    flood('pings', frames(8, PREFACE, PINGS)),
    flood('settings', frames(8, PREFACE, SETTINGS)),
    flood('heads that never end (CONTINUATION)', frames(8, Buffer.concat([PREFACE, frame(FRAME.headers, 0, 1, FIELD)]), CONTINUATIONS)),
    flood('64 calls at once of gets, as fast as they come', async (end) => {
      const opened = session(65_535)
      await repeat(
        64,
        end,
        async () =>
          await new Promise<void>((resolve) => {
            call(opened, 'Get').on('close', resolve).resume().end(GET)
          }),
      )
    }),
  ]
}
