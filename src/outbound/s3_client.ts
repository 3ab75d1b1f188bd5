/**
 * Client of S3-compatible object stores: get, head, put, conditional put, delete, list. Requests are signed
 * (version 4, including the payload) and sent by the guarded client over persistent connections. Transient
 * failures are retried with random delays, within one time limit. Every operation can be repeated safely.
 * Front-end thread: no lane awaits the network.
 */
import { createHash, randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { S3_MS_MAX } from '../limits/store.js'
import { MIB } from '../limits/units.js'
import { OutboundRefused } from './destination.js'
import { loadAws4fetch } from './packages.js'
import { BodyTooLarge } from './received_body.js'
import type { S3Location } from './s3_location.js'
import { bucketUrl, checkLocation, objectUrl } from './s3_location.js'
import type { ListedPage } from './s3_xml.js'
import { parseErrorCode, parseListing } from './s3_xml.js'
import type { Outbound, OutboundAnswer } from './safe_fetch.js'

/** Time of one attempt of a request to an object store. */
const S3_ATTEMPT_MS_MAX = 4_000
/** Attempts for one object, with a random wait of up to 0.1, 0.2 and 0.4 s between them. */
export const S3_ATTEMPTS_MAX = 4
const S3_WAIT_MS_FIRST = 100
/** Connections that are kept to one store. Further requests wait for one of them. */
const S3_CONNECTIONS_MAX = 32
/**
 * Bytes of an object: a stored body of the largest document, each byte of which is an escape of six bytes.
 */
const S3_OBJECT_BYTES_MAX = 97 * MIB
/** Keys of one page of a listing: S3's bound. */
export const S3_LISTED_MAX = 1000
/** Bytes of an answer that is not an object: a page of the longest keys, every byte escaped. */
const S3_ANSWER_BYTES_MAX = 8 * MIB

/** The store refused the request or did not respond. The text contains neither credentials nor content. */
export class S3Error extends Error {
  constructor(
    readonly verb: string,
    /** 0: no response. */
    readonly status: number,
    /** The store's error code, e.g. `NoSuchBucket`. */
    readonly code: string,
    options?: ErrorOptions,
  ) {
    const said = status === 0 ? 'no answer' : `${status}${code === '' ? '' : ` ${code}`}`
    super(`object store: ${verb}: ${said}`, options)
    this.name = 'S3Error'
  }
}

interface Request {
  readonly verb: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly bytesMax?: number
}

const AGAIN = new Set([408, 429, 500, 502, 503, 504])
const NOTHING: Uint8Array = new Uint8Array(0)

export class S3Client {
  readonly #connections: Dispatcher
  readonly #signingKeys = new Map<string, ArrayBuffer>()

  /** @throws S3LocationError, OutboundRefused */
  constructor(
    readonly outbound: Outbound,
    readonly location: S3Location,
  ) {
    checkLocation(location)
    this.#connections = outbound.connections(S3_CONNECTIONS_MAX)
  }

  /** Undefined if there is no such object. */
  async get(key: string): Promise<Buffer | undefined> {
    const answer = await this.#ask({ verb: 'GET', url: objectUrl(this.location, key), bytesMax: S3_OBJECT_BYTES_MAX })
    if (answer.status === 200) return answer.body
    if (isMissing(answer)) return undefined
    throw failure('get', answer)
  }

  /** Returns the size of the object in bytes, or undefined if there is none. */
  async head(key: string): Promise<number | undefined> {
    const answer = await this.#ask({ verb: 'HEAD', url: objectUrl(this.location, key) })
    if (answer.status === 200) return Number(answer.headers['content-length'])
    // A HEAD response has no body, so it does not show whether the object, the bucket or the user is missing.
    if (answer.status === 404) return (await this.get(key))?.length
    throw failure('head', answer)
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    const answer = await this.#ask({ verb: 'PUT', url: objectUrl(this.location, key), body })
    if (answer.status !== 200) throw failure('put', answer)
  }

  /**
   * Stores the object unless one exists. If the first attempt got no response, it may have succeeded; then
   * the existing object is compared.
   * @returns false if another object exists
   */
  async putNew(key: string, body: Uint8Array): Promise<boolean> {
    const answer = await this.#ask({ verb: 'PUT', url: objectUrl(this.location, key), body, headers: { 'if-none-match': '*' } })
    if (answer.status === 200) return true
    if (answer.status !== 412) throw failure('put', answer)
    return answer.attempts > 1 && (await this.get(key))?.equals(body) === true
  }

  /** Succeeds even if there is no such object. */
  async delete(key: string): Promise<void> {
    const answer = await this.#ask({ verb: 'DELETE', url: objectUrl(this.location, key) })
    if (answer.status !== 204 && answer.status !== 200 && !isMissing(answer)) throw failure('delete', answer)
  }

  /**
   * Lists the objects below the location's prefix whose keys begin with `begin`, in byte order, one page at a
   * time. Returned keys do not include the prefix.
   * @param after `next` of the previous page
   */
  async list(begin: string, after?: string, count = S3_LISTED_MAX): Promise<ListedPage> {
    const prefix = this.location.prefix ?? ''
    const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', 'max-keys': String(count), prefix: `${prefix}${begin}` })
    if (after !== undefined) query.set('continuation-token', after)
    const answer = await this.#ask({ verb: 'GET', url: `${bucketUrl(this.location)}?${query.toString().replaceAll('+', '%20')}` })
    if (answer.status !== 200) throw failure('list', answer)
    const { objects, next } = parseListing(answer.body.toString('utf8'))
    return { objects: objects.map(({ key, bytes }) => ({ key: key.slice(prefix.length), bytes })), next }
  }

  /** Closes the connections. Requests in progress fail. */
  async close(): Promise<void> {
    await this.#connections.destroy()
  }

  async #ask(request: Request): Promise<OutboundAnswer & { readonly attempts: number }> {
    const deadline = performance.now() + S3_MS_MAX
    for (let attempts = 1; ; attempts++) {
      // A timer takes only whole, non-negative milliseconds.
      const left = Math.max(1, Math.ceil(deadline - performance.now()))
      let answer: OutboundAnswer | undefined
      let cause: unknown
      try {
        answer = await this.#attempt(request, Math.min(S3_ATTEMPT_MS_MAX, left))
        if (!AGAIN.has(answer.status)) return { ...answer, attempts }
      } catch (error) {
        if (error instanceof OutboundRefused || error instanceof BodyTooLarge) throw error
        cause = error
      }
      const waitMs = randomInt(S3_WAIT_MS_FIRST * 2 ** (attempts - 1))
      if (attempts === S3_ATTEMPTS_MAX || performance.now() + waitMs >= deadline) {
        if (answer !== undefined) return { ...answer, attempts }
        throw new S3Error(request.verb.toLowerCase(), 0, '', { cause })
      }
      await setTimeout(waitMs)
    }
  }

  async #attempt({ verb, url, headers, body, bytesMax }: Request, msMax: number): Promise<OutboundAnswer> {
    return this.outbound.safeFetch({
      url,
      method: verb,
      headers: { ...(await this.#signed(verb, url, headers, body)), 'accept-encoding': 'identity' },
      ...(body === undefined ? {} : { body }),
      msMax,
      bytesMax: bytesMax ?? S3_ANSWER_BYTES_MAX,
      // A redirect target is not the configured store.
      redirectsMax: 0,
      connections: this.#connections,
    })
  }

  /**
   * Signs the headers. Each attempt is signed again, because a signature is valid for some minutes by the
   * store's clock.
   */
  async #signed(verb: string, url: string, headers: Request['headers'], body = NOTHING): Promise<Readonly<Record<string, string>>> {
    const { accessKey, secretKey, region } = this.location
    if (accessKey === '') return headers ?? {}
    const { AwsV4Signer } = loadAws4fetch()
    const signed = await new AwsV4Signer({
      method: verb,
      url,
      headers: { ...headers, 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') },
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      region: region === undefined || region === '' ? 'us-east-1' : region,
      service: 's3',
      cache: this.#signingKeys,
    }).sign()
    if (this.#signingKeys.size > 1) this.#signingKeys.delete([...this.#signingKeys.keys()][0] as string)
    return Object.fromEntries(signed.headers)
  }
}

/** Whether the object is missing. A missing bucket or user is a configuration error. */
function isMissing({ status, body }: OutboundAnswer): boolean {
  return status === 404 && parseErrorCode(body.toString('utf8')) === 'NoSuchKey'
}

function failure(verb: string, { status, body }: OutboundAnswer): S3Error {
  return new S3Error(verb, status, parseErrorCode(body.toString('utf8')))
}
