/** The sessions of the server and their calls, for an end at which every accepted call is answered. */
import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'

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
      if (this.#isDraining) session.close()
    })
  }

  /**
   * New calls are refused. Sessions close when their calls have been answered, and watches with the last of
   * them.
   */
  drain(): void {
    this.#isDraining = true
    for (const session of this.#sessions) session.close()
    this.#endWatches()
  }

  #note(stream: ServerHttp2Stream, path: string): void {
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
