/** Headers of cacheable responses, as declared by operations. Pure data. */
import type { HttpHeader } from './http_form.js'

export const cacheHeaders: readonly HttpHeader[] = [
  ['X-Cache', 'With `cacheTtl`: `hit` where the answer was given before, else `miss`.', 'string'],
  ['X-MDDB-Cache', 'With `cacheTtl`: the same.', 'string'],
  ['X-Cache-Ttl', 'With `cacheTtl`: seconds for which the answer may be given again.'],
]
