/**
 * Answers that do not change until the server ends (the OpenAPI document, the reference page). Each is
 * encoded once for each content coding and has an ETag. A client that has the present version gets 304.
 * Front-end thread only.
 */
import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { docsPolicy } from './docs_page.js'
import type { Answer } from '../../wire/answer.js'
import type { HttpAnswer } from './http_answer.js'

/** Compresses 290 KB to 22 KB in 9 ms. The next quality takes ten times as long for 3 % less. */
const BROTLI_QUALITY = 6

/** The policy of the reference page, computed on first use. */
let policyHeaders: readonly string[] | undefined
function policy(): readonly string[] {
  return (policyHeaders ??= ['Content-Security-Policy', docsPolicy()])
}

/** The fields of a request that select the representation. */
export interface PageRequest {
  readonly ifNoneMatch: string
  readonly acceptsBrotli: boolean
  readonly acceptsGzip: boolean
}

export class Pages {
  readonly #pages = new WeakMap<Answer, ReturnType<typeof encoded>>()

  /** @param answer must be the same object each time */
  answer(answer: Answer, { ifNoneMatch, acceptsBrotli, acceptsGzip }: PageRequest): HttpAnswer {
    const page = this.#pages.get(answer) ?? encoded(answer)
    this.#pages.set(answer, page)
    const { contentType = null } = answer
    const coding = acceptsBrotli ? 'br' : acceptsGzip ? 'gzip' : 'identity'
    const etag = page.etags[coding]
    // Caches must revalidate each time, so that a new version of the server is visible at once.
    const headers = [
      ...(contentType?.startsWith('text/html') === true ? policy() : []),
      'ETag',
      etag,
      'Cache-Control',
      'no-cache',
      'Vary',
      'Accept-Encoding',
    ]
    if (names(ifNoneMatch, etag)) return { status: 304, contentType, headers, gzip: false, body: '' }
    if (coding === 'identity') return { status: 200, contentType, headers, gzip: false, body: page.plain }
    return { status: 200, contentType, headers: [...headers, 'Content-Encoding', coding], gzip: false, body: page[coding] }
  }
}

function encoded({ body }: Answer) {
  const plain = Buffer.from(body)
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
  return { plain, br, gzip: gzipSync(plain), etags: { identity: `"${hash}"`, br: `"${hash}-br"`, gzip: `"${hash}-gz"` } }
}

/**
 * RFC 9110, section 13.1.2: a list of tags, compared without the prefix `W/`, which proxies add; `*` matches
 * any representation.
 */
function names(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
