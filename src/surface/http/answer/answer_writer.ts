/**
 * Writes an answer to uWS's response: the head, a body that is sent at once, and bodies that continue after
 * that. The latter are large bodies, bodies in parts and pushed bodies. The response is invalid after its
 * exchange ends, so continuing bodies get it from the exchange each time. Front-end thread only.
 */
import type { HttpResponse } from 'uWebSockets.js'
import { KIB } from '../../../limits/units.js'
import { ownedBufferOf } from '../../../wire/answer.js'
import type { PushedBody } from '../../../wire/body_streams.js'
import type { LoopResources } from '../bounds/loop_resources.js'
import { BodyParts } from './body_parts.js'
import type { HttpAnswer } from './http_answer.js'
import { LargeAnswer } from './large_answer.js'
import { PushedAnswer } from './pushed_answer.js'

/**
 * Larger answers are written piece by piece as the client reads them. The kernel's send buffer accepts most
 * of a smaller one in one call.
 */
const ANSWER_STREAMED_BYTES_MIN = 128 * KIB

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 302: 'Found', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
  405: 'Method Not Allowed', 408: 'Request Timeout', 409: 'Conflict', 413: 'Payload Too Large', 422: 'Unprocessable Content', 429: 'Too Many Requests', 500: 'Internal Server Error',
  503: 'Service Unavailable',
} // prettier-ignore

const STATUS_LINES = new Map(Object.entries(REASONS).map(([status, reason]) => [Number(status), `${status} ${reason}`]))

const JSON_TYPE = 'application/json; charset=utf-8'

/** What a continuing body needs of its exchange. */
export interface AnswerChannel {
  /** Returns null if the client has disconnected or the answer has ended. */
  live(): HttpResponse | null
  /** The body is completely written. */
  finish(status: number, bytes: number): void
  /** A producer threw. */
  fault(error: unknown): void
  readonly loop: LoopResources
  /** Whether the connection closes behind the answer. */
  readonly closes: boolean
}

/** A body that continues after its head. */
export interface BodySender {
  /** Called outside of the cork in which the head was written, so it may call a producer. */
  begin?(): void
  /** The connection is closed. Has no effect after the end. */
  abandon(): void
}

/** Writes status line and headers. */
export function writeHead(
  response: HttpResponse,
  answer: HttpAnswer,
  method: string,
  closes: boolean,
  commonHeaders: readonly string[],
): void {
  response.writeStatus(STATUS_LINES.get(answer.status) ?? `${answer.status} Status`)
  // With a body that ends at once, uWS writes it.
  if (closes && (isBodiless(answer) || continues(answer, method))) response.writeHeader('Connection', 'close')
  if (!isBodiless(answer)) response.writeHeader('Content-Type', answer.contentType ?? JSON_TYPE)
  if (answer.gzip) response.writeHeader('Content-Encoding', 'gzip').writeHeader('Vary', 'Accept-Encoding')
  writeHeaders(response, commonHeaders)
  writeHeaders(response, answer.headers)
}

function isBodiless({ status }: HttpAnswer): boolean {
  return status === 204 || status === 304
}

function lengthOf({ body }: HttpAnswer): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

/** Whether the body is sent by `sendBody`. */
function continues(answer: HttpAnswer, method: string): boolean {
  if (isBodiless(answer) || method === 'HEAD') return false
  return answer.rest !== undefined || answer.push !== undefined || lengthOf(answer) >= ANSWER_STREAMED_BYTES_MIN
}

/**
 * Called before the last bytes of an answer with which uWS can't close the connection: its flag works with a
 * body that is written at once. Nothing more is read from the connection. The client closes it, because the
 * answer says so; else uWS does, 8 to 12 s after the answer. A write that the socket does not accept whole
 * resumes the reading, so this is called before each write that may be the last.
 */
function readNoMore(response: HttpResponse): void {
  response.pause()
}

