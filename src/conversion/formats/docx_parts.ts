/**
 * The parts of a Word document beside its text: styles with their parents, kinds of lists, addresses of
 * links. Names are taken without their prefix, which differs between writers. Runs in a child process.
 */
import type { Marks } from '../markdown/inline.js'
import { readXml, type XmlAttributes } from './xml.js'

/** Styles that inherit from each other in a row. A longer chain, or a circle, ends here. */
const STYLE_PARENTS_MAX = 16
const CODE_STYLE = /^(?:source code|html preformatted|verbatim char|html code|source text)$/i
const QUOTE_STYLE = /^(?:quote|intense quote|block text)$/i

export const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** An attribute of Word's own namespace. */
export function wordValue(attributes: XmlAttributes, name: string): string | undefined {
  return attributes[`w:${name}`] ?? attributes[`ns0:${name}`] ?? attributes[name]
}

/** Whether a property that is there is switched on. */
export const isOn = (value: string | undefined): boolean => value === undefined || !/^(?:0|false|off|none)$/i.test(value)

interface ListNumber {
  readonly list: string | undefined
  readonly depth: number | undefined
}
interface Style {
  name: string
  parent: string | undefined
  /** 1 to 9, or 0. */
  outline: number
  list: string | undefined
  depth: number | undefined
  marks: { strong?: boolean; emphasis?: boolean; strike?: boolean }
}
interface DocxStyle extends ListNumber {
  readonly heading: number
  readonly isCode: boolean
  readonly isQuote: boolean
  readonly marks: Partial<Marks>
}

export class DocxStyles {
  readonly #styles = new Map<string, Style>()
  readonly #known = new Map<string, DocxStyle>()

  /** @param xml `styles.xml`, or an empty text */
  constructor(xml: string) {
    let style: Style | undefined
    const set = (name: string, value: string | undefined): void => {
      if (style === undefined) return
      if (name === 'name') style.name = value ?? ''
      else if (name === 'basedOn') style.parent = value
      else if (name === 'outlineLvl') style.outline = Number(value) < 9 ? Number(value) + 1 : 0
      else if (name === 'numId') style.list = value
      else if (name === 'ilvl') style.depth = Number(value)
      else if (name === 'b') style.marks.strong = isOn(value)
      else if (name === 'i') style.marks.emphasis = isOn(value)
      else if (name === 'strike') style.marks.strike = isOn(value)
    }
    readPart(xml, (name, attributes) => {
      if (name !== 'style') return set(name, wordValue(attributes, 'val'))
      style = { name: '', parent: undefined, outline: 0, list: undefined, depth: undefined, marks: {} }
      this.#styles.set(wordValue(attributes, 'styleId') ?? '', style)
    })
  }

  get(id: string): DocxStyle {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const chain: Style[] = []
    for (let at = this.#styles.get(id); at !== undefined && chain.length < STYLE_PARENTS_MAX; at = this.#styles.get(at.parent ?? ''))
      chain.push(at)
    const style = {
      heading: headingOf(chain),
      isCode: chain.some(({ name }) => CODE_STYLE.test(name)),
      isQuote: chain.some(({ name }) => QUOTE_STYLE.test(name)),
      list: chain.find(({ list }) => list !== undefined)?.list,
      depth: chain.find(({ depth }) => depth !== undefined)?.depth,
      marks: Object.assign({}, ...chain.map(({ marks }) => marks).reverse()) as Partial<Marks>,
    }
    this.#known.set(id, style)
    return style
  }
}

/** By the name of the style or of an ancestor, else by the level that one states. */
function headingOf(chain: readonly Style[]): number {
  if (/^(?:title|toc heading)$/i.test(chain[0]?.name ?? '')) return 1
  const named = chain.map(({ name }) => /^heading ([1-9])$/i.exec(name)?.[1]).find((level) => level !== undefined)
  return named === undefined ? (chain.find(({ outline }) => outline > 0)?.outline ?? 0) : Number(named)
}

interface ListLevel {
  isOrdered: boolean
  start: number
}

export class DocxLists {
  /** Levels by the id of an abstract list. */
  readonly #abstract = new Map<string, Map<number, ListLevel>>()
  readonly #lists = new Map<string, string>()

  /** @param xml `numbering.xml`, or an empty text */
  constructor(xml: string) {
    let levels = new Map<number, ListLevel>()
    let level: ListLevel = { isOrdered: false, start: 1 }
    let list = ''
    readPart(xml, (name, attributes) => {
      const value = wordValue(attributes, 'val')
      if (name === 'abstractNum') this.#abstract.set(wordValue(attributes, 'abstractNumId') ?? '', (levels = new Map<number, ListLevel>()))
      else if (name === 'lvl' && list === '') levels.set(Number(wordValue(attributes, 'ilvl')), (level = { isOrdered: false, start: 1 }))
      else if (name === 'numFmt' && list === '') level.isOrdered = value !== 'bullet' && value !== 'none'
      else if (name === 'start' && list === '') level.start = Number(value) || 0
      else if (name === 'num') list = wordValue(attributes, 'numId') ?? ''
      else if (name === 'abstractNumId') this.#lists.set(list, value ?? '')
    })
  }

  level(list: string, depth: number): Readonly<ListLevel> {
    return this.#abstract.get(this.#lists.get(list) ?? '')?.get(depth) ?? { isOrdered: false, start: 1 }
  }
}

/** External targets by the id of their relation. @param xml `document.xml.rels`, or an empty text */
export function linksOf(xml: string): ReadonlyMap<string, string> {
  const links = new Map<string, string>()
  readPart(xml, (name, attributes) => {
    const { Id, Target, TargetMode } = attributes
    if (name === 'Relationship' && TargetMode === 'External' && Id !== undefined && Target !== undefined) links.set(Id, Target)
  })
  return links
}

function readPart(xml: string, open: (name: string, attributes: XmlAttributes) => void): void {
  if (xml === '') return
  readXml(xml, { open: (name, attributes) => open(localName(name), attributes), close: () => undefined, text: () => undefined })
}
