/** Forced garbage collections: unreferenced objects are collected soon, as may happen at any time. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const EVERY_MS = 20

/**
 * Forces collections in this process.
 * @returns a function that stops them
 */
export function forceCollections(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const timer = setInterval(collect, EVERY_MS)
  return () => clearInterval(timer)
}

/** Node options for a server: a collection in each thread, many times per second. */
export const FORCED_COLLECTIONS: readonly string[] = [
  '--expose-gc',
  '--import',
  `data:text/javascript,${encodeURIComponent('setInterval(() => globalThis.gc(), 100).unref()')}`,
]
