/** Headers of cacheable responses, as declared by operations. Pure data. */
import type { HttpHeader } from './http_form.js'

export const cacheHeaders: readonly HttpHeader[] = [
  ['X-Cache', 'With `cacheTtl`: `hit` if the response came from the cache, otherwise `miss`.', 'string'],
  ['X-MDDB-Cache', 'With `cacheTtl`: same as `X-Cache`.', 'string'],
  ['X-Cache-Ttl', 'With `cacheTtl`: seconds for which the response may be served from the cache.'],
]
