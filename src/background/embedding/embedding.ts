/** Assembles the parts of the front end that make vectors. Front-end thread only. */
import { Chore, type ChoreTools, type Rest } from '../../chore.js'
import type { Config } from '../../config/config.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor, Refused } from '../../dispatch/inner_request.js'
import type { SharedBodies } from '../../engine/shared_bodies.js'
import { isFault } from '../../errors.js'
import { staleVectors } from '../../operations/server/embedding.js'
import type { EmbeddingProvider } from '../../outbound/embedding/provider.js'
import { mayWriteUnasked } from '../../role.js'
import type { Service } from '../../services.js'
import { log } from '../../telemetry/log.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { ControlBlock } from '../../wire/control_block.js'
import { EmbeddingBlock } from '../../wire/embedding_block.js'
import type { NamedDocuments } from '../../wire/messages/embedding_messages.js'
import { EmbeddingCapacity } from './capacity.js'
import { EmbeddingReindexes } from './reindexes.js'
import { EmbeddingSlices } from './slices.js'
import { EmbeddingTexts } from './texts.js'
import { type CurrentProvider, EmbeddingWorker } from './worker.js'

/** Log lines at a start about collections with vectors of another model. /v1/vector-stats lists all. */
const STALE_COLLECTIONS_LISTED_MAX = 100

/** The active provider. */
interface ActiveProvider extends CurrentProvider {
  /** Calls `listener` whenever the provider is replaced or removed. */
  onChange(listener: () => void): void
}

interface StaleVectors {
  readonly stale: readonly { readonly collection: string; readonly variant: string; readonly documents: number }[]
}

export class Embedding implements Service {
  readonly name = 'embedding'
  readonly block = EmbeddingBlock.create()
  readonly #worker: EmbeddingWorker
  readonly #capacity: EmbeddingCapacity
  readonly #texts: EmbeddingTexts
  readonly #stale: Chore
  readonly #end = new AbortController()

  constructor(
    config: Config,
    readonly dispatcher: Dispatcher,
    control: ControlBlock,
    readonly provider: ActiveProvider,
    sharedBodies: SharedBodies,
    telemetry: Telemetry,
    readonly tools: ChoreTools,
  ) {
    const slices = new EmbeddingSlices(dispatcher, telemetry)
    this.#worker = new EmbeddingWorker(dispatcher, control, provider, slices, tools)
    const drop = (named: NamedDocuments, job: string): Promise<number> => slices.giveUp(named, this.#end.signal, job)
    this.#capacity = new EmbeddingCapacity(config, control, this.#worker, drop, telemetry, tools)
    this.#texts = new EmbeddingTexts(config, provider, sharedBodies, telemetry)
    this.#stale = new Chore(tools, {
      name: 'stale-vectors',
      failure: 'stale vectors are not known yet',
      round: () => this.#logStale(),
    })
    new EmbeddingReindexes(dispatcher, this.#worker, provider).offer()
    dispatcher.onVectors({ wait: this.#capacity.wait, bring: this.#texts.bring })
    provider.onChange(() => this.#changed())
    this.#changed()
  }

  /** Called once the lanes are open. */
  start(): void {
    this.#worker.start()
    this.#stale.start()
  }

  /** Vectors that were paid for are stored. Documents that wait stay queued for the next start. */
  async stop(): Promise<void> {
    this.#end.abort()
    this.#capacity.end()
    this.#texts.stop()
    await Promise.all([this.#worker.stop(), this.#stale.stop()])
  }

  #changed(): void {
    const provider = this.provider.current()
    this.block.current = provider === undefined ? undefined : identityOf(provider)
    this.#worker.changed()
    this.#stale.wake()
  }

  /**
   * Logs collections with vectors of another provider. Nothing is re-embedded automatically: it may cost
   * money.
   */
  async #logStale(): Promise<Rest> {
    const variant = this.provider.current()?.variant
    // If nothing may be rewritten, there is nothing to report.
    if (variant === undefined || !mayWriteUnasked(this.tools.role)) return 'idle'
    try {
      const { stale } = await askFor<StaleVectors>(this.dispatcher, staleVectors, { variant })
      for (const { collection, variant: theirs, documents } of stale.slice(0, STALE_COLLECTIONS_LISTED_MAX)) {
        const count = `${documents} document${documents === 1 ? '' : 's'}`
        log.warn(`collection ${collection}: ${count} with vectors of ${theirs}, not of ${variant}: POST /v1/vector-reindex replaces them`)
      }
    } catch (error) {
      // Damage is permanent; a busy lane is not.
      if (!(error instanceof Refused) || !isFault(error.code)) throw error
      log.error('vectors', { reason: error })
    }
    return 'idle'
  }
}

function identityOf({ name, model, dimensions, variant }: EmbeddingProvider): EmbeddingBlock['current'] {
  return { provider: name, model, dimensions, variant }
}
