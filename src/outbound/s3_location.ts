/**
 * The location of a collection's objects: a bucket of an S3-compatible store, and a prefix in it. The
 * location is checked once, when it is configured. Different keys always have different URLs. Pure.
 */

/** UTF-8 bytes of the key of an object with its prefix: S3's bound. */
const S3_KEY_BYTES_MAX = 1024

export interface S3Location {
  /** `host`, `host:port`, or either with an `http://` or `https://` scheme. */
  readonly endpoint: string
  readonly bucket: string
  /** Default `us-east-1`. */
  readonly region?: string
  /** If this and the secret are empty, requests are not signed. */
  readonly accessKey: string
  readonly secretKey: string
  /** Prepended to every key unchanged. */
  readonly prefix?: string
  /** For an endpoint without a scheme. */
  readonly useTLS?: boolean
}

/** Describes an invalid location or key. */
export class S3LocationError extends Error {}

/**
 * Refuses credentials in the endpoint: everyone who reads the configuration sees the endpoint, and requests
 * would ignore its user information. Not part of `checkLocation`, so that existing bodies at such a location
 * can still be fetched.
 * @throws S3LocationError
 */
export function refuseCredentials(endpoint: string): void {
  if (endpoint.includes('@')) throw new S3LocationError('invalid endpoint')
}

/**
 * Does not check whether requests to the endpoint are allowed.
 * @throws S3LocationError
 */
export function checkLocation(location: S3Location): void {
  const { endpoint, bucket, prefix = '', accessKey, secretKey } = location
  if (!URL.canParse(baseOf(location))) throw new S3LocationError('invalid endpoint')
  const { pathname, search, hash } = new URL(baseOf(location))
  if (endpoint === '' || pathname !== '/' || search !== '' || hash !== '') throw new S3LocationError('invalid endpoint')
  // The bucket names that S3 allows. An IP address is not allowed.
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || /\.\.|^\d+(\.\d+){3}$/.test(bucket)) throw new S3LocationError('invalid bucket')
  // Both empty: requests are unsigned, for a store with anonymous access.
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

/** Path-style URL: every S3-compatible server supports it. */
export function bucketUrl(location: S3Location): string {
  return `${new URL(baseOf(location)).origin}/${location.bucket}`
}

function baseOf({ endpoint, useTLS }: S3Location): string {
  return /^https?:\/\//i.test(endpoint) ? endpoint : `${useTLS === true ? 'https' : 'http'}://${endpoint}`
}

/** Whether the key survives URL parsing. A URL parser resolves the segments `.` and `..`. */
function isKey(text: string): boolean {
  if (Buffer.byteLength(text) > S3_KEY_BYTES_MAX || !text.isWellFormed() || /[\0-\x1f\x7f]/.test(text)) return false
  return text.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** Encodes everything except unreserved characters, as signature version 4 requires. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}
