/** Markdown or plain text of an OpenDocument text: its `content.xml` as events. Runs in a child process. */
import type { Marks } from '../markdown/inline.js'
import { MarkdownWriter } from '../markdown/writer.js'
import { OdtStyles, type StyleFacts } from './odt_styles.js'
import { readXml, type XmlAttributes } from './xml.js'
import { openZip } from './zip_entries.js'

/** Blanks and columns that one element repeats. */
const ODT_REPEATS_MAX = 256

/** Their content is no text of the document: declarations, what was deleted, comments, hidden text. */
const SKIPPED = new Set(
  (
    'office:scripts office:font-face-decls office:automatic-styles office:forms office:annotation text:tracked-changes text:sequence-decls ' +
    'text:note-citation text:hidden-text text:hidden-paragraph text:conditional-text table:covered-table-cell math'
  ).split(' '),
)

export async function convertOdt(bytes: Uint8Array, textOnly: boolean): Promise<string> {
  const zip = await openZip(bytes)
  const content = (await zip.read('content.xml'))?.toString('utf8')
  if (content === undefined) throw new Error('content.xml is missing: this is no OpenDocument text')
  const styles = new OdtStyles()
  const shared = await zip.read('styles.xml')
  if (shared !== undefined) styles.add(shared.toString('utf8'))
  styles.add(content)
  return new OdtReader(styles, textOnly).read(content)
}

class OdtReader {
  readonly #writer: MarkdownWriter
  readonly #styles: OdtStyles
  readonly #ends: (() => void)[] = []
  /** Styles of the open lists, the innermost last. */
  readonly #lists: (string | undefined)[] = []
  #skipped = 0
  /** Whether text counts: between paragraphs there are only blanks of the file. */
  #paragraphs = 0
  #notes = 0
  #openNotes = 0
  #headerRows = 0
  /** The picture of an open frame: its address and its description. */
  #picture: { source: string; alt: string; isAlt: boolean } | undefined
  /** Lines of preformatted paragraphs that follow each other. */
  #code: string[] = []
  #isInCode = false
  #isInQuote = false

  constructor(styles: OdtStyles, textOnly: boolean) {
    this.#styles = styles
    this.#writer = new MarkdownWriter(textOnly)
  }

  read(content: string): string {
    readXml(content, {
      open: (name, attributes) => void this.#ends.push(this.#begin(name, attributes)),
      close: () => this.#ends.pop()?.(),
      text: (text) => this.#text(text),
    })
    this.#endCode()
    return this.#writer.finish()
  }

  #text(text: string): void {
    if (this.#picture?.isAlt === true) this.#picture.alt += text
    if (this.#skipped > 0 || this.#paragraphs === 0 || this.#picture?.isAlt === true) return
    if (this.#isInCode) this.#code.push(`${this.#code.pop() ?? ''}${text}`)
    else this.#writer.text(text)
  }

  #begin(name: string, attributes: XmlAttributes): () => void {
    if (this.#skipped > 0 || SKIPPED.has(name)) {
      this.#skipped++
      return () => this.#skipped--
    }
    if (name === 'text:p' || name === 'text:h') return this.#beginParagraph(name, attributes)
    if (name.startsWith('text:')) return this.#beginText(name, attributes)
    if (name.startsWith('table:')) return this.#beginTable(name, attributes)
    if (name === 'draw:frame') return this.#beginFrame()
    const picture = this.#picture
    if (picture === undefined) return () => undefined
    if (name === 'draw:image') picture.source = attributes['xlink:href'] ?? ''
    if (name === 'svg:title' || name === 'svg:desc') {
      picture.isAlt = true
      return () => (picture.isAlt = false)
    }
    return () => undefined
  }

  #beginTable(name: string, attributes: XmlAttributes): () => void {
    if (name === 'table:table') {
      this.#endParagraphs()
      const isOpen = this.#writer.openTable()
      return () => this.#close(isOpen, 'table')
    }
    if (name === 'table:table-cell') return this.#beginCell(attributes)
    if (name === 'table:table-row') this.#writer.openRow()
    if (name !== 'table:table-header-rows') return () => undefined
    this.#headerRows++
    return () => this.#headerRows--
  }

  #beginParagraph(name: string, attributes: XmlAttributes): () => void {
    const facts = this.#styles.facts('paragraph', attributes['text:style-name'])
    this.#paragraphs++
    if (name === 'text:h') {
      this.#endParagraphs()
      this.#writer.heading(Number.parseInt(attributes['text:outline-level'] ?? '1', 10) || 1)
      return () => {
        this.#writer.heading(0)
        this.#paragraphs--
      }
    }
    if (facts.code && this.#paragraphs === 1 && this.#openNotes === 0) return this.#beginCode()
    this.#endCode()
    this.#setQuote(facts)
    this.#writer.block()
    return () => {
      this.#writer.block()
      this.#paragraphs--
    }
  }

