/**
 * Markdown or plain text of LaTeX: sections, marks, lists, tables, links, notes, code, formulas as they are.
 * Of macros that are not known the arguments stay, because text that is lost is found by no search. No
 * recursion: what is open is a stack. Runs in a child process.
 */
import type { Marks } from '../markdown/inline.js'
import { NO_MARKS } from '../markdown/inline.js'
import { MarkdownWriter } from '../markdown/writer.js'
import * as known from './tex_macros.js'
import { accented, accentOf, signOf, typeset } from './tex_signs.js'
import { TexSource } from './tex_source.js'

/** Groups and environments in each other. Documents nest some dozens. */
const TEX_DEPTH_MAX = 1000

interface Open {
  /** Empty for a group. */
  readonly environment: string
  readonly marks: Marks
  readonly end: () => void
}
interface OpenTable {
  readonly depth: number
  isInCell: boolean
  isHeader: boolean
  columns: number
  rows: number
}

export function convertTex(text: string, textOnly: boolean): string {
  return new TexReader(text, textOnly).read()
}

class TexReader {
  readonly #writer: MarkdownWriter
  readonly #source: TexSource
  readonly #open: Open[] = []
  readonly #tables: OpenTable[] = []
  readonly #title = new Map<string, string>()
  /** The place of the highest section that the document uses: it becomes a heading of level 1. */
  readonly #highest: number
  #isInPreamble: boolean
  #notes = 0

  constructor(text: string, textOnly: boolean) {
    this.#writer = new MarkdownWriter(textOnly)
    this.#source = new TexSource(text)
    this.#isInPreamble = text.includes('\\begin{document}')
    const used = ['\\part', '\\chapter'].findIndex((name) => new RegExp(`\\${name}\\b`).test(text))
    this.#highest = used === -1 ? 2 : used
  }

