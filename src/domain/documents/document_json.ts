/**
 * Reads parts of a document's stored JSON without parsing its content, which comes last. Quotes inside a
 * string are escaped, and a metadata key is followed by a list, so the bytes below occur in front of the
 * content and nowhere else. Pure; read lanes.
 */
import { codeMarksOf, type CodeMarks } from './code_document.js'

const CONTENT = Buffer.from(',"contentMd":"')
const BACKSLASH = 0x5c
const LETTER_U = 0x75

export interface DocumentHead {
  readonly key: string
  readonly lang: string
  readonly meta: Readonly<Record<string, readonly string[]>>
}

export function headOf(json: Buffer): DocumentHead {
  return JSON.parse(`${json.toString('utf8', 0, json.indexOf(CONTENT))}}`) as DocumentHead
}

/** Of the content's first byte, which is escaped; it ends two bytes before the end of the text. */
export function contentStartOf(json: Buffer): number {
  return json.indexOf(CONTENT) + CONTENT.length
}

/**
 * What decides how a document's content is analysed. Found in the bytes of its head; only heads with metadata
 * `kind` or `path` are parsed.
 */
export function readingOf(json: Buffer): { readonly lang: string; readonly marks: CodeMarks } {
  const head = json.toString('latin1', 0, json.indexOf(CONTENT))
  // The quotes of other texts are escaped, so these stand behind the key and around a metadata key, and
  // nowhere before or else.
  const lang = head.indexOf(LANG)
  if (lang < 0 || head.includes('"kind":[') || head.includes('"path":[')) {
    const { key, lang: name, meta } = headOf(json)
    return { lang: name, marks: codeMarksOf(key, Object.entries(meta)) }
  }
  const key = head.slice(head.indexOf(KEY) + KEY.length, lang)
  return { lang: head.slice(lang + LANG.length, head.indexOf('"', lang + LANG.length)), marks: codeMarksOf(key, []) }
}

const KEY = '","key":"'
const LANG = '","lang":"'

/** UTF-8 bytes of the content, its escapes resolved. */
export function contentBytesOf(json: Buffer): number {
  const escaped = json.subarray(contentStartOf(json), json.length - 2)
  let bytes = escaped.length
  for (let at = escaped.indexOf(BACKSLASH); at >= 0; at = escaped.indexOf(BACKSLASH, at)) {
    const isLong = escaped[at + 1] === LETTER_U
    // Only control characters and lone surrogates are written as \uXXXX: one byte, or three.
    const length = isLong ? 6 : 2
    bytes -= length - (isLong && escaped[at + 2] !== 0x30 ? 3 : 1)
    at += length
  }
  return bytes
}
