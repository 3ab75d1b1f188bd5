/** The sessions of the server and their calls, for an end at which every accepted call is answered. */
import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { failPoint } from '../../base/fail_point.js'

export class OpenSessions {
  readonly #isCall: (path: string) => boolean
  readonly #sessions = new Set<ServerHttp2Session>()
  /** The open streams of calls. */
  #calls = 0
  /** All others, which may stay open as long as their clients like: of health and reflection. */
  readonly #watches = new Set<ServerHttp2Stream>()
  #isDraining = false

  /** @param isCall whether the end waits for calls of this path */
  constructor(isCall: (path: string) => boolean) {
    this.#isCall = isCall
  }

  watch(server: Http2Server): void {
    server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session)
      session.on('close', () => this.#sessions.delete(session))
      session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => this.#note(stream, headers[':path'] ?? ''))
    })
  }

  /**
   * New calls are refused. A session closes when its calls have been answered; watches end with the last call
   * of all sessions. No session may begin after this.
   */
  drain(): void {
    this.#isDraining = true
    for (const session of this.#sessions) session.close()
    this.#endWatches()
  }

  #note(stream: ServerHttp2Stream, path: string): void {
    failPoint('grpc.stream')
    const isCall = this.#isCall(path)
    if (isCall) this.#calls += 1
    else this.#watches.add(stream)
    stream.once('close', () => {
      if (isCall) this.#calls -= 1
      else this.#watches.delete(stream)
      this.#endWatches()
    })
  }

  #endWatches(): void {
    if (!this.#isDraining || this.#calls > 0) return
    for (const stream of this.#watches) stream.close(constants.NGHTTP2_CANCEL)
  }
}