  read(): string {
    for (;;) {
      const token = this.#source.next()
      if (token.kind === 'end') break
      if (token.kind === 'macro') this.#macro(token.name, token.isStarred)
      else if (token.kind === 'open') this.#push('', () => undefined)
      else if (token.kind === 'close') this.#pop('')
      else if (this.#isInPreamble) continue
      else if (token.kind === 'paragraph') this.#writer.block()
      else if (token.kind === 'cell') this.#endCell()
      else if (token.kind === 'math') this.#math(token.text, token.isDisplay)
      else if (token.kind === 'text') this.#text(typeset(token.text))
    }
    while (this.#open.length > 0) this.#popTop()
    return this.#writer.finish()
  }

  #push(environment: string, end: () => void, marks: Partial<Marks> = {}): void {
    if (this.#open.length >= TEX_DEPTH_MAX) throw new Error(`nested deeper than ${TEX_DEPTH_MAX} groups`)
    this.#open.push({ environment, marks: this.#writer.marks, end })
    this.#writer.mark(marks)
  }

  /** The argument that follows, as a group. */
  #argument(end: () => void = () => undefined, marks: Partial<Marks> = {}): void {
    if (this.#source.passBrace()) return this.#push('', end, marks)
    const before = this.#writer.marks
    this.#writer.mark(marks)
    const token = this.#source.argument()
    if (!token.startsWith('\\')) this.#text(typeset(token))
    this.#writer.marks = before
    end()
  }

  /** Ends the innermost of the name, and what is open within it. A group does not end an environment. */
  #pop(environment: string): void {
    const at = this.#open.findLastIndex((open) => open.environment === environment || (environment === '' && open.environment !== ''))
    if (at === -1 || this.#open[at]!.environment !== environment) return
    while (this.#open.length > at) this.#popTop()
  }

  #popTop(): void {
    const { marks, end } = this.#open.pop()!
    end()
    this.#writer.marks = marks
  }

  #text(text: string): void {
    if (this.#isInPreamble) return
    if (text.trim() !== '') this.#openCell()
    else if (this.#tables.at(-1)?.isInCell === false) return
    this.#writer.text(text)
  }

  #math(source: string, isDisplay: boolean): void {
    const formula = source.replaceAll(/\s+/g, ' ').trim()
    if (this.#isInPreamble || formula === '') return
    this.#openCell()
    const sign = isDisplay ? '$$' : '$'
    this.#writer.raw(sign + formula + sign, formula)
  }

  #macro(name: string, isStarred: boolean): void {
    const source = this.#source
    if (this.#definition(name)) return
    if (name === 'begin' || name === 'end') return this.#environment(name, source.argument())
    if (this.#isInPreamble) return
    const sign = signOf(name)
    if (sign !== undefined) return this.#text(sign)
    const accent = accentOf(name)
    if (accent !== undefined) return this.#text(accented(source.argument(), accent))
    const section = known.SECTIONS.indexOf(name)
    if (section !== -1) return this.#section(section)
    const marking = known.MARKING.get(name)
    if (marking !== undefined) {
      this.#openCell()
      return this.#argument(undefined, marking)
    }
    const switching = known.SWITCHING.get(name)
    if (switching !== undefined) return this.#writer.mark(switching)
    if (this.#block(name) || this.#inline(name)) return
    const ignored = known.IGNORED.get(name)
    const skipped = ignored ?? known.LAST_IS_TEXT.get(name)
    source.optional()
    if (name === 'cmidrule' && source.ahead(1) === '(') source.until(')')
    for (let left = skipped ?? 0; left > 0; left--) source.argument()
    if (ignored === undefined && !isStarred && source.ahead(1) === '[') source.optional()
  }

  #section(place: number): void {
    this.#source.optional()
    this.#writer.heading(Math.max(1, place - this.#highest + 1))
    this.#argument(() => this.#writer.heading(0), NO_MARKS)
  }

  /** Definitions, and what is kept for the title. */
  #definition(name: string): boolean {
    const source = this.#source
    if (name === 'title' || name === 'author' || name === 'date') {
      source.optional()
      this.#title.set(name, source.argument())
    } else if (name === 'newcommand' || name === 'renewcommand' || name === 'providecommand' || name === 'DeclareRobustCommand') {
      const macro = source.argument().replace(/^\\/, '').trim()
      const parameters = Number.parseInt(source.optional() ?? '0', 10) || 0
      const fallback = source.optional()
      const body = source.argument()
      // What is known stays: a definition by means of TeX says less than its name.
      if (this.#isUnknown(macro)) source.define(macro, { parameters: Math.min(parameters, 9), fallback, body })
    } else if (name === 'def') {
      const macro = source.argument().replace(/^\\/, '').trim()
      const parameters = /^(?:#[1-9])*/.exec(source.ahead(18))![0]
      for (const _ of parameters) source.character()
      const body = source.argument()
      if (this.#isUnknown(macro)) source.define(macro, { parameters: parameters.length / 2, fallback: undefined, body })
    } else return false
    return true
  }

  #isUnknown(name: string): boolean {
    const isKnown = known.MARKING.has(name) || known.IGNORED.has(name) || known.SECTIONS.includes(name) || signOf(name) !== undefined
    return /^[a-zA-Z@]+$/.test(name) && !isKnown && name !== 'begin' && name !== 'end'
  }

  #block(name: string): boolean {
    const writer = this.#writer
    const source = this.#source
    if (name === 'par') writer.block()
    else if (name === 'item') this.#item()
    else if (name === '\\' || name === 'newline' || name === 'tabularnewline' || name === 'cr') {
      source.optional()
      if (this.#tables.length > 0) this.#endRow()
      else writer.lineBreak()
    } else if (name === 'maketitle') this.#maketitle()
    else if (name === 'caption') {
      source.optional()
      const isOpen = writer.openCaption()
      const table = this.#tables.at(-1)
      const wasInCell = table?.isInCell === true
      // Its text opens no cell.
      if (table !== undefined) table.isInCell = true
      this.#argument(() => {
        if (isOpen) writer.close('caption')
        else writer.block()
        if (table !== undefined) table.isInCell = wasInCell
      })
    } else if (name === '[' || name === '(') this.#math(source.until(name === '[' ? '\\]' : '\\)'), name === '[')
    else if (name === 'bibitem') {
      source.optional()
      source.argument()
      writer.block()
    } else if (name === 'endfirsthead') {
      // The header of the pages after the first.
      if (source.has('\\endhead')) source.until('\\endhead')
    } else if (name === 'iffalse') source.until('\\fi')
    else return false
    return true
  }

  #maketitle(): void {
    for (const [part, level] of [
      ['title', 1],
      ['author', 0],
      ['date', 0],
    ] as const) {
      const text = (this.#title.get(part) ?? '').replaceAll(/\\(?:and|\\)(?![a-zA-Z])/g, ', ')
      if (text.trim() === '') continue
      // A reader of its own: the title may have marks and macros.
      const plain = new TexReader(text, true).read().replaceAll(/\s+/g, ' ')
      if (level > 0) this.#writer.heading(level)
      this.#writer.text(plain)
      this.#writer.heading(0)
    }
  }

  #item(): void {
    this.#writer.close('item', 'list')
    this.#writer.openItem()
    const term = this.#source.optional()
    if (term === undefined) return
    const before = this.#writer.marks
    this.#writer.mark({ strong: true })
    this.#writer.text(new TexReader(term, true).read())
    this.#writer.marks = before
    this.#writer.text(' ')
  }

  #inline(name: string): boolean {
    const source = this.#source
    const writer = this.#writer
    if (name === 'href') {
      const href = unescaped(source.argument())
      this.#openCell()
      this.#argument(undefined, { href })
    } else if (name === 'url' || name === 'nolinkurl' || name === 'path')
      this.#marked(unescaped(source.argument()), (text) => ({ href: text }))
    else if (name === 'verb' || name === 'lstinline') {
      source.optional()
      const sign = source.character()
      this.#marked(source.until(sign === '{' ? '}' : sign), () => ({ code: true }))
    } else if (name === 'footnote' || name === 'thanks') this.#note()
    else if (name === 'includegraphics') {
      source.optional()
      this.#openCell()
      writer.image('image', source.argument())
    } else if (/^(?:cite\w*|[a-z]*ref)$/i.test(name) && name !== 'href') {
      source.optional()
      source.optional()
      const keys = source.argument()
      this.#text(name.startsWith('cite') ? `[${keys}]` : keys)
    } else if (name === 'multicolumn' || name === 'multirow') this.#spanning(name)
    else return false
    return true
  }

  #marked(text: string, marks: (text: string) => Partial<Marks>): void {
    this.#openCell()
    const before = this.#writer.marks
    this.#writer.mark(marks(text))
    this.#writer.text(text)
    this.#writer.marks = before
  }

