/**
 * Parses the two XML documents of an S3-compatible store: a page of a listing, and an error. Their structure
 * is fixed, so single elements are extracted without an XML parser. The values are only trusted as text.
 * Pure.
 */

interface ListedObject {
  readonly key: string
  readonly bytes: number
}

export interface ListedPage {
  readonly objects: readonly ListedObject[]
  /** Undefined on the last page. */
  readonly next: string | undefined
}

/**
 * Parses a `ListBucketResult`. Keys are URL-decoded only if the document says that they are encoded, because
 * not every store honours `encoding-type=url`.
 * @throws Error for any other document
 */
export function parseListing(xml: string): ListedPage {
  if (!/<ListBucketResult[\s>]/.test(xml)) throw new Error('the object store did not answer with a listing')
  const isEncoded = elementOf(xml, 'EncodingType') === 'url'
  const objects = [...xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)].map(([, object = '']) => {
    const key = isEncoded ? decodeURIComponent(elementOf(object, 'Key').replaceAll('+', ' ')) : elementOf(object, 'Key')
    const bytes = Number(elementOf(object, 'Size'))
    if (key === '' || !Number.isSafeInteger(bytes)) throw new Error("invalid entry in the object store's listing")
    return { key, bytes }
  })
  const next = elementOf(xml, 'NextContinuationToken')
  return { objects, next: elementOf(xml, 'IsTruncated') === 'true' && next !== '' ? next : undefined }
}

/** Returns the code of an error document, e.g. `NoSuchBucket`, or an empty string. */
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
