/**
 * Reads parts of a document's stored JSON without parsing its content, which comes last. Quotes inside a
 * string are escaped, and the value of a metadata key is a list, so the bytes below occur only once, directly
 * before the content. Pure; read lanes.
 */
import { type CodeMarks, codeMarksOf } from './code_document.js'

const CONTENT = Buffer.from(',"contentMd":"')
const BACKSLASH = 0x5c
const LETTER_U = 0x75

interface DocumentHead {
  readonly key: string
  readonly lang: string
  readonly meta: Readonly<Record<string, readonly string[]>>
}

export function headOf(json: Buffer): DocumentHead {
  return JSON.parse(`${json.toString('utf8', 0, json.indexOf(CONTENT))}}`) as DocumentHead
}

/**
 * Offset of the content's first byte. The content is escaped, and ends two bytes before the end of the JSON.
 */
export function contentStartOf(json: Buffer): number {
  return json.indexOf(CONTENT) + CONTENT.length
}

/**
 * The values that determine how a document's content is analysed. They are found in the bytes of its head.
 * Only heads with metadata `kind` or `path` are parsed.
 */
export function readingOf(json: Buffer): { readonly lang: string; readonly marks: CodeMarks } {
  const head = json.toString('latin1', 0, json.indexOf(CONTENT))
  // Quotes inside strings are escaped. The patterns therefore match only the ends of the id and the key, and
  // the quotes around a metadata key.
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

/** UTF-8 bytes of the content after unescaping. */
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
