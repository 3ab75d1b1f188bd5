/**
 * Markdown or plain text of RTF: text, marks, headings by outline level, lists, links, tables, notes. Groups
 * have an explicit stack. Runs in a child process.
 */
import { Buffer } from 'node:buffer'
import { NO_MARKS } from '../markdown/inline.js'
import { MarkdownWriter } from '../markdown/writer.js'
import { decodeBytes } from '../text_files.js'
import { type ParagraphFacts, Paragraphs } from './paragraphs.js'
import { encodingOfCodePage, RtfTables } from './rtf_tables.js'
import { type RtfToken, rtfTokens } from './rtf_tokens.js'

/** Groups in each other. Word writes some dozens. */
const RTF_DEPTH_MAX = 2000
/** Characters of the instruction of one field. A URL has some thousands at most. */
const RTF_FIELD_CHARACTERS_MAX = 8192

/** The indent of a level of lists that have no table, in twentieths of a point. */
const LIST_INDENT = 360
const LABEL = /^\s*(?:[•·▪◦–-]|\d{1,4}[.)]|[a-z][.)])\s*$/i

const TABLES = new Set(['fonttbl', 'stylesheet', 'listtable', 'listoverridetable'])
const SKIPPED = new Set(
  (
    'colortbl info pict object objdata header headerl headerr headerf footer footerl footerr footerf themedata datastore generator ' +
    'nonshppict nonesttables nesttableprops bkmkstart bkmkend annotation atnid atnauthor atnref atndate xe tc txe filetbl revtbl rsidtbl ' +
    'latentstyles pgdsctbl userprops shpinst do ftnsep ftnsepc aftnsep aftnsepc pnseclvl template'
  ).split(' '),
)
const SIGNS: Readonly<Record<string, string>> = {
  tab: '\t',
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  emspace: ' ',
  enspace: ' ',
}
const ENDS_PARAGRAPH = new Set(['par', 'sect', 'page', 'column', 'nestcell', 'nestrow'])

/** What a group inherits and its end restores. */
interface Group {
  destination: 'text' | 'skip' | 'label' | 'instruction' | 'table'
  table: string
  strong: boolean
  emphasis: boolean
  strike: boolean
  hidden: boolean
  font: number
  /** Characters that stand for one `\u`, for readers without Unicode. */
  fallback: number
  style: number
  outline: number
  list: number
  depth: number
  isInTable: boolean
  /** Of the first line, and of the others, in twentieths of a point. */
  indent: number
  left: number
  href: string
  /** Set on the group that a note begins with. */
  endsNote: boolean
  isField: boolean
}
const FIRST: Group = {
  ...{ destination: 'text', table: '', strong: false, emphasis: false, strike: false, hidden: false, font: -1, fallback: 1 },
  ...{ style: -1, outline: 0, list: 0, depth: 0, isInTable: false, indent: 0, left: 0, href: '', endsNote: false, isField: false },
}

