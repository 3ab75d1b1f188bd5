/**
 * Inline code of a text of markdown: where a row of backticks is closed by one of the same length within its
 * block. Linear: the rows of a block are listed once. Pure.
 */

/** What may stand in front of a fence: blanks, quotes, marks of lists. Deeper ones are no fences. */
export const FENCE_PREFIX = '(?:[ \\t>]|[-*+][ \\t]|\\d{1,9}[.)][ \\t]){0,100}'

const ROW = /`+/g
const BLOCK_BEGIN = /[ \t>]{0,100}(?:\n|$|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||`{3}|~{3})/y

interface Rows {
  readonly begins: number[]
  /** The first of them that may be asked for. */
  next: number
}

export class CodeSpans {
  /** End of the block whose rows are listed. */
  #blockEnd = 0
  #rows = new Map<number, Rows>()

  constructor(readonly text: string) {}

  /**
   * @param from increases from call to call
   * @returns the index behind the code, or behind the row if nothing closes it
   */
  endOf(from: number): number {
    if (from >= this.#blockEnd) this.#readBlock(from)
    const length = this.#rowAt(from)
    const rows = this.#rows.get(length)
    if (rows === undefined) return from + length
    while ((rows.begins[rows.next] ?? Infinity) <= from) rows.next += 1
    const closing = rows.begins[rows.next]
    return closing === undefined ? from + length : closing + length
  }

  #readBlock(from: number): void {
    this.#blockEnd = this.#endOfBlock(from)
    this.#rows = new Map()
    for (ROW.lastIndex = from; ;) {
      const row = ROW.exec(this.text)
      if (row === null || row.index >= this.#blockEnd) return
      const length = row[0].length
      const rows = this.#rows.get(length)
      if (rows === undefined) this.#rows.set(length, { begins: [row.index], next: 0 })
      else rows.begins.push(row.index)
    }
  }

  #endOfBlock(from: number): number {
    for (let at = from; ;) {
      const lineEnd = this.text.indexOf('\n', at)
      if (lineEnd < 0) return this.text.length
      at = lineEnd + 1
      BLOCK_BEGIN.lastIndex = at
      if (BLOCK_BEGIN.test(this.text)) return at
    }
  }

  #rowAt(from: number): number {
    let at = from
    while (this.text[at] === '`') at += 1
    return at - from
  }
}
