/**
 * First pass of the converter: removes what a reader of the page does not see (templates, comments, refs,
 * tags, magic words, files, categories) and resolves links and entities. What is left has lines, tables and
 * quotes as in wikitext. One scan by index, whose steps only move forward: time is linear to the text. Pure.
 */
import { decodeEntities, readEntity } from './entities.js'
import { readExternalUrl } from './external_urls.js'
import { readMagicWord } from './magic_words.js'
import type { OpenLink } from './open_constructs.js'
import { OpenConstructs } from './open_constructs.js'
import { beginsBlock, protect, protectFence, protectText } from './protected_text.js'
import type { Tag } from './tags.js'
import { EndTags, readTag } from './tags.js'

/** Characters at which something may begin or end. */
const EVENTS = Uint8Array.from({ length: 128 }, (_, code) => ('\n&<[]_{|}'.includes(String.fromCharCode(code)) ? 1 : 0))
/** A namespace has a name of 40 characters at most; looking further would read long targets twice. */
const NAMESPACE_CHARS_MAX = 64

const [NEWLINE, AMPERSAND, LESS, OPEN_BRACKET, CLOSE_BRACKET, UNDERSCORE, OPEN_BRACE, PIPE, CLOSE_BRACE] = [
  10, 38, 60, 91, 93, 95, 123, 124, 125,
]
const [COLON, SPACE, TAB] = [58, 32, 9]

/** @param dropped lower-case prefixes of links that are dropped: files and categories */
export function removeMarkup(text: string, dropped: ReadonlySet<string>): string {
  return new MarkupRemoval(text, dropped).run()
}

class MarkupRemoval {
  readonly #text: string
  readonly #dropped: ReadonlySet<string>
  readonly #open = new OpenConstructs()
  readonly #endTags: EndTags
  /** Where the text that is not a piece yet begins. */
  #from = 0

  constructor(text: string, dropped: ReadonlySet<string>) {
    this.#text = text
    this.#dropped = dropped
    this.#endTags = new EndTags(text)
  }

  run(): string {
    const text = this.#text
    const { length } = text
    let at = 0
    while (at < length) {
      const code = text.charCodeAt(at)
      at = code > 127 || EVENTS[code] === 0 ? at + 1 : this.#event(code, at)
    }
    if (this.#from === 0) return text
    this.#flush(length)
    return this.#open.pieces.join('')
  }

  /** @returns the index of the next character to look at, always behind `at` */
  #event(code: number, at: number): number {
    switch (code) {
      case NEWLINE:
        this.#open.endLine(this.#text.charCodeAt(at + 1) === NEWLINE)
        return at + 1
      case AMPERSAND:
        return this.#entity(at)
      case LESS:
        return this.#less(at)
      case OPEN_BRACKET:
        return this.#openBrackets(at)
      case CLOSE_BRACKET:
        return this.#closeBracket(at)
      case OPEN_BRACE:
        return this.#openBraces(at)
      case CLOSE_BRACE:
        return this.#closeBraces(at)
      case PIPE:
        return this.#pipe(at)
      default:
        return this.#underscore(at)
    }
  }

  /** The text before `at` becomes a piece; what follows begins at `next`. */
  #flush(at: number, next = at): void {
    if (at > this.#from) this.#open.pieces.push(this.#text.slice(this.#from, at))
    this.#from = next
  }

