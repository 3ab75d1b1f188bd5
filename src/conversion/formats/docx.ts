/**
 * Markdown or plain text of a Word document: its parts as events. Deleted text, former properties, comments,
 * headers and footers are left out. Runs in a child process.
 */
import { type Marks, NO_MARKS } from '../markdown/inline.js'
import { MarkdownWriter } from '../markdown/writer.js'
import { DocxLists, DocxStyles, isOn, linksOf, localName, wordValue } from './docx_parts.js'
import { type ParagraphFacts, Paragraphs } from './paragraphs.js'
import { readXml, type XmlAttributes } from './xml.js'
import { openZip } from './zip_entries.js'

/** Their content is deleted, a former state, or the same once more for older readers. */
const SKIPPED = new Set(
  'del moveFrom pPrChange rPrChange tblPrChange tcPrChange trPrChange sectPrChange numberingChange Fallback'.split(' '),
)
/** Characters of the instruction of one field. */
const FIELD_CHARACTERS_MAX = 8192

interface Paragraph {
  style: string
  list: string | undefined
  depth: number | undefined
  outline: number
}
interface Field {
  instruction: string
  isShown: boolean
}

export async function convertDocx(bytes: Uint8Array, textOnly: boolean): Promise<string> {
  const zip = await openZip(bytes)
  const part = async (name: string): Promise<string> => (await zip.read(name))?.toString('utf8') ?? ''
  const main = zip.names.includes('word/document.xml')
    ? 'word/document.xml'
    : zip.names.find((name) => /^word\/document\d*\.xml$/.test(name))
  if (main === undefined) throw new Error('word/document.xml is missing: this is no Word document')
  const relations = (name: string): string => name.replace(/([^/]+)$/, '_rels/$1.rels')
  const reader = new DocxReader(new DocxStyles(await part('word/styles.xml')), new DocxLists(await part('word/numbering.xml')), textOnly)
  reader.read(await part(main), linksOf(await part(relations(main))))
  for (const notes of ['word/footnotes.xml', 'word/endnotes.xml']) reader.read(await part(notes), linksOf(await part(relations(notes))))
  return reader.finish()
}

class DocxReader {
  readonly #writer: MarkdownWriter
  readonly #styles: DocxStyles
  readonly #lists: DocxLists
  readonly #ends: (() => void)[] = []
  /** Of the text, and of the open cells and notes on top of it. */
  readonly #flows: Paragraphs[]
  readonly #paragraphs: Paragraph[] = []
  readonly #fields: Field[] = []
  /** Numbers of notes, by kind and id, in the order of their references. */
  readonly #notes = new Map<string, string>()
  #links: ReadonlyMap<string, string> = new Map()
  #marks: Marks = NO_MARKS
  #isHidden = false
  #href = ''
  #skipped = 0
  #isInText = false
  #isInInstruction = false
  #isInProperties = false
  #isHeaderRow = false
  /** Columns of the cell that has begun and has no content yet. */
  #cell: { columns: number } | undefined

  constructor(styles: DocxStyles, lists: DocxLists, textOnly: boolean) {
    this.#styles = styles
    this.#lists = lists
    this.#writer = new MarkdownWriter(textOnly)
    this.#flows = [new Paragraphs(this.#writer)]
  }

  read(xml: string, links: ReadonlyMap<string, string>): void {
    this.#links = links
    if (xml === '') return
    readXml(xml, {
      open: (name, attributes) => void this.#ends.push(this.#begin(localName(name), attributes)),
      close: () => this.#ends.pop()?.(),
      text: (text) => this.#text(text),
    })
  }

  finish(): string {
    this.#flow().finish(this.#facts())
    return this.#writer.finish()
  }

