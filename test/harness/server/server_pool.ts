/**
 * The servers of one test file: tests that need the same environment and only ask have one server. A test
 * that kills, fills or damages its server starts its own.
 */
import { type Server, type ServerOptions, startServer } from './server.js'

export type Env = Readonly<Record<string, string>>

export class ServerPool {
  readonly #started = new Map<Env, Promise<Server>>()
  readonly #options: () => ServerOptions

  /** @param options of every server */
  constructor(options: () => ServerOptions = () => ({})) {
    this.#options = options
  }

  /** Started by the first test that asks for it, and kept for all that name the same constant. */
  async of(env: Env): Promise<Server> {
    const starting = this.#started.get(env) ?? startServer({ ...this.#options(), env })
    this.#started.set(env, starting)
    return await starting
  }

  /** As `of` for the environments of `kept`; with any other a server that ends with the test. */
  async with(env: Env, kept: readonly Env[], run: (server: Server) => Promise<void>): Promise<void> {
    if (kept.includes(env)) return await run(await this.of(env))
    const server = await startServer({ ...this.#options(), env })
    try {
      await run(server)
    } finally {
      await server.stop()
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#started.values()].map(async (server) => (await server).stop()))
  }
}
