/**
 * Makes every lane serve another generation of the store, so that no request is refused, none sees a part of
 * each, and the old one is served as before if anything goes wrong. Front-end thread only.
 *
 * 1. Every lane opens the next generation beside the present one. 2. Requests that may write are queued, and
 *    those under way end; then all, for some milliseconds. 3. `CURRENT` is replaced, on disk: whatever ends
 *    the process from here on, the next start serves the new generation. 4. Every lane adopts what it has
 *    opened. 5. What was queued goes on. A failure before 3 drops the next generation; one after 3 ends the
 *    process.
 */
import { failPoint } from '../fail_point.js'
import { SWITCH_DRAIN_MS_MAX, SWITCH_LANE_MS_MAX } from '../limits/lanes.js'
import type { ControlBlock } from '../wire/control_block.js'
import type { LanePool } from './lane_pool.js'
import { log } from '../telemetry/log.js'

/** The data directory, as src/store/layout.ts has it. */
export interface Generations {
  /** Name of the generation that `CURRENT` names. */
  served(): string
  /** Replaces `CURRENT`, on disk when it returns. */
  serve(generation: string): void
  remove(generation: string): Promise<void>
}

/** Of the dispatcher. */
export interface Holder {
  hold(what: 'writes' | 'everything'): Promise<void>
  release(): void
}

/** Of the lanes. */
export interface StartedPools {
  /** Those that may be started later are started now, so that none starts in the middle. */
  point(): LanePool | null
  bulk(): LanePool
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

  /** @throws Error when the present generation is served as it was, and the next one is gone */
  async switchTo(generation: string): Promise<void> {
    const old = this.generations.served()
    try {
      this.lanes.point()
      this.lanes.bulk()
      for (const pool of this.lanes.pools()) await within(SWITCH_LANE_MS_MAX, pool.whenReady(), `the ${pool.kind} lane is not ready`)
      await this.#tell('open', generation)
      failPoint('restore.opened')
      await within(SWITCH_DRAIN_MS_MAX, this.holder.hold('writes'), 'writes under way do not end')
      await within(SWITCH_DRAIN_MS_MAX, this.holder.hold('everything'), 'requests under way do not end')
      failPoint('restore.held')
      this.generations.serve(generation)
    } catch (error) {
      if (this.generations.served() === old) await this.#goBack(generation)
      else this.onFatal(`restore: ${String(error)}`)
      throw error
    }
    try {
      failPoint('restore.served')
      await this.#tell('adopt', generation)
    } catch (error) {
      // Some lanes serve the one, some the other: only a start puts that right, and CURRENT says how.
      this.onFatal(`restore: ${String(error)}`)
      throw error
    }
    // Answers that were kept are those of before.
    this.control.countPublished()
    this.holder.release()
    failPoint('restore.adopted')
    await this.#remove(old)
  }

  async #goBack(generation: string): Promise<void> {
    await this.#tell('drop', generation).catch((error: unknown) => log.error('restore', { fault: error }))
    this.holder.release()
    await this.#remove(generation)
  }

  /** What can't be removed is left for the next start. */
  async #remove(generation: string): Promise<void> {
    await this.generations.remove(generation).catch((error: unknown) => log.error('restore', { fault: error }))
  }

  async #tell(kind: 'open' | 'adopt' | 'drop', generation: string): Promise<void> {
    // The write lane first: the index is its to open.
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
