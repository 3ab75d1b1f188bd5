/**
 * Markdown or plain text of a PDF that has text: paragraphs by the distance of lines, headings by the size of
 * letters. Pictures of pages are not read. Runs in a child process.
 */
import { getDocumentProxy } from 'unpdf'
import { MarkdownWriter } from '../markdown/writer.js'

/** Pages of one file. At some milliseconds a page, more would not be read in the time of a conversion. */
const PDF_PAGES_MAX = 2000
/** Levels of headings that sizes of letters are taken for. More sizes are decoration. */
const PDF_HEADING_LEVELS_MAX = 3
/** Letters this much larger than those of most text make a heading. */
const HEADING_SIZE_RATIO = 1.15
/** A heading has at most so many characters; large letters of a whole page are no heading. */
const PDF_HEADING_CHARACTERS_MAX = 200
/** A distance of lines this much above the height of the letters begins a paragraph. */
const PARAGRAPH_GAP_RATIO = 1.75

interface Line {
  readonly text: string
  /** Height of the letters, in points, rounded to halves. */
  readonly size: number
  readonly y: number
  readonly page: number
}

export async function convertPdf(bytes: Uint8Array, textOnly: boolean): Promise<string> {
  // A copy of its own: the library takes the buffer over.
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, isEvalSupported: false, useSystemFonts: false })
  if (pdf.numPages > PDF_PAGES_MAX) throw new Error(`${pdf.numPages} pages, more than ${PDF_PAGES_MAX}`)
  const lines: Line[] = []
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    lines.push(
      ...linesOf(
        items.filter((item) => 'str' in item),
        number,
      ),
    )
    page.cleanup()
  }
  if (lines.length === 0) throw new Error('the PDF has no text; pictures of pages are not read')
  return writeLines(lines, textOnly)
}

interface Item {
  readonly str: string
  readonly hasEOL: boolean
  readonly height: number
  readonly transform: readonly number[]
}

function linesOf(items: readonly Item[], page: number): Line[] {
  const lines: Line[] = []
  let parts: string[] = []
  let size = 0
  let y = 0
  const end = (): void => {
    // Characters without a meaning in text that fonts without tables leave.
    const text = parts
      .join('')
      .replaceAll(/[\0-\u001f\ufffe\uffff]/g, ' ')
      .trim()
    if (text !== '') lines.push({ text, size: Math.round(size * 2) / 2, y, page })
    parts = []
    size = 0
  }
  for (const item of items) {
    if (item.str.trim() !== '') {
      if (size === 0) y = item.transform[5] ?? 0
      size = Math.max(size, item.height)
    }
    parts.push(item.str)
    if (item.hasEOL) end()
  }
  end()
  return lines
}

function writeLines(lines: readonly Line[], textOnly: boolean): string {
  const levels = headingLevels(lines)
  const writer = new MarkdownWriter(textOnly)
  let before: Line | undefined
  for (const line of lines) {
    const level = line.text.length <= PDF_HEADING_CHARACTERS_MAX ? (levels.get(line.size) ?? 0) : 0
    const follows = before !== undefined && before.page === line.page && before.size === line.size && isClose(before, line)
    if (!follows) writer.heading(level)
    else if (isHyphenated(before!.text, line.text)) writer.joinWord()
    else writer.text(' ')
    writer.text(line.text)
    before = line
  }
  return writer.finish()
}

function isClose(above: Line, below: Line): boolean {
  const distance = above.y - below.y
  return distance >= 0 && distance <= Math.max(above.size, below.size) * PARAGRAPH_GAP_RATIO
}

/** A word that goes on in the next line. */
function isHyphenated(above: string, below: string): boolean {
  return /\p{Ll}[-\u00ad\u2010]$/u.test(above) && /^\p{Ll}/u.test(below)
}

/** The largest sizes above that of most characters. */
function headingLevels(lines: readonly Line[]): ReadonlyMap<number, number> {
  const characters = new Map<number, number>()
  for (const { size, text } of lines) characters.set(size, (characters.get(size) ?? 0) + text.length)
  const [body = 0] = [...characters].reduce((most, each) => (each[1] > most[1] ? each : most), [0, 0])
  const larger = [...characters.keys()].filter((size) => size > body * HEADING_SIZE_RATIO).sort((a, b) => b - a)
  return new Map(larger.slice(0, PDF_HEADING_LEVELS_MAX).map((size, at) => [size, at + 1]))
}
