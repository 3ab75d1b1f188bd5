/**
 * What the styles of an OpenDocument text say about marks, code, quotes and numbered lists. Styles inherit
 * from their parents. Runs in a child process.
 */
import { readXml, type XmlAttributes } from './xml.js'

/** Styles that inherit from each other in a row. A longer chain, or a circle, ends here. */
const STYLE_PARENTS_MAX = 32
/** Monospaced fonts, by a word of their names. */
const MONOSPACED = /mono|courier|consolas|typewriter|menlo/i
const CODE_STYLE = /^(?:Source_20_(?:Text|Code)|Verbatim|Preformatted_20_Text|HTML_20_Preformatted)/i
const QUOTE_STYLE = /^(?:Quotations|Block_20_(?:Text|Quote)|Intense_20_Quote|Quote)$/i

interface Style {
  readonly family: string
  readonly parent: string | undefined
  /** The value of the nearest style that has one counts. */
  strong?: boolean
  emphasis?: boolean
  strike?: boolean
  code?: boolean
}
export interface StyleFacts {
  readonly strong: boolean
  readonly emphasis: boolean
  readonly strike: boolean
  readonly code: boolean
  readonly quote: boolean
}
interface ListLevel {
  readonly isOrdered: boolean
  readonly start: number
}

export class OdtStyles {
  readonly #styles = new Map<string, Style>()
  readonly #levels = new Map<string, ListLevel>()

  /** Adds the styles of `styles.xml` or `content.xml`. @throws Error of the parser */
  add(xml: string): void {
    let style: Style | undefined
    let list = ''
    readXml(xml, {
      open: (name, attributes) => {
        if (name === 'style:style') style = this.#begin(attributes)
        else if (name === 'style:text-properties' && style !== undefined) readProperties(style, attributes)
        else if (name === 'text:list-style') list = attributes['style:name'] ?? ''
        else if (name.startsWith('text:list-level-style-') && list !== '') this.#addLevel(list, name, attributes)
      },
      close: (name) => {
        if (name === 'style:style') style = undefined
        else if (name === 'text:list-style') list = ''
      },
      text: () => undefined,
    })
  }

  facts(family: 'text' | 'paragraph', name: string | undefined): StyleFacts {
    const chain: Style[] = []
    let quote = false
    let isCode = false
    for (let at = name; at !== undefined && chain.length < STYLE_PARENTS_MAX;) {
      quote ||= QUOTE_STYLE.test(at)
      isCode ||= CODE_STYLE.test(at)
      const style: Style | undefined = this.#styles.get(`${family} ${at}`)
      if (style === undefined) break
      chain.push(style)
      at = style.parent
    }
    const of = (mark: 'strong' | 'emphasis' | 'strike' | 'code'): boolean =>
      chain.find((style) => style[mark] !== undefined)?.[mark] === true
    // A paragraph in a monospaced font alone is no code: whole documents are written in one.
    return {
      strong: of('strong'),
      emphasis: of('emphasis'),
      strike: of('strike'),
      code: isCode || (family === 'text' && of('code')),
      quote,
    }
  }

  /** @param depth 1 for the outermost list */
  level(list: string | undefined, depth: number): ListLevel {
    return this.#levels.get(`${list ?? ''} ${depth}`) ?? { isOrdered: false, start: 1 }
  }

  #begin(attributes: XmlAttributes): Style {
    const family = attributes['style:family'] ?? ''
    const style: Style = { family, parent: attributes['style:parent-style-name'] }
    this.#styles.set(`${family} ${attributes['style:name'] ?? ''}`, style)
    return style
  }

  #addLevel(list: string, name: string, attributes: XmlAttributes): void {
    const isOrdered = name === 'text:list-level-style-number' && (attributes['style:num-format'] ?? '') !== ''
    const start = Number.parseInt(attributes['text:start-value'] ?? '1', 10)
    this.#levels.set(`${list} ${attributes['text:level'] ?? '1'}`, { isOrdered, start: Number.isNaN(start) ? 1 : start })
  }
}

function readProperties(style: Style, attributes: XmlAttributes): void {
  const weight = attributes['fo:font-weight']
  if (weight !== undefined) style.strong = weight === 'bold' || Number(weight) >= 600
  const slope = attributes['fo:font-style']
  if (slope !== undefined) style.emphasis = slope === 'italic' || slope === 'oblique'
  const strike = attributes['style:text-line-through-style'] ?? attributes['style:text-line-through-type']
  if (strike !== undefined) style.strike = strike !== 'none'
  const font = attributes['style:font-name'] ?? attributes['fo:font-family']
  if (font !== undefined) style.code = MONOSPACED.test(font) || attributes['style:font-pitch'] === 'fixed'
}
