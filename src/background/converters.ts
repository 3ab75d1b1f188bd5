/** The pool of converter processes of this server, made with the first file. Front-end thread only. */
import type { ConverterPool } from '../conversion/converter_pool.js'
import type { Service } from '../services.js'

export class Converters implements Service {
  readonly name = 'converters'
  #pool: Promise<ConverterPool> | undefined

  readonly pool = (): Promise<ConverterPool> =>
    (this.#pool ??= import('../conversion/converter_pool.js').then((module) => new module.ConverterPool()))

  start(): void {
    // Most servers convert nothing.
  }

  /** Conversions under way are refused. */
  async stop(): Promise<void> {
    ;(await this.#pool)?.close()
  }
}
