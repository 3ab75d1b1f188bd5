/**
 * The gate as the front end runs it: its thread, and the folder of the unix sockets by which it reaches the
 * event loops. Only this user may enter the folder, so no other user of the machine can pass by the gate.
 * Front-end thread.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ListenAddress } from '../../../config/values.js'
import { programPath } from '../../../installation.js'
import { logMemory } from '../../../telemetry/log.js'
import type { SurfaceHost } from '../../host.js'
import { ThreadSurface } from '../../thread/thread_surface.js'
import type { Credentials } from '../../tls/credentials.js'
import type { GateStart } from './gate_start.js'

const PROGRAM = programPath('surface/http/gate/gate_thread')

export class Gate {
  readonly thread: ThreadSurface
  readonly #folder = mkdtempSync(join(tmpdir(), 'mds-gate-'))
  readonly #loops: readonly string[]
  #address: GateStart['address']

  /** @param loops the number of event loops */
  constructor(host: SurfaceHost, credentials: Credentials, address: GateStart['address'], loops: number) {
    this.#address = address
    this.#loops = Array.from({ length: loops }, (_, loop) => join(this.#folder, `loop-${loop}`))
    this.thread = new ThreadSurface(host, {
      program: PROGRAM,
      options: (): GateStart => ({ address: this.#address, files: credentials.files, loops: this.#loops, log: logMemory() }),
    })
  }

  /** The address on which an event loop listens. */
  addressOf(loop: number): ListenAddress {
    return { kind: 'unix', path: this.#loops[loop]! }
  }

  /**
   * Once every event loop listens.
   * @returns the address with the real port, as it is printed
   */
  async listen(): Promise<string> {
    for (const path of this.#loops) chmodSync(path, 0o600)
    const address = await this.thread.listen()
    this.#address = { ...this.#address, port: Number(/\d+$/.exec(address)?.[0]) }
    return address
  }

  close(): void {
    this.thread.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
