/**
 * Tables of a wiki as pipe tables. A cell becomes one line: its paragraphs, lists and inner tables are joined
 * by blanks. The first row is the header, as pipe tables have one always, and is as wide as the widest row;
 * others are not filled up, and cells that span are followed by a bounded number of empty ones, so that the
 * table is not larger than its source. Pure, linear.
 */
import { renderEmphasis } from './emphasis.js'
import type { MarkdownLines } from './markdown_lines.js'
import { PROTECTED_NEWLINE, PROTECTED_PIPE } from './protected_text.js'

/** Empty cells for those that span: as many as there are cells, and these. */
const SPANNED_CELLS_FREE = 64
/** Columns or rows that one cell may span. */
const SPAN_MAX = 64

const [PIPE, BANG, BRACE, CLOSE_BRACE, DASH, PLUS, SPACE, TAB, COLON, EQUALS] = [124, 33, 123, 125, 45, 43, 32, 9, 58, 61]

/** One text under way, its parts joined by blanks. */
interface Cell {
  text: string
}

export class TableReader {
  readonly #rows: Cell[][] = []
  /** Column -> rows below that a cell reaches into. */
  readonly #spans = new Map<number, number>()
  readonly #caption: Cell = { text: '' }
  #row: Cell[] | undefined
  /** Where further lines belong; before the first cell to the caption. */
  #cell: Cell = this.#caption
  #cells = 0
  #spanned = 0
  /** Inner tables that are open. */
  #depth = 0

  /**
   * @param end of the line, without blanks
   * @returns the index behind `|}` if the table ends here
   */
  line(text: string, begin: number, end: number): number | undefined {
    let at = begin
    while (at < end && isBlank(text.charCodeAt(at))) at++
    const [first, second] = [text.charCodeAt(at), at + 1 < end ? text.charCodeAt(at + 1) : 0]
    if (at === end) return undefined
    if (first === PIPE && second === CLOSE_BRACE) {
      if (this.#depth === 0) return at + 2
      this.#depth--
    } else if (first === BRACE && second === PIPE) this.#depth++
    else if (first === PIPE && second === DASH) this.#endRow()
    else if (first === PIPE && second === PLUS) this.#continue(text, afterAttributes(text, at + 2, end), end)
    else if (first === PIPE || first === BANG) this.#readCells(text, at + 1, end, first === BANG)
    else this.#continue(text, skipMarks(text, at, end), end)
    return undefined
  }

  #endRow(): void {
    if (this.#depth > 0) return
    if (this.#row !== undefined) this.#fillSpans(this.#row)
    this.#row = undefined
  }

  #continue(text: string, begin: number, end: number): void {
    const part = cellText(text, begin, end)
    if (part !== '') this.#cell.text += this.#cell.text === '' ? part : ` ${part}`
  }

  /** Cells are separated by `||`, in a line of headers also by `!!`. */
  #readCells(text: string, begin: number, end: number, isHeader: boolean): void {
    let from = begin
    for (let at = begin; at < end; at++) {
      const code = text.charCodeAt(at)
      if ((code !== PIPE && !(code === BANG && isHeader)) || text.charCodeAt(at + 1) !== code) continue
      if (at + 1 >= end) break
      this.#addCell(text, from, at)
      from = at + 2
      at++
    }
    this.#addCell(text, from, end)
  }

