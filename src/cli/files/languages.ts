/**
 * The language of a file, by its folder or its frontmatter. Pure.
 */

/** Where a file says its language. */
export type LangFrom = 'folder' | 'frontmatter' | 'none'

export const LANG_FROM: readonly LangFrom[] = ['folder', 'frontmatter', 'none']

/** ISO 639-1, and the codes of three letters that sites of documentation use. */
const LANGUAGES = new Set(
  (
    'aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo ' +
    'es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki ' +
    'kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no ' +
    'nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te ' +
    'tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu fil ckb'
  ).split(' '),
)
/** A language with a script, a region or both: `pt-BR`, `zh_Hans`. */
const CODE = /^([a-z]{2,3})(?:[-_][a-z]{4})?(?:[-_](?:[a-z]{2}|\d{3}))?$/i
const NAMES = ['lang', 'language', 'locale'] as const

/**
 * Of a key whose first part is a language, the language and the rest of the key, so that translations of one
 * page have one key. Undefined if it is none.
 */
export function placeInLanguage(key: string): { readonly key: string; readonly lang: string } | undefined {
  const slash = key.indexOf('/')
  const lang = key.slice(0, Math.max(slash, 0))
  return isLanguage(lang) ? { key: key.slice(slash + 1), lang } : undefined
}

/** The first of `lang`, `language` and `locale` in the metadata whose only value is a code of a language. */
export function languageIn(meta: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const name of NAMES) {
    const values = Object.hasOwn(meta, name) ? meta[name] : undefined
    const value = values?.length === 1 ? values[0] : undefined
    if (value !== undefined && isLanguage(value)) return value
  }
  return undefined
}

function isLanguage(text: string): boolean {
  const language = CODE.exec(text)?.[1]
  return language !== undefined && LANGUAGES.has(language.toLowerCase())
}
