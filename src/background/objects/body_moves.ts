/**
 * Moves bodies to the location that the configuration of their collection says. It runs step by step through
 * the bulk lane, between other heavy requests: after a start, when a configuration has changed, and
 * periodically for bodies written during the change. A store that does not respond is retried later; until
 * then bodies are read from their present location. Front-end thread only.
 */
import { Chore, type ChoreTools } from '../../chore.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor, Refused } from '../../dispatch/inner_request.js'
import { isFault } from '../../errors.js'
import { DEADLINE_HEAVY_MS } from '../../limits/lanes.js'
import { OBJECT_SWEEP_MS } from '../../limits/store.js'
import { bodyLocations, misplacedBodies, moveBodies } from '../../operations/server/storage.js'
import type { Service } from '../../services.js'
import { log } from '../../telemetry/log.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { BodyLocations } from './object_sweep.js'

/** Interval at which the front end checks whether all bodies are in the location of the settings. */
const MOVES_POLL_MS = 5_000
/** Pause after a step that a store refused. */
const MOVES_RETRY_MS = 30_000

interface Misplaced {
  readonly collection: number
  readonly docids: readonly number[]
  /** Collection and docid to continue with; empty: that was the end. */
  readonly next: readonly number[]
}

export class BodyMoves implements Service {
  readonly name = 'body-moves'
  readonly #chore: Chore
  #isWanted = false
  /**
   * Time of the next check. By then, writes prepared under the previous configuration have been stored, or
   * never will be.
   */
  #againAt = Infinity

  constructor(
    readonly dispatcher: Dispatcher,
    readonly telemetry: Telemetry,
    tools: ChoreTools,
  ) {
    this.#chore = new Chore(tools, {
      name: this.name,
      failure: 'bodies are not moved yet',
      retry: { firstMs: MOVES_RETRY_MS, longestMs: MOVES_RETRY_MS },
      round: (signal) => this.#round(signal),
    })
    for (const topic of ['setting/config', 'sealing']) dispatcher.notices.on(topic, () => this.wake())
    dispatcher.notices.on('store', () => this.#look())
  }

  /** Called once the lanes are open. The bulk lane is not woken for a server that has no objects. */
  start(): void {
    this.#againAt = performance.now()
    this.#chore.start()
  }

  /** A configuration or the store itself has changed: bodies may be stored elsewhere than configured. */
  wake(): void {
    this.#isWanted = true
    this.#againAt = performance.now() + DEADLINE_HEAVY_MS
    this.#chore.wake()
  }

  /** Another store may be served. The bulk lane is not woken if the store has no objects. */
  #look(): void {
    this.#againAt = performance.now()
    this.#chore.wake()
  }

  /** The current step ends first. */
  async stop(): Promise<void> {
    await this.#chore.stop()
  }

  async #round(signal: AbortSignal): Promise<number> {
    try {
      if (this.#isWanted || (performance.now() >= this.#againAt && (await this.#hasObjects()))) await this.#pass(signal)
    } catch (error) {
      this.#isWanted = true
      throw error
    }
    return MOVES_POLL_MS
  }

  async #hasObjects(): Promise<boolean> {
    this.#againAt = performance.now() + OBJECT_SWEEP_MS
    const { hasObjects, locations } = await askFor<BodyLocations>(this.dispatcher, bodyLocations, {})
    return hasObjects || locations.length > 0
  }

  /**
   * Checks everything once. Bodies that a pass has moved may have been written under an old configuration;
   * then another pass follows. A collection whose bodies cannot be moved now does not delay the others.
   * @throws the first refusal, at the end
   */
  async #pass(signal: AbortSignal): Promise<void> {
    this.#isWanted = false
    let moved = 0
    let refused: Refused | undefined
    for (let at: readonly number[] = [1, 1]; at.length > 0 && !signal.aborted;) {
      const [collection = 1, docid = 1] = at
      const found = await askFor<Misplaced>(this.dispatcher, misplacedBodies, { collection, docid })
      at = found.next
      if (found.docids.length === 0) continue
      try {
        moved += await this.#move(found.collection, found.docids)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        refused ??= error
        at = [found.collection + 1, 1]
      }
    }
    if (moved > 0) this.#isWanted = true
    if (refused !== undefined) throw refused
  }

  /**
   * If a body is unavailable, the documents are moved one by one. The one that fails is logged and left where
   * it is.
   * @returns the number of bodies moved
   */
  async #move(collection: number, docids: readonly number[]): Promise<number> {
    try {
      const { moved } = await askFor<{ readonly moved: number }>(this.dispatcher, moveBodies, { collection, docids })
      this.telemetry.add('bodies_moved', moved)
      return moved
    } catch (error) {
      if (!(error instanceof Refused) || !isFault(error.code)) throw error
      if (docids.length === 1) {
        log.error(`not moved: document ${collection}/${docids[0]}`, { reason: error })
        return 0
      }
    }
    let moved = 0
    for (const docid of docids) moved += await this.#move(collection, [docid])
    return moved
  }
}
