/**
 * The languages of text analysis. The order of the first 21 entries is that of `CODES` in
 * wasm/analyzer/src/languages.rs, because the index is passed to the WASM module. Pure data, any thread.
 */
interface Language {
  readonly code: string
  readonly name: string
}

/**
 * 18 languages have stop words and a stemmer. Chinese is segmented into words. Japanese and Korean are
 * indexed by single characters and pairs of characters.
 */
export const LANGUAGES: readonly Language[] = [
  { code: 'en', name: 'English' },
  { code: 'pl', name: 'Polish' },
  { code: 'de', name: 'German' },
  { code: 'fr', name: 'French' },
  { code: 'es', name: 'Spanish' },
  { code: 'it', name: 'Italian' },
  { code: 'pt', name: 'Portuguese' },
  { code: 'nl', name: 'Dutch' },
  { code: 'ru', name: 'Russian' },
  { code: 'sv', name: 'Swedish' },
  { code: 'no', name: 'Norwegian' },
  { code: 'da', name: 'Danish' },
  { code: 'fi', name: 'Finnish' },
  { code: 'hu', name: 'Hungarian' },
  { code: 'ro', name: 'Romanian' },
  { code: 'tr', name: 'Turkish' },
  { code: 'ar', name: 'Arabic' },
  { code: 'ta', name: 'Tamil' },
  { code: 'zh', name: 'Chinese' },
  { code: 'ja', name: 'Japanese' },
  { code: 'ko', name: 'Korean' },
]

const INDEX_BY_CODE: ReadonlyMap<string, number> = new Map(LANGUAGES.map(({ code }, index) => [code, index]))

/** Codes that map to a language of the list: the two written forms of Norwegian. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['nb', 'no'],
  ['nn', 'no'],
])

const DEFAULT_CODE = 'en'

/**
 * Returns the base code of a language tag in any spelling (`en_US`, `PT-br`). If the tag's language is not in
 * the list, `fallback` is resolved in the same way.
 */
export function resolveLanguage(lang: string, fallback: string): string {
  return baseCode(lang) ?? baseCode(fallback) ?? DEFAULT_CODE
}

function baseCode(tag: string): string | undefined {
  const base =
    tag
      .trim()
      .toLowerCase()
      .split(/[-_.@]/, 1)[0] ?? ''
  const code = ALIASES.get(base) ?? base
  return INDEX_BY_CODE.has(code) ? code : undefined
}

/**
 * Returns the number that identifies a base code to the WASM analyzer. An unknown code returns the number one
 * past the list, which means no stop words and no stemmer.
 */
export function languageIndex(code: string): number {
  return INDEX_BY_CODE.get(code) ?? LANGUAGES.length
}