  #addCell(text: string, begin: number, end: number): void {
    const from = afterAttributes(text, begin, end)
    if (this.#depth > 0) return this.#continue(text, from, end)
    const row = (this.#row ??= this.#newRow())
    this.#fillSpans(row)
    this.#cell = { text: cellText(text, from, end) }
    row.push(this.#cell)
    this.#cells++
    if (from > begin) this.#span(row, text.slice(begin, from))
  }

  #newRow(): Cell[] {
    const row: Cell[] = []
    this.#rows.push(row)
    return row
  }

  /** Cells of earlier rows reach into this one. */
  #fillSpans(row: Cell[]): void {
    for (let rows = this.#spans.get(row.length); rows !== undefined; rows = this.#spans.get(row.length)) {
      if (rows === 1) this.#spans.delete(row.length)
      else this.#spans.set(row.length, rows - 1)
      if (!this.#fill(row)) return
    }
  }

  #fill(row: Cell[]): boolean {
    if (this.#spanned >= this.#cells + SPANNED_CELLS_FREE) return false
    this.#spanned++
    row.push({ text: '' })
    return true
  }

  #span(row: Cell[], attributes: string): void {
    const columns = spanOf(attributes, COLUMNS)
    const rows = spanOf(attributes, ROWS)
    const first = row.length - 1
    for (let column = 1; column < columns && this.#fill(row); column++);
    if (rows > 1) for (let column = first; column < row.length; column++) this.#spans.set(column, rows - 1)
  }

  write(lines: MarkdownLines): void {
    if (this.#caption.text !== '') lines.add('separate', this.#caption.text.replaceAll('\\' + PROTECTED_PIPE, PROTECTED_PIPE))
    const rows = this.#rows.filter((row) => row.some(({ text }) => text !== ''))
    const [header, ...body] = rows
    if (header === undefined) return
    let columns = 0
    for (const row of rows) columns = Math.max(columns, row.length)
    while (header.length < columns) header.push({ text: '' })
    const rule = `|${' --- |'.repeat(columns)}`
    lines.add('separate', [rowText(header), rule, ...body.map(rowText)].join('\n'))
  }
}

const isBlank = (code: number): boolean => code === SPACE || code === TAB || code === COLON

function rowText(row: readonly Cell[]): string {
  let line = '|'
  for (const { text } of row) line += ` ${text} |`
  return line
}

/** Characters of attributes without content: real ones have under 200. */
const ATTRIBUTES_CHARS_MAX = 500
const ATTRIBUTE = String.raw`(?:colspan|rowspan|style|class|align|valign|bgcolor|width|height|scope|id|nowrap|data-sort-value)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"']+)`
const ONLY_ATTRIBUTES = new RegExp(`^\\s*${ATTRIBUTE}(?:\\s+${ATTRIBUTE})*\\s*$`, 'i')

/** Attributes end at the first pipe that is alone. Where a template gave that pipe, there is no content. */
function afterAttributes(text: string, begin: number, end: number): number {
  let hasValue = false
  for (let at = begin; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === PIPE) return at + 1 < end && text.charCodeAt(at + 1) === PIPE ? begin : at + 1
    if (code === EQUALS) hasValue = true
  }
  const isOnly = hasValue && end - begin <= ATTRIBUTES_CHARS_MAX && ONLY_ATTRIBUTES.test(text.slice(begin, end))
  return isOnly ? end : begin
}

/** The marks of a list or a heading within a cell. */
function skipMarks(text: string, begin: number, end: number): number {
  let at = begin
  while (at < end && '*#:;'.includes(text.charAt(at))) at++
  return at
}

const COLUMNS = /colspan\s*=\s*["']?\s*(\d{1,4})/i
const ROWS = /rowspan\s*=\s*["']?\s*(\d{1,4})/i

function spanOf(attributes: string, pattern: RegExp): number {
  const match = pattern.exec(attributes)
  return match === null ? 1 : Math.min(Number(match[1]), SPAN_MAX)
}

function cellText(text: string, begin: number, end: number): string {
  const part = text.slice(begin, end).trim()
  const shown = part.includes("''") ? renderEmphasis(part) : part
  if (!/[|\uFDD0-\uFDEF]/.test(shown)) return shown
  return shown.replaceAll('|', '\\|').replaceAll(PROTECTED_PIPE, `\\${PROTECTED_PIPE}`).replaceAll(PROTECTED_NEWLINE, ' ')
}