  /** Replaces the text from `at` to `next`. */
  #replace(at: number, next: number, replacement: string): number {
    this.#flush(at, next)
    if (replacement !== '') this.#open.pieces.push(replacement)
    return next
  }

  #endOfRun(code: number, at: number): number {
    let end = at + 1
    while (this.#text.charCodeAt(end) === code) end++
    return end
  }

  #openBraces(at: number): number {
    const end = this.#endOfRun(OPEN_BRACE, at)
    if (end - at < 2) return end
    this.#flush(at, end)
    this.#open.openBraces(end - at)
    return end
  }

  #closeBraces(at: number): number {
    const end = this.#endOfRun(CLOSE_BRACE, at)
    if (end - at < 2 || !this.#open.hasBraces) return end
    this.#flush(at)
    this.#from = end - this.#open.closeBraces(end - at)
    // A cell that had only a template is empty: its pipes must not become one mark.
    if (this.#text.charCodeAt(end) === PIPE && this.#open.pieces.at(-1)?.endsWith('|') === true) this.#open.pieces.push(' ')
    return end
  }

  #openBrackets(at: number): number {
    const end = this.#endOfRun(OPEN_BRACKET, at)
    const url = readExternalUrl(this.#text, end)
    if (url !== undefined) {
      this.#flush(end - 1, url.next)
      this.#open.openUrl(url.url, this.#text.slice(end - 1, url.next))
      return url.next
    }
    if (end - at < 2) return end
    this.#flush(end - 2, end)
    this.#open.openLink(end)
    if (this.#text.charCodeAt(end) === COLON) this.#from = end + 1
    else this.#protectNext(end)
    return end
  }

  /** The first character of a label must not make its line a list. */
  #protectNext(at: number): void {
    if (!beginsBlock(this.#text.charCodeAt(at))) return
    this.#open.pieces.push(protect(this.#text.charAt(at)))
    this.#from = at + 1
  }

  #pipe(at: number): number {
    const link = this.#open.link()
    if (link === undefined) return at + 1
    this.#flush(at, at + 1)
    this.#open.addPipe(link, at)
    if (link.pipe === at) this.#protectNext(at + 1)
    return Math.max(at + 1, this.#from)
  }

  #closeBracket(at: number): number {
    const link = this.#text.charCodeAt(at + 1) === CLOSE_BRACKET ? this.#open.link() : undefined
    const { url } = this.#open
    if (url !== undefined && !(link !== undefined && link.piece > url.piece)) {
      this.#flush(at, at + 1)
      this.#open.closeUrl(url)
      return at + 1
    }
    if (link === undefined) return at + 1
    this.#flush(at)
    const targetEnd = link.pipe < 0 ? at : link.pipe
    if (targetEnd === link.begin) this.#open.dropLink()
    else {
      this.#from = at + 2
      this.#open.closeLink(link, this.#isDropped(link, targetEnd) ? 'nothing' : link.pipe >= 0 && link.pipe + 1 < at ? 'label' : 'target')
    }
    return at + 2
  }

  #isDropped({ begin }: OpenLink, end: number): boolean {
    const last = Math.min(end, begin + NAMESPACE_CHARS_MAX)
    for (let colon = begin; colon < last; colon++) {
      if (this.#text.charCodeAt(colon) !== COLON) continue
      const name = this.#text.slice(begin, colon).replaceAll('_', ' ').trim().toLowerCase()
      return this.#dropped.has(name)
    }
    return false
  }

  #entity(at: number): number {
    const entity = readEntity(this.#text, at)
    if (entity === undefined) return at + 1
    const { character, end } = entity
    if (character === '<') return this.#replace(at, end, this.#literalLess(end))
    // What was `&amp;lt;` is the text `&lt;`, which markdown would read as an entity again.
    const isAmpersand = character === '&' && readEntity(`&${this.#text.slice(end, end + 12)}`, 0) !== undefined
    return this.#replace(at, end, isAmpersand ? '&amp;' : protect(character))
  }

  /** @param next index of what follows: markdown would read a tag of HTML where a name follows */
  #literalLess(next: number): string {
    return /[a-z/!?]/i.test(this.#text.charAt(next)) ? '\\<' : '<'
  }

  #less(at: number): number {
    const text = this.#text
    if (text.startsWith('<!--', at)) return this.#comment(at)
    const tag = readTag(text, at)
    if (tag === undefined) {
      const literal = this.#literalLess(at + 1)
      return literal === '<' || text.charCodeAt(at - 1) === 0x5c ? at + 1 : this.#replace(at, at + 1, literal)
    }
    const { kind } = tag
    if (kind === 'block') return this.#replace(at, tag.end, this.#separates(at, tag.end) ? ' ' : '')
    const content = kind === 'inline' || tag.isEnd || tag.isClosed ? undefined : this.#endTags.find(tag.name, tag.end)
    if (content === undefined) return this.#replace(at, tag.end, '')
    if (kind === 'dropped') return this.#replace(at, content.next, '')
    const shown = verbatim(tag, text.slice(tag.nameEnd, tag.end - 1), text.slice(tag.end, content.end))
    return this.#replace(at, content.next, shown.startsWith('```') ? this.#onItsOwnLine(shown, at, content.next) : shown)
  }

  #onItsOwnLine(fence: string, at: number, end: number): string {
    const before = at === 0 || this.#text.charCodeAt(at - 1) === NEWLINE ? '' : '\n'
    return `${before}${fence}${this.#text.charCodeAt(end) === NEWLINE ? '' : '\n'}`
  }

  #separates(at: number, end: number): boolean {
    return at > 0 && end < this.#text.length && !isBlank(this.#text.charCodeAt(at - 1)) && !isBlank(this.#text.charCodeAt(end))
  }

  /** A comment that has a line to itself takes the line with it, so that a list is not interrupted. */
  #comment(at: number): number {
    const text = this.#text
    const close = text.indexOf('-->', at + 4)
    if (close < 0) return this.#replace(at, text.length, '')
    let [begin, end] = [at, close + 3]
    while (begin > this.#from && isSpaceOrTab(text.charCodeAt(begin - 1))) begin--
    while (isSpaceOrTab(text.charCodeAt(end))) end++
    const hasLine = text.charCodeAt(end) === NEWLINE && begin > this.#from && text.charCodeAt(begin - 1) === NEWLINE
    return hasLine ? this.#replace(begin, end + 1, '') : this.#replace(at, close + 3, '')
  }

  #underscore(at: number): number {
    const end = readMagicWord(this.#text, at)
    return end === undefined ? this.#endOfRun(UNDERSCORE, at) : this.#replace(at, end, '')
  }
}

const isSpaceOrTab = (code: number): boolean => code === SPACE || code === TAB
const isBlank = (code: number): boolean => isSpaceOrTab(code) || code === NEWLINE

/** Text that is shown as it is written. */
function verbatim({ kind }: Tag, attributes: string, content: string): string {
  if (kind === 'math') return protectText(content.trim())
  if (kind === 'nowiki') return protectText(decodeEntities(content).replace(/<(?=[a-z/!?])/gi, '\\<'))
  const isInline = kind === 'code' && /\binline\b/.test(attributes)
  const text = kind === 'code' ? content : decodeEntities(content.replace(/<\/?nowiki\s*\/?>/gi, ''))
  if (text.trim() === '') return ''
  const ticks = '`'.repeat(longestRunOfTicks(text) + 1)
  if (isInline) return protectText(`${ticks} ${text.trim()} ${ticks}`).replace(/^(`) ([^`]*) (`)$/, '$1$2$3')
  const language = kind === 'code' ? (/\blang\s*=\s*["']?([\w+#-]{1,40})/i.exec(attributes)?.[1] ?? '') : ''
  const fence = ticks.length < 3 ? '```' : ticks
  return `${protectFence(`${fence}${language}\n${text.replace(/^\n/, '').trimEnd()}\n`)}${fence}`
}

function longestRunOfTicks(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