export function convertRtf(bytes: Uint8Array, textOnly: boolean): string {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  // Files without the signature are read as well if they begin with a group: such exist.
  if (!/^[\s\uFEFF\u00EF\u00BB\u00BF]*\{/.test(source)) throw new Error('no group at the start: this is no RTF')
  return new RtfReader(textOnly).read(source)
}

class RtfReader {
  readonly #writer: MarkdownWriter
  readonly #tables = new RtfTables()
  readonly #groups: Group[] = []
  /** Of the text, and of the open notes on top of it. */
  readonly #paragraphs: Paragraphs[]
  readonly #fields: { instruction: string }[] = []
  #group: Group = { ...FIRST }
  #encoding = 'windows-1252'
  #defaultFont = 0
  #bytes: number[] = []
  /** Characters to skip after a `\u`. */
  #skips = 0
  #notes = 0
  /** The number or the sign in front of an item. */
  #label: string | undefined
  /** What may be a label: it is one if a tab follows. */
  #candidate: string | undefined
  #ignorable = false

  constructor(textOnly: boolean) {
    this.#writer = new MarkdownWriter(textOnly)
    this.#paragraphs = [new Paragraphs(this.#writer)]
  }

  read(source: string): string {
    for (const token of rtfTokens(source)) {
      if (token.kind !== 'byte') this.#flushBytes()
      this.#take(token)
    }
    this.#flushBytes()
    while (this.#groups.length > 0) this.#close()
    this.#paragraphs[0]!.finish(this.#facts())
    return this.#writer.finish()
  }

  #take(token: RtfToken): void {
    if (token.kind === 'word') return this.#word(token.name, token.value)
    if (token.kind === 'byte') {
      if (this.#skips > 0) this.#skips--
      else this.#bytes.push(token.byte)
      return
    }
    if (token.kind === 'symbol') return this.#symbol(token.sign)
    if (token.kind === 'text') {
      const skipped = Math.min(this.#skips, token.text.length)
      this.#skips -= skipped
      // Bytes above 127 are not escaped by all writers.
      if (/[\u0080-\u00ff]/.test(token.text)) this.#text(this.#decode(Buffer.from(token.text.slice(skipped), 'latin1')))
      else this.#text(token.text.slice(skipped))
      return
    }
    this.#skips = 0
    this.#ignorable = false
    if (token.kind === 'close') return this.#close()
    if (this.#groups.length >= RTF_DEPTH_MAX) throw new Error(`groups nested deeper than ${RTF_DEPTH_MAX}`)
    this.#groups.push(this.#group)
    this.#group = { ...this.#group, endsNote: false, isField: false }
  }

  #close(): void {
    const ended = this.#group
    const outer = this.#groups.pop()
    if (outer === undefined) return
    if (ended.endsNote) {
      this.#paragraphs.pop()?.finish(this.#facts())
      this.#writer.close('note')
    }
    if (ended.isField) this.#fields.pop()
    this.#group = outer
  }

  #symbol(sign: string): void {
    if (sign === '*') this.#ignorable = true
    else if (sign === '~') this.#text('\u00a0')
    else if (sign === '_') this.#text('\u2011')
    else if (sign === '\\' || sign === '{' || sign === '}') this.#text(sign)
    else if (sign === '\n' || sign === '\r') this.#endParagraph()
  }

  #word(name: string, value: number | undefined): void {
    const group = this.#group
    const isIgnorable = this.#ignorable
    this.#ignorable = false
    if (group.destination === 'skip') return
    if (TABLES.has(name)) {
      group.destination = 'table'
      group.table = name
    } else if (group.destination === 'table') this.#tables.word(group.table, name, value)
    else if (SKIPPED.has(name)) group.destination = 'skip'
    else if (this.#destinationWord(name) || this.#characterWord(name, value) || this.#paragraphWord(name, value)) return
    else if (isIgnorable) group.destination = 'skip'
  }

  #destinationWord(name: string): boolean {
    const group = this.#group
    if (name === 'listtext' || name === 'pntext') {
      group.destination = 'label'
      this.#label = ''
    } else if (name === 'pntxta' || name === 'pntxtb') group.destination = 'skip'
    else if (name === 'field') {
      group.isField = true
      this.#fields.push({ instruction: '' })
    } else if (name === 'fldinst') group.destination = 'instruction'
    else if (name === 'fldrslt') {
      group.destination = 'text'
      group.href = targetOf(this.#fields.at(-1)?.instruction ?? '')
    } else if (name === 'footnote') this.#openNote()
    else return false
    return true
  }

  #characterWord(name: string, value: number | undefined): boolean {
    const group = this.#group
    const isOn = value !== 0
    const sign = SIGNS[name]
    if (sign !== undefined) this.#text(sign)
    else if (name === 'u') {
      this.#text(String.fromCharCode((value ?? 63) & 0xffff))
      this.#skips = group.fallback
    } else if (name === 'uc') group.fallback = Math.min(Math.max(0, value ?? 1), 8)
    else if (name === 'b') group.strong = isOn
    else if (name === 'i') group.emphasis = isOn
    else if (name === 'strike' || name === 'striked') group.strike = isOn
    else if (name === 'v' || name === 'deleted') group.hidden = isOn
    else if (name === 'f') group.font = value ?? 0
    else if (name === 'plain') Object.assign(group, { strong: false, emphasis: false, strike: false, hidden: false, font: -1 })
    else if (name === 'line') this.#piece({ kind: 'break' })
    else if (name === 'ansicpg') this.#encoding = encodingOfCodePage(value ?? 1252)
    else if (name === 'mac') this.#encoding = 'macintosh'
    else if (name === 'deff') this.#defaultFont = value ?? 0
    else return false
    return true
  }

  #paragraphWord(name: string, value: number | undefined): boolean {
    const group = this.#group
    if (ENDS_PARAGRAPH.has(name)) this.#endParagraph()
    else if (name === 'cell') this.#endCell()
    else if (name === 'row') this.#paragraphs.at(-1)!.endRow(this.#facts())
    else if (name === 'pard') Object.assign(group, { style: -1, outline: 0, list: 0, depth: 0, isInTable: false, indent: 0, left: 0 })
    else if (name === 'intbl') group.isInTable = true
    else if (name === 's') group.style = value ?? 0
    else if (name === 'outlinelevel') group.outline = (value ?? 0) < 9 ? (value ?? 0) + 1 : 0
    else if (name === 'ls') group.list = value ?? 0
    else if (name === 'fi') group.indent = value ?? 0
    else if (name === 'li') group.left = value ?? 0
    else if (name === 'ilvl') group.depth = Math.min(Math.max(0, value ?? 0), 8)
    else return false
    return true
  }

  #openNote(): void {
    const id = String(++this.#notes)
    this.#paragraphs.at(-1)!.add({ kind: 'note', id })
    if (!this.#writer.openNote(id)) {
      this.#group.destination = 'skip'
      return
    }
    this.#paragraphs.push(new Paragraphs(this.#writer))
    Object.assign(this.#group, { ...FIRST, endsNote: true })
  }

  #text(text: string): void {
    if (text === '' || this.#isLabel(text)) return
    const { destination, table, hidden, strong, emphasis, strike, font, href } = this.#group
    if (destination === 'table') this.#tables.text(table, text)
    else if (destination === 'label') this.#label = `${this.#label ?? ''}${text}`.slice(0, 32)
    else if (destination === 'instruction') {
      const field = this.#fields.at(-1)
      if (field !== undefined && field.instruction.length < RTF_FIELD_CHARACTERS_MAX) field.instruction += text
    } else if (destination === 'text' && !hidden) {
      const isCode = this.#isMonospaced(font) && !this.#isMonospaced(this.#defaultFont)
      this.#piece({ kind: 'text', text, marks: { ...NO_MARKS, strong, emphasis, strike, code: isCode, href } })
    }
  }

  /** Lists of writers without tables of lists: a sign and a tab in front of the indent of a paragraph. */
  #isLabel(text: string): boolean {
    const candidate = this.#candidate
    this.#candidate = undefined
    if (candidate !== undefined) {
      if (text === '\t') this.#label = candidate
      else this.#text(candidate)
      return text === '\t'
    }
    const { destination, indent, list } = this.#group
    const isPossible = destination === 'text' && indent < 0 && list === 0 && this.#label === undefined
    if (!isPossible || !LABEL.test(text) || !this.#paragraphs.at(-1)!.isEmpty) return false
    this.#candidate = text
    return true
  }

  #piece(piece: Parameters<Paragraphs['add']>[0]): void {
    if (this.#group.destination === 'text') this.#paragraphs.at(-1)!.add(piece)
  }

  #isMonospaced(font: number): boolean {
    return this.#tables.font(font)?.isMonospaced === true
  }

  #flushBytes(): void {
    if (this.#bytes.length === 0) return
    const bytes = Uint8Array.from(this.#bytes)
    this.#bytes = []
    this.#text(this.#decode(bytes))
  }

  #decode(bytes: Uint8Array): string {
    const { font } = this.#group
    return decodeBytes(bytes, this.#tables.font(font === -1 ? this.#defaultFont : font)?.encoding ?? this.#encoding)
  }

  #endParagraph(): void {
    if (this.#group.destination !== 'text') return
    this.#isLabel('')
    this.#paragraphs.at(-1)!.end(this.#facts())
    this.#label = undefined
  }

  #endCell(): void {
    if (this.#group.destination !== 'text') return
    this.#isLabel('')
    this.#paragraphs.at(-1)!.endCell(this.#facts())
    this.#label = undefined
  }

  #facts(): ParagraphFacts {
    const { style, outline, isInTable, list, left } = this.#group
    const depth = list === 0 ? Math.min(Math.max(0, Math.round(left / LIST_INDENT) - 1), 8) : this.#group.depth
    const facts = this.#tables.style(style)
    const label = this.#label
    const level = list === 0 ? undefined : this.#tables.level(list, depth)
    const isOrdered = level?.isOrdered ?? /\w/.test(label ?? '')
    const isItem = list !== 0 ? level !== undefined || label !== undefined : label !== undefined
    return {
      outline: outline !== 0 ? outline : (facts?.outline ?? 0),
      isInTable,
      isQuote: facts?.isQuote === true,
      isCode: undefined,
      item: isItem ? { list: String(list), depth, isOrdered, start: level?.start ?? 1 } : undefined,
    }
  }
}

/** The address of a HYPERLINK that leads out of the document. */
function targetOf(instruction: string): string {
  const match = /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\s\\"]+))/i.exec(instruction)
  return match?.[1] ?? match?.[2] ?? ''
}
