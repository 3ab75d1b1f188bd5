/** Everything of the front end that has to do with the making of vectors, put together. Front-end thread only. */
import type { Config } from '../../config.js'
import type { HeldBodies } from '../../engine/held_bodies.js'
import { STALE_COLLECTIONS_TOLD_MAX } from '../../limits.js'
import { staleVectors } from '../../operations/embedding.js'
import type { EmbeddingProvider } from '../../outbound/embedding/provider.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { EmbeddingBlock } from '../../wire/embedding_block.js'
import { EmbeddingReindexes } from './reindexes.js'
import { EmbeddingRoom } from './capacity.js'
import { EmbeddingSlices } from './slices.js'
import { EmbeddingTexts } from './texts.js'
import { EmbeddingWorker, type ProviderPlace } from './worker.js'
import { askFor } from '../../dispatch/inner_request.js'
import { log } from '../../telemetry/log.js'

/** The provider of the moment. */
export interface ActiveProvider extends ProviderPlace {
  /** Calls `listener` whenever there is another one, or none any more. */
  onChange(listener: () => void): void
}

interface StaleVectors {
  readonly stale: readonly { readonly collection: string; readonly variant: string; readonly documents: number }[]
}

export class Embedding {
  readonly block = EmbeddingBlock.create()
  readonly #worker: EmbeddingWorker
  readonly #room: EmbeddingRoom
  readonly #texts: EmbeddingTexts
  #isStarted = false

  constructor(
    config: Config,
    readonly dispatcher: Dispatcher,
    control: ControlBlock,
    readonly provider: ActiveProvider,
    held: HeldBodies,
    telemetry: Telemetry,
  ) {
    const slices = new EmbeddingSlices(dispatcher, telemetry)
    this.#worker = new EmbeddingWorker(dispatcher, control, provider, slices)
    this.#room = new EmbeddingRoom(config, control, this.#worker, (named, job) => slices.giveUp(named, job), telemetry)
    this.#texts = new EmbeddingTexts(config, provider, held, telemetry)
    new EmbeddingReindexes(dispatcher, this.#worker, provider).offer()
    dispatcher.onEmbedding({ wait: this.#room.wait, bring: this.#texts.bring })
    provider.onChange(() => this.#changed())
    this.#changed()
  }

  /** Once the lanes are there. */
  start(): void {
    this.#worker.start()
    this.#isStarted = true
    void this.#tellStale()
  }

  /** What was paid for is stored; what waits stays for the next start. */
  async stop(): Promise<void> {
    this.#room.end()
    this.#texts.stop()
    await this.#worker.stop()
  }

  #changed(): void {
    const provider = this.provider.current()
    this.block.current = provider === undefined ? undefined : identityOf(provider)
    this.#worker.changed()
    if (this.#isStarted) void this.#tellStale()
  }

  /** Nothing is rewritten unasked: it may cost money. */
  async #tellStale(): Promise<void> {
    const variant = this.provider.current()?.variant
    if (variant === undefined) return
    try {
      const { stale } = await askFor<StaleVectors>(this.dispatcher, staleVectors, { variant })
      for (const { collection, variant: theirs, documents } of stale.slice(0, STALE_COLLECTIONS_TOLD_MAX)) {
        const count = `${documents} document${documents === 1 ? '' : 's'}`
        log.warn(`collection ${collection}: ${count} with vectors of ${theirs}, not of ${variant}: POST /v1/vector-reindex makes them anew`)
      }
    } catch (error) {
      log.error('vectors', { reason: error })
    }
  }
}

function identityOf({ name, model, dimensions, variant }: EmbeddingProvider): EmbeddingBlock['current'] {
  return { provider: name, model, dimensions, variant }
}
