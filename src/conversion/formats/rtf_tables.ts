/**
 * The tables in front of the text of RTF: fonts with their character sets, styles with their outline levels,
 * lists with their kinds of numbers. Filled by the reader while it passes them. Runs in a child process.
 */

/** Entries of each table. Documents have some hundreds. */
const RTF_TABLE_ENTRIES_MAX = 10_000

/** Encodings by `\fcharset`. The others are those of the document. */
const CHARSETS: ReadonlyMap<number, string> = new Map([
  [77, 'macintosh'],
  [128, 'shift_jis'],
  [129, 'euc-kr'],
  [134, 'gbk'],
  [136, 'big5'],
  [161, 'windows-1253'],
  [162, 'windows-1254'],
  [163, 'windows-1258'],
  [177, 'windows-1255'],
  [178, 'windows-1256'],
  [186, 'windows-1257'],
  [204, 'windows-1251'],
  [222, 'windows-874'],
  [238, 'windows-1250'],
])
/** Encodings by `\ansicpg`. */
const CODE_PAGES: ReadonlyMap<number, string> = new Map([
  [866, 'ibm866'],
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [10_000, 'macintosh'],
  [65_001, 'utf-8'],
])
const MONOSPACED = /mono|courier|consolas|typewriter|menlo/i

export function encodingOfCodePage(page: number): string {
  return CODE_PAGES.get(page) ?? (page >= 1250 && page <= 1258 ? `windows-${page}` : 'windows-1252')
}

interface Font {
  encoding: string | undefined
  isMonospaced: boolean
}
interface Style {
  /** 1 to 9, or 0 for no heading. */
  outline: number
  isQuote: boolean
}
interface ListLevel {
  isOrdered: boolean
  start: number
}

export class RtfTables {
  readonly #fonts = new Map<number, Font>()
  readonly #styles = new Map<number, Style>()
  readonly #lists = new Map<number, ListLevel[]>()
  readonly #overrides = new Map<number, number>()
  #font: Font = { encoding: undefined, isMonospaced: false }
  #style: Style = { outline: 0, isQuote: false }
  #levels: ListLevel[] = []
  #listId = 0

  font(number: number): Readonly<Font> | undefined {
    return this.#fonts.get(number)
  }

  style(number: number): Readonly<Style> | undefined {
    return this.#styles.get(number)
  }

  /** Undefined if the file does not say it. */
  level(list: number, depth: number): Readonly<ListLevel> | undefined {
    return this.#lists.get(this.#overrides.get(list) ?? list)?.[depth]
  }

  /** A control word within one of the tables. */
  word(table: string, name: string, value: number | undefined): void {
    if (table === 'fonttbl') this.#fontWord(name, value ?? 0)
    else if (table === 'stylesheet') this.#styleWord(name, value ?? 0)
    else if (table === 'listtable') this.#listWord(name, value ?? 0)
    else if (name === 'listid') this.#listId = value ?? 0
    else if (name === 'ls') put(this.#overrides, value ?? 0, this.#listId)
  }

  /** The name of a font or a style. */
  text(table: string, text: string): void {
    if (table === 'fonttbl') this.#font.isMonospaced ||= MONOSPACED.test(text)
    if (table !== 'stylesheet') return
    const heading = /^\s*heading ([1-9])/i.exec(text)
    if (heading !== null) this.#style.outline = Number(heading[1])
    this.#style.isQuote ||= /^\s*(?:quotations?|quote|intense quote|block text)\b/i.test(text)
  }

  #fontWord(name: string, value: number): void {
    if (name === 'f') put(this.#fonts, value, (this.#font = { encoding: undefined, isMonospaced: false }))
    else if (name === 'fcharset') this.#font.encoding = CHARSETS.get(value)
    else if (name === 'fmodern') this.#font.isMonospaced = true
  }

  #styleWord(name: string, value: number): void {
    if (name === 's') put(this.#styles, value, (this.#style = { outline: 0, isQuote: false }))
    // The style of characters or of a section is none of a paragraph.
    else if (name === 'cs' || name === 'ds' || name === 'ts') this.#style = { outline: 0, isQuote: false }
    else if (name === 'outlinelevel') this.#style.outline = value < 9 ? value + 1 : 0
  }

  #listWord(name: string, value: number): void {
    const level = this.#levels.at(-1)
    if (name === 'list') this.#levels = []
    else if (name === 'listlevel' && this.#levels.length < 9) this.#levels.push({ isOrdered: false, start: 1 })
    else if (level !== undefined && (name === 'levelnfc' || name === 'levelnfcn')) level.isOrdered = value !== 23 && value !== 255
    else if (level !== undefined && name === 'levelstartat') level.start = value
    else if (name === 'listid') put(this.#lists, value, this.#levels)
  }
}

function put<Value>(map: Map<number, Value>, key: number, value: Value): void {
  if (map.size < RTF_TABLE_ENTRIES_MAX) map.set(key, value)
}
