/**
 * Where JavaScript, tags and comments in a text of MDX end, without parsing them: brackets, strings,
 * templates and comments are counted. What does not end is no such thing. Linear: characters that were read
 * ahead in vain are counted, and above a bound nothing is looked for any more. Pure.
 */

/** Brackets in each other. The largest tables of data in real pages have 8. */
const MDX_BRACKETS_DEEP_MAX = 500
/** Characters of one expression, statement or tag: data and pictures within a page have some 100 KB. */
const MDX_CODE_CHARACTERS_MAX = 1_000_000
/** Characters of a text that are read ahead in vain, for brackets that nothing closes: 20 ms. */
const MDX_VAIN_CHARACTERS_MAX = 4_000_000

export interface Tag {
  /** Index behind it. */
  readonly end: number
  readonly kind: 'open' | 'close' | 'empty'
  /** Empty for a fragment. */
  readonly name: string
}

/** Names longer than this are none. */
const TAG_BEGIN = /<(\/?)([A-Za-z_$][\w$-]{0,200}(?:[.:][A-Za-z_$][\w$-]{0,200}){0,20})?/y
const ATTRIBUTE = /[A-Za-z_$@][\w$:.-]{0,200}/y
const BARE_VALUE = /[^\s"'=<>`{}]{1,1000}/y
const BLANK_LINE = /\n[ \t]*(?=\n|$)/g
const IN_CODE = /["'`{}()[\]\n/]/g
const IN_TEMPLATE = /[`\\]|\$\{/g
const OPENERS: Readonly<Record<string, string>> = { ')': '(', ']': '[' }

export class CodeEnds {
  #vain = 0
  /** By quote: no string of a line ends in front of this index. */
  readonly #openUntil: Record<string, number> = {}

  constructor(readonly text: string) {}

  /** @returns the index behind the brace that closes the one at `from` */
  expression(from: number): number | undefined {
    return this.#scan(from, false)
  }

  /** @returns the end of the last line of the statements: the next line is blank, and no bracket is open */
  statements(from: number): number {
    const end = this.#scan(from, true)
    if (end !== undefined) return end
    BLANK_LINE.lastIndex = from
    return BLANK_LINE.exec(this.text)?.index ?? this.text.length
  }

  /** @returns the index behind `closing` */
  behind(closing: string, from: number): number | undefined {
    if (this.#vain > MDX_VAIN_CHARACTERS_MAX) return undefined
    const at = this.text.indexOf(closing, from)
    return at < 0 ? this.#inVain(from, this.text.length) : at + closing.length
  }

  tag(from: number): Tag | undefined {
    const [begin = '', slash, name = ''] = this.#match(TAG_BEGIN, from) ?? []
    if (begin === '') return undefined
    let at = from + begin.length
    if (name !== '' && !/[\s/>{]/.test(this.text[at] ?? '')) return undefined
    const end = Math.min(this.text.length, from + MDX_CODE_CHARACTERS_MAX)
    while (at < end && this.#vain <= MDX_VAIN_CHARACTERS_MAX) {
      at = this.#skipBlanks(at)
      if (this.text[at] === '>') return { end: at + 1, kind: slash === '/' ? 'close' : 'open', name }
      if (name === '') break
      if (this.text.startsWith('/>', at)) return { end: at + 2, kind: 'empty', name }
      const next = this.text[at] === '{' ? this.expression(at) : this.#attribute(at)
      if (next === undefined) break
      at = next
    }
    return this.#inVain(from, at)
  }

  #attribute(from: number): number | undefined {
    const [name] = this.#match(ATTRIBUTE, from) ?? []
    if (name === undefined) return undefined
    const at = this.#skipBlanks(from + name.length)
    if (this.text[at] !== '=') return at
    const value = this.#skipBlanks(at + 1)
    const first = this.text[value] ?? ''
    if (first === '"' || first === "'") return this.behind(first, value + 1)
    if (first === '{') return this.expression(value)
    const [bare] = this.#match(BARE_VALUE, value) ?? []
    return bare === undefined ? undefined : value + bare.length
  }

  #scan(from: number, isStatement: boolean): number | undefined {
    if (this.#vain > MDX_VAIN_CHARACTERS_MAX) return undefined
    const end = Math.min(this.text.length, from + MDX_CODE_CHARACTERS_MAX)
    const open = new OpenBrackets()
    let at = from
    while (at < end && open.depth <= MDX_BRACKETS_DEEP_MAX) {
      const stops = open.isInTemplate ? IN_TEMPLATE : IN_CODE
      stops.lastIndex = at
      const stop = stops.exec(this.text)
      if (stop === null || stop.index >= end) {
        at = end
        break
      }
      at = stop.index + stop[0].length
      const sign = stop[0]
      if (sign === '\n') {
        if (isStatement && open.depth === 0 && this.#isBlankLine(at)) return stop.index
      } else if (sign === '"' || sign === "'") at = this.#behindString(stop.index, sign)
      else if (sign === '/') at = this.#behindComment(stop.index, end)
      else if (sign === '\\') at += 1
      else {
        open.count(sign, isStatement)
        if (!isStatement && open.depth === 0) return at
      }
    }
    if (isStatement && open.depth === 0 && end === this.text.length) return end
    return this.#inVain(from, at)
  }

  /** A quote whose line has no second one is an apostrophe. */
  #behindString(from: number, quote: string): number {
    if (from < (this.#openUntil[quote] ?? 0)) return from + 1
    for (let at = from + 1; ; at += 1) {
      const sign = this.text[at]
      if (sign === quote) return at + 1
      if (sign === undefined || sign === '\n') {
        this.#openUntil[quote] = at
        return from + 1
      }
      if (sign === '\\') at += 1
    }
  }

  #behindComment(from: number, end: number): number {
    const second = this.text[from + 1]
    if (second === '*') return this.behind('*/', from + 2) ?? from + 1
    // `https://` in the text of an element.
    if (second !== '/' || this.text[from - 1] === ':') return from + 1
    const lineEnd = this.text.indexOf('\n', from)
    return lineEnd < 0 ? end : lineEnd
  }

  #isBlankLine(from: number): boolean {
    for (let at = from; ; at += 1) {
      const sign = this.text[at]
      if (sign === undefined || sign === '\n') return true
      if (sign !== ' ' && sign !== '\t') return false
    }
  }

  #skipBlanks(from: number): number {
    let at = from
    while (/\s/.test(this.text[at] ?? '')) at += 1
    return at
  }

  #match(pattern: RegExp, at: number): RegExpExecArray | null {
    pattern.lastIndex = at
    return pattern.exec(this.text)
  }

  #inVain(from: number, to: number): undefined {
    this.#vain += to - from
  }
}

class OpenBrackets {
  readonly #open: string[] = []
  #braces = 0

  get depth(): number {
    return this.#open.length
  }

  get isInTemplate(): boolean {
    return this.#open.at(-1) === '`'
  }

  /** @param isStatement round and square brackets count; in expressions they are often signs of a text */
  count(sign: string, isStatement: boolean): void {
    if (sign === '`' && this.isInTemplate) this.#open.pop()
    else if (sign === '{' || sign === '${') {
      this.#open.push(sign)
      this.#braces += 1
    } else if (sign === '}') this.#closeBrace()
    else if (sign === '`') this.#open.push(sign)
    else if (!isStatement) return
    else if (sign === '(' || sign === '[') this.#open.push(sign)
    else if (this.#open.at(-1) === OPENERS[sign]) this.#open.pop()
  }

  /** Other brackets in it that are open were signs of a text. */
  #closeBrace(): void {
    if (this.#braces === 0) return
    this.#braces -= 1
    while (!this.#open.pop()?.endsWith('{')) continue
  }
}
