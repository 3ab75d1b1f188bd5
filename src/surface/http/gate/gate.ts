/**
 * The gate as the front end runs it: its thread, and the folder of the unix sockets by which it reaches the
 * event loops. Only this user may enter the folder, so no other user of the machine can pass by the gate.
 * Front-end thread.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPath } from '../../../base/installation.js'
import type { ListenAddress } from '../../../config/options/values.js'
import { logMemory } from '../../../telemetry/log.js'
import type { LoopBlock } from '../../../wire/loop_block.js'
import type { SurfaceHost } from '../../host.js'
import { ThreadSurface } from '../../thread/thread_surface.js'
import type { Credentials } from '../../tls/credentials.js'
import type { GateStart } from './gate_start.js'

const PROGRAM = programPath('surface/http/gate/gate_thread')

export class Gate {
  readonly thread: ThreadSurface
  readonly #folder = mkdtempSync(join(tmpdir(), 'mds-gate-'))
  readonly #sockets: readonly string[]
  #address: GateStart['address']

  /** @param loops of the event loops, and behind them one place for the gate */
  constructor(host: SurfaceHost, credentials: Credentials, address: GateStart['address'], loops: LoopBlock) {
    const { config, telemetry } = host
    const loop = config.httpLoops
    this.#address = address
    this.#sockets = Array.from({ length: loop }, (_, at) => join(this.#folder, `loop-${at}`))
    this.thread = new ThreadSurface(host, {
      program: PROGRAM,
      options: (): GateStart => ({
        address: this.#address,
        files: credentials.files,
        limits: config.limits,
        sockets: this.#sockets,
        loop,
        loops: loops.buffer,
        telemetry: telemetry.buffer,
        log: logMemory(),
      }),
      onEnd: () => {
        const row = loops.clear(loop)
        if (row >= 0) telemetry.releaseRow(row)
      },
    })
  }

  /** The address on which an event loop listens. */
  addressOf(loop: number): ListenAddress {
    return { kind: 'unix', path: this.#sockets[loop]! }
  }

  /**
   * Once every event loop listens.
   * @returns the address with the real port
   */
  async listen(): Promise<ListenAddress> {
    for (const path of this.#sockets) chmodSync(path, 0o600)
    const address = await this.thread.listen()
    this.#address = { ...this.#address, port: Number(/\d+$/.exec(address)?.[0]) }
    return this.#address
  }

  close(): void {
    this.thread.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
