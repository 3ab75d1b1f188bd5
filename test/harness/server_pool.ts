/**
 * The servers of one test file: tests that need the same environment and only ask have one server. A test that
 * kills, fills or damages its server starts its own.
 */
import { startServer, type Server, type ServerOptions } from './server.js'

export type Env = Readonly<Record<string, string>>

export class ServerPool {
  readonly #started = new Map<string, Promise<Server>>()
  readonly #options: () => ServerOptions

  /** @param options of every server */
  constructor(options: () => ServerOptions = () => ({})) {
    this.#options = options
  }

  /** Started by the first test that asks for it. */
  async of(env: Env): Promise<Server> {
    const key = JSON.stringify(env)
    const starting = this.#started.get(key) ?? startServer({ ...this.#options(), env })
    this.#started.set(key, starting)
    return await starting
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#started.values()].map(async (server) => (await server).stop()))
  }
}
