/**
 * The tokens of a text, estimated without a tokenizer, and the part of a text that has a number of them. The
 * estimate is on the high side of what tokenizers make of JSON: a character that is rare in their tables
 * counts as each of its bytes. What it was measured against is in docs/decisions/interfaces/mcp.md. Pure; any
 * thread.
 */

/** No character counts less. */
const TOKENS_A_CHARACTER_MIN = 0.4
const TOKENS_A_DIGIT = 1
const TOKENS_A_CAPITAL = 0.8
/** Of a script that tokenizers know well, and of one that they know by its bytes. */
const TOKENS_KNOWN = 1.6
const TOKENS_SELDOM = 2.2
const TOKENS_UNKNOWN = 3

/** Tokens by UTF-16 unit, from the first up to the end. Later rows go before earlier ones. */
const RANGES: readonly (readonly [first: number, end: number, tokens: number])[] = [
  [0x0000, 0x10000, TOKENS_UNKNOWN],
  [0x0000, 0x0080, TOKENS_A_CHARACTER_MIN],
  // Digits and capitals: hexadecimal digits, identifiers and base64 are no words.
  [0x0030, 0x003a, TOKENS_A_DIGIT],
  [0x0041, 0x005b, TOKENS_A_CAPITAL],
  // Latin, Greek, Cyrillic; Armenian and Hebrew; Arabic; Syriac, Thaana and N'Ko.
  [0x0080, 0x0530, 1],
  [0x0530, 0x0600, TOKENS_SELDOM],
  [0x0600, 0x0700, 1],
  [0x0700, 0x0800, TOKENS_SELDOM],
  // Devanagari and Bengali; Gurmukhi and Gujarati; Tamil; Telugu, Kannada, Malayalam and Sinhala; Thai.
  [0x0900, 0x0a00, TOKENS_KNOWN],
  [0x0a00, 0x0b00, TOKENS_SELDOM],
  [0x0b80, 0x0c00, TOKENS_KNOWN],
  [0x0c00, 0x0e00, TOKENS_SELDOM],
  [0x0e00, 0x0e80, TOKENS_KNOWN],
  // Tibetan, Burmese and Georgian; Khmer. Lao stays unknown.
  [0x0f00, 0x1100, TOKENS_SELDOM],
  [0x1780, 0x1800, TOKENS_KNOWN],
  // More Latin and Greek, punctuation and symbols; of mathematics.
  [0x1e00, 0x2c00, TOKENS_KNOWN],
  [0x2200, 0x2300, TOKENS_SELDOM],
  // Japanese, Chinese, Korean, and their full-width forms.
  [0x3000, 0x3400, TOKENS_KNOWN],
  [0x4e00, 0xa000, TOKENS_KNOWN],
  [0xac00, 0xd7b0, TOKENS_KNOWN],
  [0xff00, 0xfff0, TOKENS_KNOWN],
  // Each half of a character of four bytes, as emoji are.
  [0xd800, 0xe000, 2],
]

const TOKENS = new Float32Array(0x10000)
for (const [first, end, tokens] of RANGES) TOKENS.fill(tokens, first, end)

/** The same within a JSON string, where `\n` is two characters and `\u0001` six. */
const TOKENS_IN_JSON = TOKENS.map((tokens, unit) =>
  unit < 0x80 ? unroundedTokensOf(JSON.stringify(String.fromCharCode(unit)).slice(1, -1)) : tokens,
)

/** Where a text is best cut. */
const BOUNDARIES = ['\n\n', '\n', ' ']
/** A boundary before this share of the part would lose too much of it. */
const BOUNDARY_SHARE_MIN = 0.5

export function tokensOf(text: string): number {
  return Math.ceil(unroundedTokensOf(text))
}

/** The same before it is rounded up. */
export function unroundedTokensOf(text: string): number {
  let tokens = 0
  for (let at = 0; at < text.length; at++) tokens += TOKENS[text.charCodeAt(at)] ?? 0
  return tokens
}

/** Does not look at texts that are much too long. */
export function isWithin(text: string, tokens: number): boolean {
  return text.length * TOKENS_A_CHARACTER_MIN <= tokens && tokensOf(text) <= tokens
}

/**
 * Where the part of a text that begins at `start` ends, so that it has at most the given number of tokens as
 * JSON: behind a paragraph, a line or a word if one ends in its second half, else between two characters.
 */
export function endOfPart(text: string, start: number, tokens: number): number {
  let end = start
  for (let used = 0; end < text.length; end++) {
    used += TOKENS_IN_JSON[text.charCodeAt(end)] ?? 0
    if (used > tokens) break
  }
  if (end === text.length) return end
  const least = start + (end - start) * BOUNDARY_SHARE_MIN
  for (const boundary of BOUNDARIES) {
    const behind = text.lastIndexOf(boundary, end - boundary.length) + boundary.length
    if (behind > least && behind <= end) return behind
  }
  return characterStart(text, end)
}

/** The offset itself, or the one before it if it is between the halves of a character. */
export function characterStart(text: string, offset: number): number {
  const character = offset > 0 ? (text.codePointAt(offset - 1) ?? 0) : 0
  return character > 0xffff ? offset - 1 : offset
}