  #flow(): Paragraphs {
    return this.#flows.at(-1)!
  }

  #text(text: string): void {
    if (this.#skipped > 0) return
    const field = this.#fields.at(-1)
    if (this.#isInInstruction && field !== undefined && field.instruction.length < FIELD_CHARACTERS_MAX) field.instruction += text
    else if (this.#isInText) this.#add(text)
  }

  #add(text: string): void {
    const paragraph = this.#paragraphs.at(-1)
    if (this.#isHidden || paragraph === undefined || this.#fields.some(({ isShown }) => !isShown)) return
    const href =
      this.#href !== '' ? this.#href : (this.#fields.map(({ instruction }) => targetOf(instruction)).find((target) => target !== '') ?? '')
    this.#flow().add({ kind: 'text', text, marks: { ...this.#marks, href } })
  }

  /** Returns what ends the element. */
  #begin(name: string, attributes: XmlAttributes): () => void {
    if (this.#skipped > 0 || SKIPPED.has(name)) {
      this.#skipped++
      return () => this.#skipped--
    }
    return this.#beginBlock(name, attributes) ?? this.#beginInline(name, attributes) ?? this.#property(name, attributes)
  }

  #beginBlock(name: string, attributes: XmlAttributes): (() => void) | undefined {
    switch (name) {
      case 'p':
        this.#openCell()
        this.#paragraphs.push({ style: '', list: undefined, depth: undefined, outline: 0 })
        return () => this.#endParagraph()
      case 'tbl': {
        this.#openCell()
        this.#flow().interrupt()
        const isOpen = this.#writer.openTable()
        return () => (isOpen ? this.#writer.close('table') : this.#writer.block())
      }
      case 'tr':
        this.#isHeaderRow = false
        this.#writer.openRow()
        return () => undefined
      case 'tc':
        return this.#beginCell()
      case 'footnote':
      case 'endnote':
        return this.#beginNote(`${name} ${wordValue(attributes, 'id')}`)
      case 'pPr':
        this.#isInProperties = true
        return () => (this.#isInProperties = false)
      default:
        return undefined
    }
  }

  /** A cell says its width before its content. */
  #beginCell(): () => void {
    this.#cell = { columns: 1 }
    return () => {
      this.#openCell()
      this.#flows.pop()?.finish(this.#facts())
      this.#writer.close('cell', 'table')
    }
  }

  #openCell(): void {
    if (this.#cell === undefined) return
    this.#writer.openCell({ isHeader: this.#isHeaderRow, columns: this.#cell.columns, rows: 1 })
    this.#flows.push(new Paragraphs(this.#writer))
    this.#cell = undefined
  }

  #beginNote(key: string): () => void {
    const id = this.#notes.get(key)
    if (id === undefined || !this.#writer.openNote(id)) {
      this.#skipped++
      return () => this.#skipped--
    }
    this.#flows.push(new Paragraphs(this.#writer))
    return () => {
      this.#flows.pop()?.finish(this.#facts())
      this.#writer.close('note')
    }
  }

  #beginInline(name: string, attributes: XmlAttributes): (() => void) | undefined {
    switch (name) {
      case 'r':
        return this.#beginRun()
      case 't':
        this.#isInText = true
        return () => (this.#isInText = false)
      case 'instrText':
        this.#isInInstruction = true
        return () => (this.#isInInstruction = false)
      case 'fldChar':
        this.#fieldSign(wordValue(attributes, 'fldCharType'))
        return () => undefined
      case 'fldSimple':
        this.#fields.push({ instruction: wordValue(attributes, 'instr') ?? '', isShown: true })
        return () => this.#fields.pop()
      case 'hyperlink': {
        const before = this.#href
        this.#href = this.#links.get(attributes['r:id'] ?? '') ?? ''
        return () => (this.#href = before)
      }
      case 'footnoteReference':
      case 'endnoteReference':
        this.#noteReference(`${name.replace('Reference', '')} ${wordValue(attributes, 'id')}`)
        return () => undefined
      case 'br':
      case 'cr':
        if (!/page|column/.test(wordValue(attributes, 'type') ?? '') && this.#paragraphs.length > 0) this.#flow().add({ kind: 'break' })
        return () => undefined
      case 'docPr':
        this.#add(attributes['descr'] ?? '')
        return () => undefined
      default:
        return undefined
    }
  }

  #beginRun(): () => void {
    const marks = this.#marks
    const isHidden = this.#isHidden
    const style = this.#styles.get(this.#paragraphs.at(-1)?.style ?? '')
    this.#marks = { ...NO_MARKS, code: style.isCode }
    this.#isHidden = false
    return () => {
      this.#marks = marks
      this.#isHidden = isHidden
    }
  }

  /** Instructions stand between `begin` and `separate`, what they show between that and `end`. */
  #fieldSign(type: string | undefined): void {
    const field = this.#fields.at(-1)
    if (type === 'begin') this.#fields.push({ instruction: '', isShown: false })
    else if (type === 'separate' && field !== undefined) field.isShown = true
    else if (type === 'end') this.#fields.pop()
  }

  #noteReference(key: string): void {
    if (this.#paragraphs.length === 0) return
    const id = this.#notes.get(key) ?? String(this.#notes.size + 1)
    this.#notes.set(key, id)
    this.#flow().add({ kind: 'note', id })
  }

  #property(name: string, attributes: XmlAttributes): () => void {
    const paragraph = this.#paragraphs.at(-1)
    const value = wordValue(attributes, 'val')
    if (name === 'tab' && !this.#isInProperties) this.#add('\t')
    else if (name === 'noBreakHyphen') this.#add('\u2011')
    else if (name === 'gridSpan' && this.#cell !== undefined) this.#cell.columns = Number(value) || 1
    else if (name === 'tblHeader') this.#isHeaderRow = isOn(value)
    else if (paragraph !== undefined && this.#isInProperties) setProperty(paragraph, name, value)
    else if (name === 'b') this.#marks = { ...this.#marks, strong: isOn(value) }
    else if (name === 'i') this.#marks = { ...this.#marks, emphasis: isOn(value) }
    else if (name === 'strike' || name === 'dstrike') this.#marks = { ...this.#marks, strike: isOn(value) }
    else if (name === 'vanish') this.#isHidden = isOn(value)
    else if (name === 'rStyle') {
      const style = this.#styles.get(value ?? '')
      this.#marks = { ...this.#marks, ...style.marks, code: this.#marks.code || style.isCode }
    }
    return () => undefined
  }

  #endParagraph(): void {
    this.#flow().end(this.#facts())
    this.#paragraphs.pop()
  }

  #facts(): ParagraphFacts {
    const paragraph = this.#paragraphs.at(-1)
    const style = this.#styles.get(paragraph?.style ?? '')
    const list = paragraph?.list ?? style.list ?? '0'
    const depth = Math.min(paragraph?.depth ?? style.depth ?? 0, 8)
    const heading = paragraph?.outline !== undefined && paragraph.outline > 0 ? paragraph.outline : style.heading
    const isItem = list !== '0' && heading === 0
    return {
      outline: heading,
      isInTable: false,
      isQuote: style.isQuote,
      isCode: style.isCode,
      item: isItem ? { list, depth, ...this.#lists.level(list, depth) } : undefined,
    }
  }
}

function setProperty(paragraph: Paragraph, name: string, value: string | undefined): void {
  if (name === 'pStyle') paragraph.style = value ?? ''
  else if (name === 'numId') paragraph.list = value
  else if (name === 'ilvl') paragraph.depth = Number(value) || 0
  else if (name === 'outlineLvl') paragraph.outline = Number(value) < 9 ? Number(value) + 1 : 0
}

/** The address of a HYPERLINK that leads out of the document. */
function targetOf(instruction: string): string {
  const match = /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\s\\"]+))/i.exec(instruction)
  return match?.[1] ?? match?.[2] ?? ''
}
