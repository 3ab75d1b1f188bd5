/** Headers of answers that may be given again: the lane that makes one says `miss`, the front end that gives it again says `hit`. Pure data. */
export const CACHE_HEADERS = {
  /** For how long. */
  seconds: 'X-Cache-Ttl',
  /** Both say the same: the first is what proxies say, the second is the contract's. */
  states: ['X-Cache', 'X-MDDB-Cache'],
} as const

/** As operations declare them. */
export const cacheHeaders = [
  ['X-Cache', 'With `cacheTtl`: `hit` where the answer was given before, else `miss`.', 'string'],
  ['X-MDDB-Cache', 'With `cacheTtl`: the same.', 'string'],
  ['X-Cache-Ttl', 'With `cacheTtl`: seconds for which the answer may be given again.'],
] as const
