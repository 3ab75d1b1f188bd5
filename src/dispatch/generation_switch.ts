/**
 * Switches every lane to another generation of the store. No request is refused, no request sees parts of
 * both generations, and the old generation continues to be served if a step fails. Front-end thread only.
 *
 * 1. Every lane opens the next generation beside the present one.
 * 2. Requests that may write are queued, and those in progress end. Then all requests are queued, for some
 *    milliseconds, and the event loops close their readers.
 * 3. `CURRENT` is replaced on disk. From here on, the next start serves the new generation, however the
 *    process ends.
 * 4. Every lane adopts the generation that it has opened.
 * 5. The queued requests continue.
 *
 * A failure before step 3 drops the next generation. A failure after step 3 ends the process.
 */
import { failPoint } from '../base/fail_point.js'
import { SWITCH_LANE_MS_MAX } from '../limits/lanes.js'
import { log } from '../telemetry/log.js'
import type { ControlBlock } from '../wire/control_block.js'
import type { LaneOrder } from '../wire/messages/lane_messages.js'
import type { StoreReader } from './loop_reads.js'
import type { LanePool } from './pools/lane_pool.js'

/**
 * How long a restore holds writes back at most while it waits for those in progress: the longest deadline.
 * The restore fails after that.
 */
const SWITCH_DRAIN_MS_MAX = 120_000

/** The data directory, as src/store/files/layout.ts defines it. */
export interface Generations {
  /** Returns the name of the generation that `CURRENT` names. */
  served(): string
  /** Replaces `CURRENT`. The change is on disk when the call returns. */
  serve(generation: string): void
  remove(generation: string): Promise<void>
}

/** The part of the dispatcher that a switch needs. */
interface Holder {
  hold(what: 'writes' | 'everything'): Promise<void>
  release(): void
  /** What the event loops read. */
  readonly served: StoreReader
}

/** The part of the lanes that a switch needs. */
interface StartedPools {
  /** The point and bulk pools are started before the switch, so that none starts during it. */
  point(): LanePool | null
  bulk(): LanePool | null
  pools(): readonly LanePool[]
}

export class GenerationSwitch {
  constructor(
    readonly generations: Generations,
    readonly control: ControlBlock,
    readonly holder: Holder,
    readonly lanes: StartedPools,
    readonly onFatal: (reason: string) => void,
  ) {}

  /**
   * @param keepsAccounts the accounts of the present store replace those of the generation; else only tokens
   * that have ended stay ended. Both are on its disk before it is served, so that a key that was taken away
   * does not come back by a crash
   * @throws Error if the switch failed: the present generation is still served and the next one is removed
   */
  async switchTo(generation: string, keepsAccounts: boolean): Promise<void> {
    const old = this.generations.served()
    try {
      this.lanes.point()
      if (this.lanes.bulk() === null) throw new Error('the bulk lane is not ready')
      for (const pool of this.lanes.pools()) await within(SWITCH_LANE_MS_MAX, pool.whenReady(), `the ${pool.kind} lane is not ready`)
      await this.#notify('open', generation)
      failPoint('restore.opened')
      await within(SWITCH_DRAIN_MS_MAX, this.holder.hold('writes'), 'writes under way do not end')
      await within(SWITCH_DRAIN_MS_MAX, this.holder.hold('everything'), 'requests under way do not end')
      failPoint('restore.held')
      // Until all lanes have adopted the next generation, every read is for them.
      await within(SWITCH_DRAIN_MS_MAX, this.holder.served.serve(null), 'event loops do not end their reads')
      await this.#notify(keepsAccounts ? 'takeAccounts' : 'endTokens', generation)
      failPoint('restore.accounts')
      this.generations.serve(generation)
    } catch (error) {
      if (this.generations.served() === old) await this.#goBack(generation)
      else this.onFatal(`restore: ${String(error)}`)
      throw error
    }
    try {
      failPoint('restore.served')
      await this.#notify('adopt', generation)
    } catch (error) {
      // Some lanes serve the old generation, others the new one. Only a restart corrects that; CURRENT names
      // the generation to serve.
      this.onFatal(`restore: ${String(error)}`)
      throw error
    }
    // Invalidates the cached answers, which belong to the previous generation.
    this.control.countPublished()
    this.control.raiseAccessEpoch()
    await this.#release(generation)
    failPoint('restore.adopted')
    await this.#remove(old)
  }

  async #goBack(generation: string): Promise<void> {
    await this.#notify('drop', generation).catch((error: unknown) => log.error('restore', { fault: error }))
    await this.#release(this.generations.served())
    await this.#remove(generation)
  }

  /** The event loops open the generation while the lanes answer. */
  async #release(generation: string): Promise<void> {
    this.holder.release()
    await this.holder.served.serve(generation)
  }

  /** A generation that can't be removed is left for the next start. */
  async #remove(generation: string): Promise<void> {
    await this.generations.remove(generation).catch((error: unknown) => log.error('restore', { fault: error }))
  }

  async #notify(kind: LaneOrder['kind'], generation: string): Promise<void> {
    // The write lane first, because it opens the index.
    for (const pool of this.lanes.pools()) await pool.order(kind, generation)
  }
}

async function within(msMax: number, waited: Promise<void>, what: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${msMax} ms`)), msMax)
  })
  try {
    await Promise.race([waited, late])
  } finally {
    clearTimeout(timer)
  }
}
