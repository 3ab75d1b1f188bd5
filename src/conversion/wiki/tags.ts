/**
 * The tags of HTML and of the extensions of MediaWiki, and what becomes of each. A name that is not here is
 * text, as in a wiki: `List<String>`. Pure; a tag is found in time linear to its length.
 */

/**
 * - `inline`: the tag is dropped, its content stays; `block`: so, and it separates words;
 * - `dropped`: the content is dropped too;
 * - `nowiki`: the content is text; `math`: so, and entities are not decoded;
 * - `pre`, `code`: the content becomes a fence, of `code` byte for byte.
 */
type TagKind = 'inline' | 'block' | 'dropped' | 'nowiki' | 'math' | 'pre' | 'code'

const KINDS: Readonly<Record<TagKind, string>> = {
  inline:
    'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark meta link noinclude onlyinclude q rb rbc rp rt ' +
    'rtc ruby s samp section small span strike strong sub sup time translate tt tvar u var wbr img languages phonos chem',
  block:
    'address article aside blockquote br caption center col colgroup dd details div dl dt figure figcaption footer h1 h2 h3 h4 h5 h6 ' +
    'header hr li main nav ol p poem summary table tabber tbody td tfoot th thead tr ul',
  dropped:
    'categorytree charinsert gallery graph hiero imagemap includeonly indicator inputbox mapframe maplink ref references rss score ' +
    'script style templatedata templatestyles timeline',
  nowiki: 'nowiki',
  math: 'math ce',
  pre: 'pre',
  code: 'syntaxhighlight source',
}

const KIND_OF: ReadonlyMap<string, TagKind> = new Map(
  (Object.entries(KINDS) as [TagKind, string][]).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)),
)
const NAME_CHARS_MAX = Math.max(...[...KIND_OF.keys()].map((name) => name.length))

export interface Tag {
  readonly name: string
  readonly kind: TagKind
  readonly isEnd: boolean
  /** `<br/>`. */
  readonly isClosed: boolean
  /** Index behind the name, where the attributes begin. */
  readonly nameEnd: number
  /** Index behind `>`. */
  readonly end: number
}

/**
 * @param at of the `<`
 * @returns undefined if no known tag begins there. A tag contains no `<`, so a text of `<b<b<b` is read once.
 */
export function readTag(text: string, at: number): Tag | undefined {
  const isEnd = text.charCodeAt(at + 1) === 0x2f
  const begin = isEnd ? at + 2 : at + 1
  let nameEnd = begin
  while (nameEnd - begin <= NAME_CHARS_MAX && isNameCharacter(text.charCodeAt(nameEnd))) nameEnd++
  if (nameEnd === begin) return undefined
  const name = text.slice(begin, nameEnd).toLowerCase()
  const kind = KIND_OF.get(name)
  if (kind === undefined) return undefined
  for (let end = nameEnd; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === 0x3e) return { name, kind, isEnd, isClosed: text.charCodeAt(end - 1) === 0x2f, nameEnd, end: end + 1 }
    if (code === 0x3c) return undefined
  }
  return undefined
}

function isNameCharacter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)
}

interface Content {
  readonly end: number
  /** Index behind the end tag. */
  readonly next: number
}

/**
 * Finds the end tags of one text, in one direction. A name without a further end tag is remembered, so that a
 * text of unclosed tags is searched once for each name.
 */
export class EndTags {
  readonly #text: string
  readonly #patterns = new Map<string, RegExp>()
  readonly #absent = new Set<string>()

  constructor(text: string) {
    this.#text = text
  }

  /** @param from never before that of an earlier call */
  find(name: string, from: number): Content | undefined {
    if (this.#absent.has(name)) return undefined
    let pattern = this.#patterns.get(name)
    if (pattern === undefined) this.#patterns.set(name, (pattern = new RegExp(`</${name}\\s*>`, 'gi')))
    pattern.lastIndex = from
    const match = pattern.exec(this.#text)
    if (match !== null) return { end: match.index, next: pattern.lastIndex }
    this.#absent.add(name)
    return undefined
  }
}
