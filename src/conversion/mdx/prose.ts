/**
 * The prose of a text of MDX, as markdown: `import` and `export` at the top level, tags, comments and
 * expressions are left out; children of tags stay, and lose the indentation that their tag gave them. Code
 * and formulas are not touched. Linear in the text, whatever it is. Pure.
 */
import { escapeText } from '../markdown/escape.js'
import { CodeEnds, type Tag } from './code_ends.js'
import { CodeSpans, FENCE_PREFIX } from './code_spans.js'

/** Elements in each other whose indentation is known. Real pages have 6. */
const MDX_ELEMENTS_DEEP_MAX = 200
/** Open elements among which a closing tag looks for its own, so that a page of tags takes linear time. */
const MDX_CLOSED_AT_ONCE_MAX = 20
/** Characters of the line that ends a fence. */
const FENCE_END_CHARACTERS_MAX = 1000

interface Element {
  readonly name: string
  /** Columns of its tag, as they are written. */
  readonly column: number
  /** Columns that lines in it lose: known with its first line. */
  shift: number | undefined
}

/** Forms that prose does not have: a paragraph may begin with `import maps` or `export default values`. */
const STATEMENT = new RegExp(
  [
    `import[ \\t]*(?:["'][^"'\\n]{1,500}["'][ \\t]*;?[ \\t]*(?:\\n|$)|\\{|\\*[ \\t]+as\\b)`,
    `import[ \\t]+(?:type[ \\t]*\\{|(?:type[ \\t]+)?[\\w$]{1,200}(?:[ \\t]*,[ \\t]*[{*]|[ \\t]+from[ \\t]*["']))`,
    `export[ \\t]*(?:\\{|\\*[ \\t]+(?:as|from)\\b)`,
    `export[ \\t]+(?:default[ \\t]+)?(?:async\\b|function\\b|class[ \\t]+[\\w$]{1,200}[ \\t]*(?:\\{|<|extends\\b))`,
    `export[ \\t]+default[ \\t]+(?:[({[<]|[\\w$.]{1,200}[ \\t]*(?:[;(=]|\\n|$))`,
    `export[ \\t]+(?:const|let|var)[ \\t]+(?:[{[]|[\\w$]{1,200}[ \\t]*[=:;,\\n])`,
    `export[ \\t]+(?:type|interface|enum)[ \\t]+[\\w$]{1,200}[ \\t]*(?:[=<{]|extends\\b)`,
  ].join('|'),
  'y',
)
const FENCE = new RegExp(`${FENCE_PREFIX}(\`{3,}|~{3,}|\\$\\$)`, 'y')
const FENCE_END = /^[ \t>]{0,100}(`{3,}|~{3,}|\$\$)[ \t]*$/
const SPECIAL = /[\\`<{$\n]/g
const ANCHOR = /\{#[^\s{}]{1,200}\}/y
const FORMULA = /\$(?=\S)[^$\n]*?[^\s$\\]\$(?!\d)/y
const WORD_END = /[\p{L}\p{N}]$/u
const WORD_BEGIN = /^[\p{L}\p{N}]/u
/** Tags between letters of one word. All others separate words. */
const WITHIN_WORDS = new Set('a b i u s q em strong code span sub sup kbd small mark abbr del ins cite var samp wbr'.split(' '))
const WITHOUT_PROSE = new Set(['script', 'style'])

/** @param text without frontmatter */
export function mdxProse(text: string): string {
  return new ProseReader(text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')).read()
}

class ProseReader {
  readonly #text: string
  readonly #ends: CodeEnds
  readonly #spans: CodeSpans
  readonly #lines: string[] = []
  readonly #elements: Element[] = []
  #at = 0
  #line = new OutputLine()
  /** Something of the line was left out. */
  #isTouched = false
  /** What was left out separates words. */
  #isGap = false
  /** Since the last line with text, a line was left out. */
  #isAfterRemoval = false

  constructor(text: string) {
    this.#text = text
    this.#ends = new CodeEnds(text)
    this.#spans = new CodeSpans(text)
  }

  read(): string {
    while (this.#at < this.#text.length) this.#readLine()
    if (this.#isAfterRemoval) while (this.#lines.at(-1)?.trim() === '') this.#lines.pop()
    return this.#lines.join('\n') + (this.#lines.length > 0 && this.#text.endsWith('\n') ? '\n' : '')
  }

  #readLine(): void {
    const begin = this.#at
    const indent = this.#indentAt(begin)
    const sign = this.#text[begin + indent]
    if (sign === undefined || sign === '\n') {
      this.#at = begin + indent + 1
      return this.#addBlank(this.#text.slice(begin, begin + indent))
    }
    if (this.#readFence(indent) || this.#readStatements()) return
    this.#line = new OutputLine()
    this.#line.add(this.#text.slice(begin + Math.min(indent, this.#shiftOf(indent)), begin + indent))
    this.#isTouched = false
    this.#isGap = false
    this.#at = begin + indent
    while (this.#readPiece()) continue
    this.#endLine()
  }

  /** @returns false at the end of the line, which is passed */
  #readPiece(): boolean {
    SPECIAL.lastIndex = this.#at
    const special = SPECIAL.exec(this.#text)
    const end = special?.index ?? this.#text.length
    if (end > this.#at) this.#addText(end)
    if (special === null) return false
    const [sign] = special
    if (sign === '\n') {
      this.#at += 1
      return false
    }
    if (sign === '\\') this.#addText(this.#at + (/[\n ]/.test(this.#text[this.#at + 1] ?? '\n') ? 1 : 2))
    else if (sign === '`') this.#addText(this.#spans.endOf(this.#at))
    else if (sign === '$') this.#addText(this.#endOf(FORMULA) ?? this.#at + 1)
    else if (!(sign === '<' ? this.#readTag() : this.#readExpression())) this.#addText(this.#at + 1)
    return true
  }

  #readTag(): boolean {
    if (this.#text.startsWith('<!--', this.#at)) {
      const end = this.#ends.behind('-->', this.#at + 4)
      return end !== undefined && this.#leaveOut(end)
    }
    const tag = this.#ends.tag(this.#at)
    if (tag === undefined) return false
    if (tag.kind === 'close') this.#close(tag)
    else if (tag.kind === 'open') this.#open(tag)
    if (!WITHIN_WORDS.has(tag.name)) this.#isGap = true
    this.#leaveOut(tag.end)
    const hidden = tag.kind === 'open' && WITHOUT_PROSE.has(tag.name) ? this.#ends.behind(`</${tag.name}`, tag.end) : undefined
    if (hidden !== undefined) this.#at = hidden - tag.name.length - 2
    return true
  }

  #open({ name }: Tag): void {
    if (this.#elements.length >= MDX_ELEMENTS_DEEP_MAX) return
    const { isBlank, length } = this.#line
    this.#elements.push({ name, column: length, shift: isBlank ? undefined : (this.#elements.at(-1)?.shift ?? 0) })
  }

  #close({ name }: Tag): void {
    const lowest = Math.max(0, this.#elements.length - MDX_CLOSED_AT_ONCE_MAX)
    for (let at = this.#elements.length - 1; at >= lowest; at -= 1) {
      if (this.#elements[at]!.name === name) return void this.#elements.splice(at)
    }
  }

  /** The values of expressions are not known, but for texts. */
  #readExpression(): boolean {
    const anchor = this.#endOf(ANCHOR)
    if (anchor !== undefined) {
      this.#addText(anchor)
      return true
    }
    const end = this.#ends.expression(this.#at)
    if (end === undefined) return false
    const code = this.#text.slice(this.#at + 1, end - 1).trim()
    const literal = literalOf(code)
    this.#leaveOut(end)
    if (literal !== undefined) this.#append(escapeText(literal))
    else if (!code.startsWith('/*')) this.#isGap = true
    return true
  }

  #leaveOut(end: number): true {
    this.#isTouched = true
    this.#at = end
    return true
  }

  #addText(end: number): void {
    this.#append(this.#text.slice(this.#at, end))
    this.#at = end
  }

  #append(text: string): void {
    const piece = this.#isTouched && this.#line.isBlank ? text.trimStart() : text
    if (this.#isGap && WORD_END.test(this.#line.tail) && WORD_BEGIN.test(piece)) this.#line.add(' ')
    if (piece !== '') this.#isGap = false
    this.#line.add(piece)
  }

  #endLine(): void {
    const text = this.#line.text()
    if (!this.#isTouched) return this.#add(text)
    const line = text.trimEnd()
    if (line === '') this.#addGap()
    else this.#add(line)
  }

  #add(line: string): void {
    this.#lines.push(line)
    this.#isAfterRemoval = false
  }

  #addBlank(line: string): void {
    if (!this.#isAfterRemoval || !this.#isAtBlank) this.#lines.push(line)
  }

  /** In place of what was left out: one blank line, which ends the paragraph in front of it. */
  #addGap(): void {
    if (!this.#isAtBlank) this.#lines.push('')
    this.#isAfterRemoval = true
  }

  get #isAtBlank(): boolean {
    return this.#lines.length === 0 || this.#lines.at(-1)!.trim() === ''
  }

  #readStatements(): boolean {
    if (!this.#isAtBlank || this.#endOf(STATEMENT) === undefined) return false
    this.#at = this.#ends.statements(this.#at) + 1
    this.#addGap()
    return true
  }

  /** A fence that nothing ends goes to the end of the text. */
  #readFence(indent: number): boolean {
    FENCE.lastIndex = this.#at
    const mark = FENCE.exec(this.#text)?.[1]
    if (mark === undefined) return false
    const first = this.#lineAt(this.#at)
    if (mark[0] !== '~' && first.includes(mark[0]!, FENCE.lastIndex - this.#at)) return false
    const shift = this.#shiftOf(indent)
    let line = first
    for (let isFirst = true; ; isFirst = false) {
      this.#add(line.slice(Math.min(shift, this.#indentAt(this.#at))))
      this.#at += line.length + 1
      if (this.#at >= this.#text.length || (!isFirst && endsFence(line, mark))) return true
      line = this.#lineAt(this.#at)
    }
  }

  /** Columns that a line loses: the first one of an element begins where its tag does. */
  #shiftOf(indent: number): number {
    const element = this.#elements.at(-1)
    if (element === undefined) return 0
    element.shift ??= Math.max(0, indent - element.column)
    return element.shift
  }

  #indentAt(begin: number): number {
    let at = begin
    while (this.#text[at] === ' ' || this.#text[at] === '\t') at += 1
    return at - begin
  }

  #lineAt(begin: number): string {
    const end = this.#text.indexOf('\n', begin)
    return this.#text.slice(begin, end < 0 ? this.#text.length : end)
  }

  #endOf(pattern: RegExp): number | undefined {
    pattern.lastIndex = this.#at
    return pattern.test(this.#text) ? pattern.lastIndex : undefined
  }
}

/** A line in pieces: joined once, because a page may be one line. */
class OutputLine {
  readonly #pieces: string[] = []
  isBlank = true
  length = 0
  /** The last characters: a letter may be two. */
  tail = ''

  add(piece: string): void {
    if (piece === '') return
    this.#pieces.push(piece)
    this.isBlank &&= piece.trim() === ''
    this.length += piece.length
    this.tail = piece.slice(-2)
  }

  text(): string {
    return this.#pieces.join('')
  }
}

function endsFence(line: string, mark: string): boolean {
  const end = line.length > FENCE_END_CHARACTERS_MAX ? undefined : FENCE_END.exec(line)?.[1]
  return end?.startsWith(mark) === true
}

/** The text of a string or of a template without parts, or undefined if the code is something else. */
function literalOf(code: string): string | undefined {
  const [quote] = code
  if (code.length < 2 || (quote !== '"' && quote !== "'" && quote !== '`')) return undefined
  for (let at = 1; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1
    else if (quote === '`' && code.startsWith('${', at)) return undefined
    else if (code[at] === quote)
      return at === code.length - 1
        ? code.slice(1, at).replaceAll(/\\([^])/g, (_, sign: string) => (/[nt]/.test(sign) ? ' ' : sign))
        : undefined
  }
  return undefined
}
