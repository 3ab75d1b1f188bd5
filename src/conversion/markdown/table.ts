/**
 * Pipe tables. Cells that span columns or rows are followed by empty ones, so that each row has the same
 * number. A table without a header gets an empty one, which the form demands. Pure.
 */

/**
 * Columns of a table, and the columns or rows that one cell spans. A row of a spreadsheet has some dozens.
 */
export const TABLE_COLUMNS_MAX = 256
/** Cells of one table, those that spans add included: 20 MB of markdown at most are of empty cells. */
const TABLE_CELLS_MAX = 1_000_000

export interface Cell {
  /** Inline markdown, its lines joined. */
  readonly text: string
  readonly isHeader: boolean
  readonly columns: number
  readonly rows: number
}

export function renderTable(rows: readonly (readonly Cell[])[], isPlain: boolean): string {
  const grid = gridOf(rows)
  const width = Math.max(1, ...grid.map((row) => row.length))
  if (isPlain) return grid.map((row) => row.join('\t').trimEnd()).join('\n')
  const hasHeader = rows[0]?.every((cell) => cell.isHeader) === true
  const lines = grid.map((row) => lineOf([...row, ...new Array<string>(Math.max(0, width - row.length)).fill('')]))
  const header = hasHeader ? (lines.shift() ?? '') : lineOf(new Array<string>(width).fill(''))
  return [header, `|${' --- |'.repeat(width)}`, ...lines].join('\n')
}

const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** Texts by row and column. A place that a cell above covers is empty. */
function gridOf(rows: readonly (readonly Cell[])[]): string[][] {
  /** By column: the number of rows below that a cell above still covers. */
  const covered: number[] = []
  let cells = 0
  return rows.map((row) => {
    const texts: string[] = []
    const skipCovered = (): void => {
      while ((covered[texts.length] ?? 0) > 0 && texts.length < TABLE_COLUMNS_MAX) {
        covered[texts.length] = covered[texts.length]! - 1
        texts.push('')
      }
    }
    for (const cell of row) {
      skipCovered()
      for (let at = 0; at < cell.columns && (at === 0 || (texts.length < TABLE_COLUMNS_MAX && cells < TABLE_CELLS_MAX)); at++) {
        if (cell.rows > 1) covered[texts.length] = cell.rows - 1
        texts.push(at === 0 ? cell.text : '')
        cells++
      }
    }
    skipCovered()
    return texts
  })
}
