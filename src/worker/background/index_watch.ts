/**
 * Watches whether the index reaches the disk. If the disk refuses a write, the engine retries, and health
 * reports it. If the index env cannot be written until another process opens it, the index would grow in
 * memory without limit. In that case this process exits, and the next start replays. Write lane only.
 */
import { Chore } from '../../chore.js'
import { log } from '../../telemetry/log.js'
import type { LaneWork } from './lane_work.js'

/**
 * Interval between two checks that the index reaches the disk, while entries are on their way there: equal to
 * the retry interval of the engine.
 */
const INDEX_WATCH_MS = 1000
/** The same once all entries are there: merges may still fail. */
const INDEX_IDLE_WATCH_MS = 10_000

export function indexWatch({ lane: { engine, store }, tools }: LaneWork, onFatal: (reason: string) => void): Chore {
  let last = engine.storageState()
  return new Chore(tools, {
    name: 'index-watch',
    first: INDEX_WATCH_MS,
    afterCommitMs: INDEX_WATCH_MS,
    commitsEndRest: true,
    failure: 'the state of the index on disk is not known',
    round: () => {
      const state = engine.storageState()
      if (state !== last) {
        last = state
        if (state === 'lost') onFatal('storage failure: this process can write its index no more')
        else log.warn(state === 'good' ? 'index: on disk again' : 'index: writes to disk fail')
      }
      // Once all entries are on disk, only merges are written.
      const isStored = engine.stats().checkpoint >= store.read((view) => view.lastLsn())
      return state === 'good' && isStored ? INDEX_IDLE_WATCH_MS : INDEX_WATCH_MS
    },
  })
}
