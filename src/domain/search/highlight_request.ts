/**
 * Reads which highlights a request asks for, with every default applied. Pure; any lane. Rules: service-1,
 * "Full-text search", and docs/decisions/search/highlights.md.
 */
import { badRequest } from '../../errors.js'

/**
 * Fragments of one document (`maxHighlights`), bytes of one (`fragmentSize`) and of `highlightTag`. Higher
 * numbers are clamped; a longer tag is refused.
 */
const HIGHLIGHTS_MAX = 100
const HIGHLIGHT_FRAGMENT_BYTES_MAX = 10_000
const HIGHLIGHT_TAG_BYTES_MAX = 256

type Absent = null | undefined

export interface HighlightInput {
  readonly highlight?: boolean | Absent
  readonly highlightTag?: string | Absent
  readonly maxHighlights?: number | Absent
  readonly fragmentSize?: number | Absent
}

export interface HighlightRequest {
  readonly opening: string
  readonly closing: string
  /** Maximum number of fragments per document. */
  readonly most: number
  readonly fragmentBytes: number
}

const TAG = '<mark>'
const MOST = 3
const FRAGMENT_BYTES = 150

/** Returns undefined if no highlights are requested. */
export function readHighlight(input: HighlightInput): HighlightRequest | undefined {
  const opening = input.highlightTag || TAG
  const most = readCount('maxHighlights', input.maxHighlights, MOST, HIGHLIGHTS_MAX)
  const fragmentBytes = readCount('fragmentSize', input.fragmentSize, FRAGMENT_BYTES, HIGHLIGHT_FRAGMENT_BYTES_MAX)
  const bytes = Buffer.byteLength(opening)
  if (bytes > HIGHLIGHT_TAG_BYTES_MAX)
    throw badRequest(`invalid highlightTag: ${bytes} bytes, at most ${HIGHLIGHT_TAG_BYTES_MAX} are allowed`)
  return input.highlight === true ? { opening, closing: closingOf(opening), most, fragmentBytes } : undefined
}

/** Same rules as for limits: 0 selects the default, and too large a value is clamped. */
function readCount(name: string, count: number | Absent, fallback: number, most: number): number {
  const wanted = count ?? 0
  if (!Number.isInteger(wanted) || wanted < 0) throw badRequest(`invalid ${name}`)
  return wanted === 0 ? fallback : Math.min(wanted, most)
}

const TAGS = /^(?:\s*<[A-Za-z][^\s<>/]*(?:\s[^<>]*)?>)+\s*$/
const TAG_NAME = /<([A-Za-z][^\s<>/]*)/g
const MIRRORED: Readonly<Record<string, string>> = Object.fromEntries(
  ['()', '[]', '{}', '<>', '«»', '‹›', '“”', '‘’', '「」', '『』', '【】'].flatMap(([left = '', right = '']) => [
    [left, right],
    [right, left],
  ]),
)

/**
 * Tags are closed in reverse order. Other marks are mirrored: `[[` by `]]`, `**_` by `_**`. A string with
 * letters or digits is used unchanged on both sides.
 */
export function closingOf(opening: string): string {
  if (TAGS.test(opening))
    return [...opening.matchAll(TAG_NAME)]
      .reverse()
      .map(([, name]) => `</${name}>`)
      .join('')
  if (/[\p{L}\p{N}]/u.test(opening)) return opening
  return [...opening]
    .reverse()
    .map((mark) => MIRRORED[mark] ?? mark)
    .join('')
}
