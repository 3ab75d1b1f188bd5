/**
 * The two documents that an S3-compatible store answers with: a page of a listing and an error. Their shape
 * is fixed, so that they are read by their elements; nothing in them is trusted further than as text. Pure.
 */

export interface ListedObject {
  readonly key: string
  readonly bytes: number
}

export interface ListedPage {
  readonly objects: readonly ListedObject[]
  /** Undefined on the last page. */
  readonly next: string | undefined
}

/**
 * A `ListBucketResult`. Its keys are URL-encoded where it says so: not every store does what
 * `encoding-type=url` asks for. @throws Error for anything else
 */
export function parseListing(xml: string): ListedPage {
  if (!/<ListBucketResult[\s>]/.test(xml)) throw new Error('the object store did not answer with a listing')
  const isEncoded = elementOf(xml, 'EncodingType') === 'url'
  const objects = [...xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)].map(([, object = '']) => {
    const key = isEncoded ? decodeURIComponent(elementOf(object, 'Key').replaceAll('+', ' ')) : elementOf(object, 'Key')
    const bytes = Number(elementOf(object, 'Size'))
    if (key === '' || !Number.isSafeInteger(bytes)) throw new Error('the object store listed something that is no object')
    return { key, bytes }
  })
  const next = elementOf(xml, 'NextContinuationToken')
  return { objects, next: elementOf(xml, 'IsTruncated') === 'true' && next !== '' ? next : undefined }
}

/** The code of an error document, e.g. `NoSuchBucket`; empty where there is none. */
export function parseErrorCode(xml: string): string {
  return /^\w{1,64}$/.exec(elementOf(xml, 'Code'))?.[0] ?? ''
}

function elementOf(xml: string, name: string): string {
  return unescape(new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '')
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescape(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
      const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}
