/**
 * Watches whether the index reaches the disk. A disk that refuses it is asked again by the engine, and health says so meanwhile; an index env that can't be written any more until another process opens it would grow in memory for
 * ever, so this one ends and the next start replays. Runs on the write lane's event loop.
 */
import type { SearchEngine } from '../../engine/types.js'
import { INDEX_WATCH_MS } from '../../limits.js'
import { log } from '../../telemetry/log.js'

/** @returns a function that stops it */
export function watchIndexStorage(engine: SearchEngine, onFatal: (reason: string) => void): () => void {
  let last = engine.storageState()
  const timer = setInterval(() => {
    const state = engine.storageState()
    if (state === last) return
    last = state
    if (state === 'lost') onFatal('storage failure: this process can write its index no more')
    else log.warn(state === 'good' ? 'index: on disk again' : 'index: the disk does not take it')
  }, INDEX_WATCH_MS)
  return () => clearInterval(timer)
}
