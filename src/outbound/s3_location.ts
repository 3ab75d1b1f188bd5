/**
 * Where the objects of a collection lie: a bucket of an S3-compatible store, and a prefix in it. Checked
 * once, when it is configured; the addresses that are made from it hold every key apart. Pure.
 */
import { S3_KEY_BYTES_MAX } from '../limits/objects.js'

export interface S3Location {
  /** `host`, `host:port`, or with http:// or https:// in front. */
  readonly endpoint: string
  readonly bucket: string
  /** Default `us-east-1`. */
  readonly region?: string
  /** Empty, and the secret with it: requests are not signed. */
  readonly accessKey: string
  readonly secretKey: string
  /** In front of every key, as it is. */
  readonly prefix?: string
  /** For an endpoint without scheme. */
  readonly useTLS?: boolean
}

/** Says what is wrong with a location or a key. */
export class S3LocationError extends Error {}

/**
 * An endpoint is shown to whoever reads the configuration, and requests would not use what it says of a user.
 * Not a part of `checkLocation`: bodies that lie at such a place since before are still fetched.
 * @throws S3LocationError
 */
export function refuseCredentials(endpoint: string): void {
  if (endpoint.includes('@')) throw new S3LocationError('invalid endpoint')
}

/** @throws S3LocationError; whether the endpoint may be asked is not looked at here */
export function checkLocation(location: S3Location): void {
  const { endpoint, bucket, prefix = '', accessKey, secretKey } = location
  if (!URL.canParse(baseOf(location))) throw new S3LocationError('invalid endpoint')
  const { pathname, search, hash } = new URL(baseOf(location))
  if (endpoint === '' || pathname !== '/' || search !== '' || hash !== '') throw new S3LocationError('invalid endpoint')
  // The names that S3 allows; an address is none.
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || /\.\.|^\d+(\.\d+){3}$/.test(bucket)) throw new S3LocationError('invalid bucket')
  // Neither: the requests go unsigned, to a store that lets anybody in.
  if ((accessKey === '') !== (secretKey === '') || /[^\x21-\x7e]/.test(accessKey))
    throw new S3LocationError('accessKey and secretKey go together')
  if (prefix !== '' && (prefix.startsWith('/') || !isKey(`${prefix}x`))) throw new S3LocationError('invalid prefix')
}

/** @throws S3LocationError */
export function objectUrl(location: S3Location, key: string): string {
  const whole = `${location.prefix ?? ''}${key}`
  if (key === '' || !isKey(whole)) throw new S3LocationError('invalid object key')
  return `${bucketUrl(location)}/${whole.split('/').map(encode).join('/')}`
}

/** In the path, not in the host name: every S3-compatible server knows it so. */
export function bucketUrl(location: S3Location): string {
  return `${new URL(baseOf(location)).origin}/${location.bucket}`
}

function baseOf({ endpoint, useTLS }: S3Location): string {
  return /^https?:\/\//i.test(endpoint) ? endpoint : `${useTLS === true ? 'https' : 'http'}://${endpoint}`
}

/** What survives a URL: a parser would take `.` and `..` for a way. */
function isKey(text: string): boolean {
  if (Buffer.byteLength(text) > S3_KEY_BYTES_MAX || !text.isWellFormed() || /[\0-\x1f\x7f]/.test(text)) return false
  return text.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** As signatures of version 4 want it: everything but unreserved characters. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}
