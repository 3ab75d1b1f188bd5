/**
 * The real server as a child process on a loopback port, for tests that preload something into it, kill it or cut its power. Beside test/harness, which starts it for contract tests.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { HttpClient, NoAnswer } from './http_client.js'
import { PROJECT_ROOT } from './shim_build.js'

/** A start replays at most 4 MB of text; this allows for a machine that is busy with something else. */
const START_MS_MAX = 60_000
const POLL_MS = 10
/** Kept of the server's own output, for the message of a failing test. */
const OUTPUT_CHARACTERS_MAX = 8_000

export const SERVER_MAIN = path.join(PROJECT_ROOT, 'dist/src/main.js')

export class ServerProcess {
  readonly client: HttpClient
  readonly port: number
  readonly #child: ChildProcess
  #output = ''

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
    this.client = new HttpClient(port)
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX)
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
  }

  /** Starts and waits until health answers 200. Throws with the server's output where it ends or stays silent instead. */
  static async start(directory: string, environment: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    if (!existsSync(SERVER_MAIN)) throw new Error(`${SERVER_MAIN} is missing: build first`)
    const port = await freePort()
    const child = spawn(process.execPath, [SERVER_MAIN, '--db', directory, '--http-addr', `127.0.0.1:${port}`], {
      // Without the supervisor: the process that is killed, and that has the shim, is the server itself.
      env: { ...process.env, SVC_SUPERVISOR: 'false', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const server = new ServerProcess(child, port)
    try {
      await server.#healthy()
    } catch (cause) {
      await server.kill()
      throw cause
    }
    return server
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  get output(): string {
    return this.#output
  }

  /** SIGKILL, as `kill -9`. Resolves when the process is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** SIGTERM: finish what was accepted, close the stores. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
    if (this.#child.exitCode !== 0)
      throw new Error(`the server ended with ${this.#child.exitCode ?? this.#child.signalCode}:\n${this.#output}`)
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.client.close()
    if (this.ended) return
    const gone = once(this.#child, 'exit')
    this.#child.kill(signal)
    await gone
  }

  async #healthy(): Promise<void> {
    const deadline = Date.now() + START_MS_MAX
    while (Date.now() < deadline) {
      if (this.ended) throw new Error(`the server ended at its start:\n${this.#output}`)
      try {
        if ((await this.client.send('GET', '/health')).status === 200) return
      } catch (cause) {
        if (!(cause instanceof NoAnswer)) throw cause
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    throw new Error(`not healthy after ${START_MS_MAX} ms:\n${this.#output}`)
  }
}

/** A port that was free a moment ago. The listener that takes it may still lose the race, which then shows as a failed start. */
async function freePort(): Promise<number> {
  const probe = createServer()
  probe.listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
