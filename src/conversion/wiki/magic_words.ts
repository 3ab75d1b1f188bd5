/** Magic words `__NOTOC__`, which tell a wiki how to show a page. Pure; a word has a bounded length. */

/** Characters of a word: the longest known one has 27. */
const WORD_CHARS_MAX = 40

/** The words of MediaWiki and its extensions. Other names in ASCII are text: `__init__`, `__FILE__`. */
const WORDS: ReadonlySet<string> = new Set(
  (
    'toc notoc forcetoc nogallery noeditsection notitleconvert notc nocontentconvert nocc index noindex newsectionlink nonewsectionlink ' +
    'hiddencat expectunusedcategory expectunusedtemplate expectedunusedcategory staticredirect disambig noglobal archivedtalk notalk ' +
    'start end cattree nocattree expectwithoutscans noheader nofooter norating'
  ).split(' '),
)

const UNDERSCORE = 0x5f

/**
 * Words in other scripts are recognised by their capitals.
 * @param at of the first underscore
 * @returns the index behind the word, or undefined
 */
export function readMagicWord(text: string, at: number): number | undefined {
  if (text.charCodeAt(at + 1) !== UNDERSCORE) return undefined
  const begin = at + 2
  const last = Math.min(text.length, begin + WORD_CHARS_MAX)
  let end = begin
  while (end < last && text.charCodeAt(end) !== UNDERSCORE && text.charCodeAt(end) > 0x20) end++
  if (end === begin || text.charCodeAt(end) !== UNDERSCORE || text.charCodeAt(end + 1) !== UNDERSCORE) return undefined
  const word = text.slice(begin, end)
  const isWord = /^[a-z]+$/i.test(word) ? WORDS.has(word.toLowerCase()) : /^[\p{Lu}\p{Lo}]+$/u.test(word)
  return isWord ? end + 2 : undefined
}