/**
 * Ends the answer if all of it can be written now.
 * @param closes whether to close the connection, too
 * @returns bytes of the body, or -1 if it continues with `sendBody`
 */
export function endAtOnce(response: HttpResponse, answer: HttpAnswer, method: string, closes: boolean): number {
  if (isBodiless(answer)) {
    if (closes) readNoMore(response)
    // Without an argument: uWS interprets an undefined one as a number.
    response.endWithoutBody()
    return 0
  }
  if (method === 'HEAD') {
    // The length is that of the body that GET would return. If it were passed to endWithoutBody, uWS would
    // wait for that body: it would neither answer further requests on the connection nor close it.
    if (closes) response.end('', true)
    else if (answer.push !== undefined) response.endWithoutBody()
    else response.writeHeader('Content-Length', String(lengthOf(answer))).endWithoutBody()
    return 0
  }
  if (continues(answer, method)) return -1
  response.end(answer.body, closes)
  return lengthOf(answer)
}

/** @returns null if the body has already ended */
export function sendBody(response: HttpResponse, answer: HttpAnswer, channel: AnswerChannel): BodySender | null {
  if (answer.push !== undefined) return sendPushed(response, answer.status, answer.push, channel)
  if (answer.rest !== undefined) return sendParts(response, answer, channel)
  return sendLarge(response, answer, channel)
}

/** @returns null if the body has ended, or its connection */
function sendLarge(response: HttpResponse, answer: HttpAnswer, channel: AnswerChannel): BodySender | null {
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body
  // The body has no length once it is released.
  const { length } = body
  const large = new LargeAnswer(
    {
      // No cork is needed, whether or not the body ends here: uWS corks `onWritable` itself.
      write: (piece) => {
        const live = channel.live()
        if (live === null) return null
        if (channel.closes) readNoMore(live)
        const [, ended] = live.tryEnd(piece, length)
        if (!ended) return live.getWriteOffset()
        channel.finish(answer.status, length)
        return length
      },
      close: () => void channel.live()?.close(),
    },
    body,
    ownedBufferOf(answer),
    channel.loop.unsent,
    channel.loop.turns,
  )
  if (!large.begin()) return null
  response.onWritable(() => {
    large.onWritable()
    return true
  })
  return { abandon: () => large.abandon() }
}

/** Uses chunked encoding, because the length of the body is not known yet. */
function sendParts(response: HttpResponse, first: HttpAnswer, channel: AnswerChannel): BodySender {
  const parts = new BodyParts(
    {
      corked: (send) => void channel.live()?.cork(send),
      write: (bytes) => channel.live()?.write(bytes) ?? false,
      end: () => {
        endChunked(channel)
        channel.finish(first.status, parts.bytes)
      },
      close: () => void channel.live()?.close(),
    },
    channel.loop.unsent,
    channel.loop.stallMsMax,
  )
  response.onWritable(() => {
    parts.onWritable()
    return true
  })
  parts.add(first.body, first.rest)
  return parts
}

function sendPushed(response: HttpResponse, status: number, body: PushedBody, channel: AnswerChannel): BodySender {
  const pushed = new PushedAnswer(
    {
      write: (bytes) => {
        let isTaken = false
        channel.live()?.cork(() => void (isTaken = channel.live()?.write(bytes) ?? false))
        return isTaken
      },
      end: () => {
        channel.live()?.cork(() => endChunked(channel))
        channel.finish(status, pushed.bytes)
      },
      close: () => void channel.live()?.close(),
      fault: (error) => channel.fault(error),
    },
    body,
    channel.loop.unsent,
    channel.loop.streams,
    channel.loop.stallMsMax,
  )
  response.onWritable(() => {
    pushed.onWritable()
    return true
  })
  return pushed
}

function endChunked(channel: AnswerChannel): void {
  const live = channel.live()
  if (live === null) return
  if (channel.closes) readNoMore(live)
  live.end()
}

function writeHeaders(response: HttpResponse, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) response.writeHeader(headers[i]!, headers[i + 1]!)
}