  #note(): void {
    this.#source.optional()
    this.#openCell()
    const id = String(++this.#notes)
    this.#writer.noteReference(id)
    const isOpen = this.#writer.openNote(id)
    this.#argument(() => (isOpen ? this.#writer.close('note') : undefined), NO_MARKS)
  }

  #spanning(name: string): void {
    const source = this.#source
    const count = Number.parseInt(source.argument(), 10) || 1
    source.optional()
    source.argument()
    const table = this.#tables.at(-1)
    if (table !== undefined && !table.isInCell) {
      if (name === 'multicolumn') table.columns = count
      else table.rows = count
    }
    this.#openCell()
    this.#argument()
  }

  #environment(macro: string, name: string): void {
    if (macro === 'end') return this.#pop(name)
    if (name === 'document') this.#isInPreamble = false
    if (this.#isInPreamble) return
    const source = this.#source
    const writer = this.#writer
    if (name === 'comment') source.until('\\end{comment}')
    else if (known.VERBATIM.has(name)) this.#verbatim(name)
    else if (known.MATHS.has(name)) this.#math(source.until(`\\end{${name}}`), true)
    else if (known.TABLES.has(name)) this.#table(name)
    else if (name === 'itemize' || name === 'enumerate' || name === 'description') {
      this.#openCell()
      source.optional()
      const isOpen = writer.openList(name === 'enumerate')
      this.#push(name, () => (isOpen ? writer.close('list') : writer.block()))
    } else if (known.QUOTES.has(name)) {
      const isOpen = writer.openQuote()
      this.#push(name, () => (isOpen ? writer.close('quote') : writer.block()))
    } else {
      this.#openCell()
      writer.block()
      while (source.optional() !== undefined) continue
      for (let left = known.ENVIRONMENT_ARGUMENTS.get(name) ?? 0; left > 0; left--) source.argument()
      this.#push(name, () => writer.block())
    }
  }

  #verbatim(name: string): void {
    const options = this.#source.optional() ?? ''
    const language = name === 'minted' ? this.#source.argument() : (/language=\{?(\w+)/.exec(options)?.[1] ?? '')
    const text = this.#source.until(`\\end{${name}}`)
    this.#openCell()
    this.#writer.code(name === 'Highlighting' ? withoutTokens(text) : text, language.toLowerCase())
  }

  #table(name: string): void {
    this.#openCell()
    this.#source.optional()
    for (let left = known.ENVIRONMENT_ARGUMENTS.get(name) ?? 1; left > 0; left--) this.#source.argument()
    const isOpen = this.#writer.openTable()
    const head = this.#source.ahead(4000)
    const isHeader = /^\s*\\(?:midrule|hline|endhead|endfirsthead)/.test(head.slice(head.indexOf('\\\\') + 2))
    if (isOpen) this.#tables.push({ depth: this.#tables.length, isInCell: false, isHeader, columns: 1, rows: 1 })
    this.#push(name, () => {
      if (isOpen) this.#tables.pop()
      if (isOpen) this.#writer.close('table')
    })
  }

  /** In a table, text stands in a cell. */
  #openCell(): void {
    const table = this.#tables.at(-1)
    if (table === undefined || table.isInCell) return
    table.isInCell = this.#writer.openCell(table)
    table.columns = 1
    table.rows = 1
  }

  #endCell(): void {
    const table = this.#tables.at(-1)
    if (table === undefined) return
    this.#openCell()
    this.#writer.close('cell', 'table')
    table.isInCell = false
  }

  #endRow(): void {
    const table = this.#tables.at(-1)
    if (table === undefined) return
    if (table.isInCell) this.#endCell()
    table.isHeader = false
    this.#writer.openRow()
  }
}

const unescaped = (url: string): string => url.replaceAll(/\\([%#&_~{}$])/g, '$1').trim()

/** Code that pandoc has coloured: each token is the argument of a macro. */
function withoutTokens(text: string): string {
  return text
    .replaceAll(/\\[A-Za-z]+Tok\{((?:[^{}\\]|\\[^a-zA-Z]|\\text[a-z]+\{\}|\{-\})*)\}/g, '$1')
    .replaceAll('{-}', '-')
    .replaceAll(/\\(text[a-z]+)\{\}/g, (_, name: string) => signOf(name) ?? '')
    .replaceAll(/\\([{}%&$#_])/g, '$1')
}
