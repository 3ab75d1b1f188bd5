/** Garbage collections by force: what nothing holds is gone soon, as it may be at any time. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const EVERY_MS = 20

/** In this process. @returns what ends it */
export function forceCollections(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const timer = setInterval(collect, EVERY_MS)
  return () => clearInterval(timer)
}

/** For the runtime of a server: a collection of each thread, many times a second. */
export const FORCED_COLLECTIONS: readonly string[] = [
  '--expose-gc',
  '--import',
  `data:text/javascript,${encodeURIComponent('setInterval(() => globalThis.gc(), 100).unref()')}`,
]
