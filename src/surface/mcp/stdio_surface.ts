/**
 * MCP over standard input and output, as the front end runs it: a thread that starts with the server, and has
 * no socket. Front-end thread only.
 */
import type { RunningSurface } from '../../dispatch/surface.js'
import type { SurfaceHost } from '../host.js'
import { CounterRow, threadStart } from '../thread/thread_start.js'
import { ThreadSurface } from '../thread/thread_surface.js'

export class StdioSurface implements RunningSurface {
  readonly #thread: ThreadSurface

  /**
   * @param program path of the thread's code, which begins with `openSurfaceThread`
   * @param own for the thread; must be structured-cloneable
   */
  constructor(host: SurfaceHost, program: string, own: unknown) {
    const row = new CounterRow()
    this.#thread = new ThreadSurface(host, {
      program,
      options: () => threadStart(host, row, null, own),
      asksAdmission: true,
      onEnd: () => {
        const claimed = row.take()
        if (claimed >= 0) host.telemetry.releaseRow(claimed)
      },
    })
    host.dispatcher.served.add(this.#thread)
  }

  listen(): Promise<string> {
    return this.#thread.listen()
  }

  stopListening(): void {
    this.#thread.stopListening()
  }

  idle(): Promise<void> {
    return this.#thread.idle()
  }

  close(): void {
    this.#thread.close()
  }
}
