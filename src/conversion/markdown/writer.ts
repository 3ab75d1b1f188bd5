/**
 * Markdown, or plain text, from the events of a reader of a format: text with marks, and blocks that open and
 * close. One pass without recursion; containers deeper than CONTAINERS_MAX are transparent, so that the
 * prefixes of lines stay bounded. Runs in a child process (converter_pool.ts).
 */
import { fenced } from '../text_files.js'
import { type Block, joinBlocks, prefixed, renderList } from './blocks.js'
import { escapeLineStart } from './escape.js'
import { linkTarget, type Marks, NO_MARKS, renderInline, type Run } from './inline.js'
import { type Cell, renderTable, TABLE_COLUMNS_MAX } from './table.js'

/** Quotes, lists, items, tables and cells in each other. Each level is copied once into the one above it. */
const CONTAINERS_MAX = 48

interface CellShape {
  readonly isHeader: boolean
  readonly columns: number
  readonly rows: number
}
interface Place {
  /** Made for text in a list or a table beside its items or cells; ends with the next of them. */
  readonly isStray: boolean
  /** Of a cell. */
  readonly shape: CellShape
  /** Of a note. */
  readonly id: string
}
interface Flow {
  readonly role: 'root' | 'quote' | 'item' | 'cell' | 'caption' | 'note'
  readonly blocks: Block[]
  runs: Run[]
  /** 1 to 6 while the runs are those of a heading, else 0. */
  heading: number
  readonly place: Place
}
interface List {
  readonly role: 'list'
  readonly isOrdered: boolean
  readonly start: number
  readonly items: (readonly Block[])[]
}
interface Table {
  readonly role: 'table'
  /** Stands in front of the table. */
  readonly caption: Block[]
  readonly rows: { readonly cells: Cell[]; readonly blocks: (readonly Block[])[] }[]
}
type Role = Flow['role'] | 'list' | 'table'

const NO_PLACE: Place = { isStray: false, shape: { isHeader: false, columns: 1, rows: 1 }, id: '' }

const isFlow = (frame: Flow | List | Table): frame is Flow => frame.role !== 'list' && frame.role !== 'table'
const flowOf = (role: Flow['role'], place: Partial<Place> = {}): Flow => ({
  role,
  blocks: [],
  runs: [],
  heading: 0,
  place: { ...NO_PLACE, ...place },
})

export class MarkdownWriter {
  readonly #isPlain: boolean
  readonly #frames: (Flow | List | Table)[] = [flowOf('root')]
  readonly #notes: { readonly id: string; readonly blocks: readonly Block[] }[] = []
  /** Of the text that follows. */
  marks: Marks = NO_MARKS

  constructor(isPlain: boolean) {
    this.#isPlain = isPlain
  }

  mark(change: Partial<Marks>): void {
    this.marks = { ...this.marks, ...change }
  }

