/** Headers of answers that may be cached, as operations declare them. Pure data. */
import type { HttpHeader } from './http_form.js'

export const cacheHeaders: readonly HttpHeader[] = [
  ['X-Cache', 'With `cacheTtl`: `hit` where the answer was given before, else `miss`.', 'string'],
  ['X-MDDB-Cache', 'With `cacheTtl`: the same.', 'string'],
  ['X-Cache-Ttl', 'With `cacheTtl`: seconds for which the answer may be given again.'],
]
