/** What a fetched page is, by its content type and its first bytes. Pure. */
import { isUtf8 } from 'node:buffer'

export interface PageKind {
  readonly form: 'text' | 'html' | 'binary'
  /** Without parameters; `unknown` if there is none. */
  readonly type: string
  /** As named; empty: none was. Letters, digits, dots, hyphens and underscores only. */
  readonly charset: string
}

const HTML = new Set(['text/html', 'application/xhtml+xml'])
/** Types outside of text/ that are text. */
const TEXT =
  /^(?:text\/.+|application\/(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|ecmascript|x-sh|sql|x-tex|x-latex|.+\+(?:json|xml|yaml)))$/
/** Of servers that do not know what they send. */
const UNKNOWN = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'unknown/unknown'])
/** Bytes in which a page without a type is looked at. */
const LOOKED_AT_BYTES = 4096

export function pageKind(contentType: string, body: Uint8Array): PageKind {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const charset = /^charset\s*=\s*"?([\w.-]{1,40})"?$/.exec(parameters.find((each) => each.startsWith('charset')) ?? '')?.[1] ?? ''
  const named = { type: type === '' ? 'unknown' : type, charset }
  if (HTML.has(type)) return { ...named, form: 'html' }
  if (TEXT.test(type)) return { ...named, form: 'text' }
  return { ...named, form: UNKNOWN.has(type) ? formOf(body) : 'binary' }
}

/** UTF-8 without NUL is text. */
function formOf(body: Uint8Array): PageKind['form'] {
  if (!isUtf8(body) || body.includes(0)) return 'binary'
  const begin = Buffer.from(body.subarray(0, LOOKED_AT_BYTES)).toString('utf8').trimStart()
  return /^<(?:!doctype html|html)[\s>]/i.test(begin) ? 'html' : 'text'
}