  /** Rows of blanks become one. `\n` is a blank. */
  text(text: string): void {
    const collapsed = text.replaceAll(/[ \t\r\n\f]+/g, ' ')
    if (collapsed === ' ' && !isFlow(this.#top())) return
    const runs = this.#flow().runs
    const last = runs.at(-1)
    const followsBlank = last === undefined || (last.text.endsWith(' ') && !last.isRaw) || last.text === '\n'
    const kept = followsBlank && collapsed.startsWith(' ') ? collapsed.slice(1) : collapsed
    if (kept !== '') runs.push({ ...this.marks, text: kept, isRaw: false })
  }

  /** Removes the hyphen at the end of the text: its word goes on. */
  joinWord(): void {
    const { runs } = this.#flow()
    const last = runs.pop()
    if (last !== undefined) runs.push({ ...last, text: last.text.replace(/[-\u00ad\u2010]\s?$/, '') })
  }

  lineBreak(): void {
    this.#flow().runs.push({ ...this.marks, text: '\n', isRaw: false, code: false })
  }

  /** Markdown as it is, and what stands for it in plain text. */
  raw(markdown: string, plain: string): void {
    this.#flow().runs.push({ ...this.marks, code: false, text: this.#isPlain ? plain : markdown, isRaw: true })
  }

  image(alt: string, source: string): void {
    const text = alt.replaceAll(/\s+/g, ' ').trim()
    // A picture within the file has no address that a reader of the document could use.
    if (source === '' || source.length > 2000 || /^(?:data|cid|blob):/i.test(source)) this.text(text)
    else this.raw(`![${text.replaceAll(/[[\]\\]/g, '\\$&')}](${linkTarget(source)})`, text)
  }

  /** Ends a paragraph or a heading. */
  block(): void {
    const flow = this.#top()
    if (!isFlow(flow) || flow.runs.length === 0) return
    const { runs, heading } = flow
    flow.runs = []
    const inline = renderInline(runs, this.#isPlain)
    const lines = inline.split('\n').map((line) => line.trim())
    while (lines.at(-1) === '') lines.pop()
    while (lines[0] === '') lines.shift()
    if (lines.length === 0) return
    if (this.#isPlain) flow.blocks.push({ kind: heading === 0 ? 'paragraph' : 'heading', text: lines.join('\n') })
    else if (heading > 0)
      flow.blocks.push({ kind: 'heading', text: `${'#'.repeat(heading)} ${lines.join(' ').replace(/(\s)(#+)$/, '$1\\$2')}` })
    else flow.blocks.push({ kind: 'paragraph', text: lines.map(escapeLineStart).join('\\\n') })
  }

  /** @param level 1 to 6; 0 ends the heading */
  heading(level: number): void {
    this.block()
    this.#flow().heading = Math.max(0, Math.min(6, level))
  }

  rule(): void {
    this.block()
    if (!this.#isPlain) this.#flow().blocks.push({ kind: 'rule', text: '---' })
  }

  code(text: string, language = ''): void {
    this.block()
    const lines = text.replace(/^\n/, '').trimEnd()
    if (lines === '') return
    const info = /^[\w+#.-]{1,40}$/.test(language) ? language : ''
    this.#flow().blocks.push({ kind: 'code', text: this.#isPlain ? lines : fenced(lines, info).trimEnd() })
  }

  openQuote(): boolean {
    return this.#open(() => flowOf('quote'))
  }

  openList(isOrdered: boolean, start = 1): boolean {
    return this.#open(() => ({ role: 'list', isOrdered, start: Math.min(Math.max(0, start), 999_999_999), items: [] }))
  }

  /** Text in a list beside its items is an item of its own. */
  openItem(): boolean {
    this.#endStray()
    if (this.#top().role === 'list') return this.#open(() => flowOf('item'))
    this.block()
    return false
  }

  openTable(): boolean {
    return this.#open(() => ({ role: 'table', caption: [], rows: [] }))
  }

  openRow(): void {
    this.#endStray()
    const table = this.#top()
    if (table.role === 'table') table.rows.push({ cells: [], blocks: [] })
    else this.block()
  }

  openCell(shape: CellShape): boolean {
    this.#endStray()
    const table = this.#top()
    if (table.role !== 'table') {
      this.block()
      return false
    }
    if (table.rows.length === 0) this.openRow()
    const span = (count: number): number => (Number.isFinite(count) ? Math.min(Math.max(1, Math.trunc(count)), TABLE_COLUMNS_MAX) : 1)
    const bounded = { isHeader: shape.isHeader, columns: span(shape.columns), rows: span(shape.rows) }
    return this.#open(() => flowOf('cell', { shape: bounded }))
  }

  /** Beside a table, a paragraph. */
  openCaption(): boolean {
    this.#endStray()
    if (this.#top().role === 'table') return this.#open(() => flowOf('caption'))
    this.block()
    return false
  }

  noteReference(id: string): void {
    this.raw(`[^${id}]`, '')
  }

  /** The note stands at the end of the document, wherever it was opened. */
  openNote(id: string): boolean {
    if (this.#frames.length >= CONTAINERS_MAX) return false
    this.#frames.push(flowOf('note', { id }))
    return true
  }

  /**
   * Ends the innermost container of the role, and those within it. Nothing happens if there is none, or one
   * of the role `within` is nearer.
   */
  close(role: Role, within?: Role): void {
    const nearest = this.#frames.findLast((frame, at) => at > 0 && (frame.role === role || frame.role === within))
    if (nearest?.role !== role) return
    for (;;) {
      const { role: closed } = this.#top()
      this.#closeTop()
      if (closed === role) return
    }
  }

  /** The document, with a line break at its end unless it is empty. */
  finish(): string {
    while (this.#frames.length > 1) this.#closeTop()
    this.block()
    const root = this.#frames[0] as Flow
    for (const { id, blocks } of this.#notes) {
      const text = joinBlocks(blocks)
      root.blocks.push({ kind: 'note', text: this.#isPlain ? text : `[^${id}]: ${prefixed(text, '    ').trimStart()}` })
    }
    const text = joinBlocks(root.blocks)
    return text === '' ? '' : `${text}\n`
  }

  #open(make: () => Flow | List | Table): boolean {
    this.block()
    if (this.#frames.length >= CONTAINERS_MAX) return false
    this.#frames.push(make())
    return true
  }

  /** The innermost flow. A list or a table on top of it gets an item or a cell for its stray text. */
  #flow(): Flow {
    const top = this.#top()
    if (isFlow(top)) return top
    const flow = flowOf(top.role === 'list' ? 'item' : 'cell', { isStray: true })
    this.#frames.push(flow)
    return flow
  }

  #top(): Flow | List | Table {
    return this.#frames.at(-1)!
  }

  #endStray(): void {
    const top = this.#top()
    if (isFlow(top) && top.place.isStray) this.#closeTop()
  }

  #closeTop(): void {
    this.block()
    const top = this.#frames.pop()!
    const below = this.#top()
    if (top.role === 'list') {
      if (top.items.length > 0) this.#add(renderList(top, this.#isPlain, this.#lastBlock()))
    } else if (top.role === 'table') this.#addTable(top)
    else if (top.role === 'quote') {
      if (top.blocks.length > 0)
        this.#add({ kind: 'quote', text: this.#isPlain ? joinBlocks(top.blocks) : prefixed(joinBlocks(top.blocks), '> ') })
    } else if (top.role === 'item' && below.role === 'list') {
      if (top.blocks.length > 0) below.items.push(top.blocks)
    } else if (top.role === 'cell' && below.role === 'table') this.#addCell(top, below)
    else if (top.role === 'caption' && below.role === 'table') below.caption.push(...top.blocks)
    else if (top.role === 'note') this.#notes.push({ id: top.place.id, blocks: top.blocks })
  }

  #lastBlock(): Block | undefined {
    const top = this.#top()
    return isFlow(top) ? top.blocks.at(-1) : undefined
  }

  #add(block: Block): void {
    this.#flow().blocks.push(block)
  }

  #addCell(cell: Flow, table: Table): void {
    const { shape, isStray } = cell.place
    if (isStray && cell.blocks.length === 0) return
    if (table.rows.length === 0) this.openRow()
    const row = table.rows.at(-1)!
    const separator = this.#isPlain ? ' ' : '<br>'
    const text = cell.blocks.map((block) => cellText(block, separator, this.#isPlain)).join(separator)
    row.cells.push({ ...shape, text })
    row.blocks.push(cell.blocks)
  }

  /**
   * A table of one column, or with headings or tables in its cells, is a layout: its cells follow each
   * other.
   */
  #addTable({ rows, caption }: Table): void {
    for (const block of caption) this.#add(block)
    const filled = rows.filter(({ cells }) => cells.length > 0)
    if (filled.length === 0) return
    const blocks = filled.flatMap((row) => row.blocks.flat())
    const isLayout =
      blocks.some(({ kind }) => kind === 'heading' || kind === 'table') || (filled.length === 1 && filled[0]!.cells.length === 1)
    if (isLayout) for (const block of blocks) this.#add(block)
    else
      this.#add({
        kind: 'table',
        text: renderTable(
          filled.map((row) => row.cells),
          this.#isPlain,
        ),
      })
  }
}

function cellText({ kind, text }: Block, separator: string, isPlain: boolean): string {
  let lines = text.split('\n')
  if (kind === 'code' && !isPlain) lines = lines.slice(1, -1).map((line) => `\`${line}\``)
  if (kind === 'list' && !isPlain) lines = lines.map((line) => line.replace(/^\s*(?:[-*]|\d+[.)])\s+/, '').trim())
  const joined = lines.map((line) => (isPlain ? line : line.replace(/\\$/, ''))).join(separator)
  return isPlain ? joined : joined.replaceAll(/(?<!\\)\|/g, '\\|')
}
