/**
 * Paragraphs of word processors as blocks: items of lists, headings, parts of cells, lines of code. RTF says
 * only at the end of a paragraph what it is, so its pieces are kept until then. Runs in a child process.
 */
import { type Marks, NO_MARKS } from '../markdown/inline.js'
import type { MarkdownWriter } from '../markdown/writer.js'

export type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly marks: Marks }
  | { readonly kind: 'break' }
  | { readonly kind: 'note'; readonly id: string }

interface ListPlace {
  /** Items with the same text are of one list. */
  readonly list: string
  /** 0 for the outermost. */
  readonly depth: number
  readonly isOrdered: boolean
  readonly start: number
}
export interface ParagraphFacts {
  /** 1 to 9, or 0. */
  readonly outline: number
  readonly isInTable: boolean
  readonly isQuote: boolean
  readonly item: ListPlace | undefined
  /** Whether it is a line of code; undefined if it is where all of its text is marked so. */
  readonly isCode: boolean | undefined
}

interface OpenList {
  readonly list: string
  readonly isOrdered: boolean
}

export class Paragraphs {
  readonly #writer: MarkdownWriter
  readonly #lists: OpenList[] = []
  #pieces: Piece[] = []
  #isInTable = false
  #isInRow = false
  #isInCell = false
  #isInQuote = false
  /** Lines of paragraphs that are all code and follow each other. */
  #code: string[] = []

  constructor(writer: MarkdownWriter) {
    this.#writer = writer
  }

  add(piece: Piece): void {
    this.#pieces.push(piece)
  }

  /** Whether the paragraph has nothing yet. */
  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  end(facts: ParagraphFacts): void {
    const pieces = this.#pieces
    this.#pieces = []
    if (!facts.isInTable) this.#endTable()
    const isEmpty = !pieces.some((piece) => piece.kind === 'note' || (piece.kind === 'text' && piece.text.trim() !== ''))
    if (isEmpty) {
      if (facts.isCode === true && this.#code.length > 0) this.#code.push('')
      return
    }
    const isCode = facts.isCode ?? isAllCode(pieces)
    if (isCode && facts.outline === 0 && facts.item === undefined && !facts.isInTable) {
      this.#endLists(0)
      this.#setQuote(false)
      this.#code.push(pieces.map((piece) => (piece.kind === 'text' ? piece.text : '\n')).join(''))
      return
    }
    this.#endCode()
    if (facts.isInTable) this.#openCell()
    const isQuote = facts.isQuote && facts.item === undefined && !facts.isInTable
    if (!isQuote) this.#setQuote(false)
    if (facts.item !== undefined && !facts.isInTable) this.#openItem(facts.item)
    else this.#endLists(0)
    if (isQuote) this.#setQuote(true)
    const heading = facts.isInTable ? 0 : facts.outline
    if (heading > 0) this.#writer.heading(heading)
    for (const piece of pieces) this.#write(piece)
    if (heading > 0) this.#writer.heading(0)
    else this.#writer.block()
  }

  endCell(facts: ParagraphFacts): void {
    this.end({ ...facts, isInTable: true })
    this.#openCell()
    this.#endLists(0)
    this.#writer.close('cell')
    this.#isInCell = false
  }

  endRow(facts: ParagraphFacts): void {
    if (this.#pieces.length > 0) this.endCell(facts)
    if (this.#isInCell) this.#writer.close('cell')
    this.#isInCell = false
    this.#isInRow = false
  }

  /** A block that is none of a paragraph follows. */
  interrupt(): void {
    this.#endCode()
    this.#endLists(0)
    this.#setQuote(false)
  }

  /** Everything that is open ends. */
  finish(facts: ParagraphFacts): void {
    this.end(facts)
    this.#endTable()
    this.interrupt()
  }

  #write(piece: Piece): void {
    if (piece.kind === 'break') this.#writer.lineBreak()
    else if (piece.kind === 'note') {
      this.#writer.marks = NO_MARKS
      this.#writer.noteReference(piece.id)
    } else {
      this.#writer.marks = piece.marks
      this.#writer.text(piece.text)
    }
    this.#writer.marks = NO_MARKS
  }

  #openCell(): void {
    if (this.#isInCell) return
    this.#endCode()
    if (!this.#isInTable) {
      this.#endLists(0)
      this.#setQuote(false)
      this.#isInTable = this.#writer.openTable()
    }
    if (!this.#isInRow) this.#writer.openRow()
    this.#isInRow = true
    this.#isInCell = this.#writer.openCell({ isHeader: false, columns: 1, rows: 1 })
  }

  #endTable(): void {
    if (!this.#isInTable) return
    this.#writer.close('table')
    this.#isInTable = false
    this.#isInRow = false
    this.#isInCell = false
  }

  #openItem({ list, depth, isOrdered, start }: ListPlace): void {
    const last = this.#lists[depth]
    this.#endLists(last !== undefined && (last.list !== list || last.isOrdered !== isOrdered) ? depth : depth + 1)
    while (this.#lists.length <= depth) {
      // A list within a list stands in an item, even if that has no text.
      if (this.#lists.length > 0) this.#writer.openItem()
      this.#writer.openList(isOrdered, this.#lists.length === depth ? start : 1)
      this.#lists.push({ list, isOrdered })
    }
    this.#writer.close('item', 'list')
    this.#writer.openItem()
  }

  #endLists(left: number): void {
    while (this.#lists.length > left) {
      this.#lists.pop()
      this.#writer.close('list')
    }
  }

  #setQuote(isQuote: boolean): void {
    if (isQuote === this.#isInQuote) return
    if (this.#isInQuote) this.#writer.close('quote')
    this.#isInQuote = isQuote && this.#writer.openQuote()
  }

  #endCode(): void {
    if (this.#code.length === 0) return
    const lines = this.#code
    this.#code = []
    this.#writer.code(lines.join('\n'))
  }
}

function isAllCode(pieces: readonly Piece[]): boolean {
  return pieces.every((piece) => piece.kind === 'break' || (piece.kind === 'text' && (piece.marks.code || piece.text.trim() === '')))
}
