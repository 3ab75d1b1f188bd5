/**
 * A server for the fault tests: with a preloaded shim, a client that counts silence as a failure, and a check
 * whether the process is still alive.
 */
import { HttpClient, NoAnswer } from './http_client.js'
import { type Server, startServer } from './server.js'

/** Time limit for the index to catch up after the ready line. */
const HEALTHY_MS_MAX = 60_000
const POLL_MS = 10
/** More than by default on a small machine: a request may come by any of them. */
const LOOPS = { SVC_HTTP_LOOPS: '2' }

export class ServerProcess {
  readonly client: HttpClient
  readonly port: number
  readonly #server: Server
  #ended = false

  private constructor(server: Server) {
    this.#server = server
    this.port = server.port
    this.client = new HttpClient(server.port)
    void server.ended.then(() => {
      this.#ended = true
    })
  }

  /**
   * Starts the server and waits until health answers 200. Throws with the server's output if it ends or stays
   * unhealthy.
   */
  static async start(directory: string, environment: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const server = new ServerProcess(await startServer({ directory, env: { ...LOOPS, ...environment } }))
    try {
      await server.#healthy()
    } catch (cause) {
      await server.kill()
      throw cause
    }
    return server
  }

  get pid(): number {
    return this.#server.pid
  }

  get ended(): boolean {
    return this.#ended
  }

  get output(): string {
    return this.#server.output()
  }

  /** SIGKILL, as `kill -9`. Resolves when the process has ended. */
  async kill(): Promise<void> {
    this.client.close()
    if (!this.#ended) await this.#server.kill()
  }

  /** SIGTERM: completes accepted requests and closes the stores. */
  async stop(): Promise<void> {
    this.client.close()
    const code = await this.#server.stop()
    if (code !== 0) throw new Error(`the server ended with ${code ?? 'a signal'}:\n${this.output}`)
  }

  async #healthy(): Promise<void> {
    const deadline = Date.now() + HEALTHY_MS_MAX
    while (Date.now() < deadline) {
      if (this.#ended) throw new Error(`the server ended at its start:\n${this.output}`)
      try {
        if ((await this.client.send('GET', '/health')).status === 200) return
      } catch (cause) {
        if (!(cause instanceof NoAnswer)) throw cause
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    throw new Error(`not healthy after ${HEALTHY_MS_MAX} ms:\n${this.output}`)
  }
}