  #beginCode(): () => void {
    if (this.#code.length === 0) {
      this.#writer.block()
      this.#setQuote({ quote: false })
    }
    this.#isInCode = true
    this.#code.push('')
    return () => {
      this.#isInCode = false
      this.#paragraphs--
    }
  }

  #setQuote({ quote }: Pick<StyleFacts, 'quote'>): void {
    const wanted = quote && this.#lists.length === 0 && this.#openNotes === 0
    if (wanted === this.#isInQuote || this.#paragraphs > 1) return
    if (this.#isInQuote) this.#writer.close('quote')
    this.#isInQuote = wanted && this.#writer.openQuote()
  }

  #endCode(): void {
    if (this.#code.length === 0) return
    const lines = this.#code
    this.#code = []
    this.#writer.code(lines.join('\n'))
  }

  #endParagraphs(): void {
    this.#endCode()
    if (this.#isInQuote && this.#openNotes === 0) {
      this.#writer.close('quote')
      this.#isInQuote = false
    }
    this.#writer.block()
  }

  #close(isOpen: boolean, role: Parameters<MarkdownWriter['close']>[0]): void {
    this.#endCode()
    if (isOpen) this.#writer.close(role)
    else this.#writer.block()
  }

  #beginText(name: string, attributes: XmlAttributes): () => void {
    switch (name) {
      case 'text:span': {
        const { strong, emphasis, strike, code } = this.#styles.facts('text', attributes['text:style-name'])
        return this.#marked({ ...(strong && { strong }), ...(emphasis && { emphasis }), ...(strike && { strike }), ...(code && { code }) })
      }
      case 'text:a':
        return this.#marked({ href: attributes['xlink:href'] ?? '' })
      case 'text:s':
        this.#text(' '.repeat(Math.min(Number.parseInt(attributes['text:c'] ?? '1', 10) || 1, ODT_REPEATS_MAX)))
        break
      case 'text:tab':
        this.#text('\t')
        break
      case 'text:line-break':
        if (this.#isInCode) this.#code.push('')
        else if (this.#paragraphs > 0) this.#writer.lineBreak()
        break
      case 'text:list':
        return this.#beginList(attributes)
      case 'text:list-item':
      case 'text:list-header': {
        const isOpen = this.#writer.openItem()
        return () => this.#close(isOpen, 'item')
      }
      case 'text:note':
        return this.#beginNote()
      default:
    }
    return () => undefined
  }

  #marked(marks: Partial<Marks>): () => void {
    const before = this.#writer.marks
    this.#writer.mark(marks)
    return () => (this.#writer.marks = before)
  }

  #beginList(attributes: XmlAttributes): () => void {
    this.#endParagraphs()
    const style = attributes['text:style-name'] ?? this.#lists.at(-1)
    this.#lists.push(style)
    const { isOrdered, start } = this.#styles.level(style, this.#lists.length)
    const isOpen = this.#writer.openList(isOrdered, start)
    return () => {
      this.#lists.pop()
      this.#close(isOpen, 'list')
    }
  }

  #beginNote(): () => void {
    const id = String(++this.#notes)
    this.#writer.noteReference(id)
    const before = this.#writer.marks
    const paragraphs = this.#paragraphs
    this.#openNotes++
    const isOpen = this.#writer.openNote(id)
    this.#writer.mark({ strong: false, emphasis: false, strike: false, code: false, href: '' })
    return () => {
      if (isOpen) this.#writer.close('note')
      this.#writer.marks = before
      this.#openNotes--
      this.#paragraphs = paragraphs
    }
  }

  #beginCell(attributes: XmlAttributes): () => void {
    const number = (name: string): number => Number.parseInt(attributes[name] ?? '1', 10) || 1
    const shape = {
      isHeader: this.#headerRows > 0,
      columns: number('table:number-columns-spanned'),
      rows: number('table:number-rows-spanned'),
    }
    const isOpen = this.#writer.openCell(shape)
    return () => this.#close(isOpen, 'cell')
  }

  /** A picture within the file is its description. The text of a box is text beside the paragraph. */
  #beginFrame(): () => void {
    const before = this.#picture
    const picture = { source: '', alt: '', isAlt: false }
    this.#picture = picture
    return () => {
      this.#picture = before
      if (this.#paragraphs > 0) this.#writer.image(picture.alt, /^https?:/i.test(picture.source) ? picture.source : '')
    }
  }
}
