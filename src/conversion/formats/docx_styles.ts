/**
 * Rules for mammoth of the styles that a Word document derives from those for headings and code: mammoth
 * knows styles by their names only. Runs in a child process.
 */
import { readXml } from './xml.js'

/** Styles that inherit from each other in a row. A longer chain, or a circle, ends here. */
const STYLE_PARENTS_MAX = 16
/** Rules for one document. Each paragraph is compared with all of them. */
const DERIVED_STYLES_MAX = 200

interface Style {
  name: string
  parent: string | undefined
}

/** @param xml `styles.xml`, or an empty text. @returns lines of a style map */
export function derivedStyles(xml: string): string[] {
  const styles = xml === '' ? new Map<string, Style>() : readStyles(xml)
  const rules: string[] = []
  for (const style of styles.values()) {
    // What a rule can't quote has no rule.
    const target = /['\\]/.test(style.name) ? undefined : targetOf(style, styles)
    if (target !== undefined && rules.length < DERIVED_STYLES_MAX) rules.push(`p[style-name='${style.name}'] => ${target}`)
  }
  return rules
}

function targetOf(style: Style, styles: ReadonlyMap<string, Style>): string | undefined {
  if (/^toc heading$/i.test(style.name)) return 'h1:fresh'
  let ancestor = styles.get(style.parent ?? '')
  for (let left = STYLE_PARENTS_MAX; left > 0 && ancestor !== undefined; left--) {
    const heading = /^heading ([1-9])$/i.exec(ancestor.name)
    if (heading !== null) return /^heading [1-9]$/i.test(style.name) ? undefined : `h${Math.min(6, Number(heading[1]))}:fresh`
    if (/^source code$/i.test(ancestor.name)) return "pre:separator('\\n')"
    ancestor = styles.get(ancestor.parent ?? '')
  }
  return undefined
}

/** Paragraph styles by id. Prefixes of names differ between writers. */
function readStyles(xml: string): Map<string, Style> {
  const styles = new Map<string, Style>()
  let style: Style | undefined
  readXml(xml, {
    open: (qualified, attributes) => {
      const name = qualified.replace(/^\w+:/, '')
      const value = (key: string): string | undefined => attributes[`w:${key}`] ?? attributes[`ns0:${key}`]
      if (name === 'style' && value('type') === 'paragraph') styles.set(value('styleId') ?? '', (style = { name: '', parent: undefined }))
      else if (name === 'name' && style?.name === '') style.name = value('val') ?? ''
      else if (name === 'basedOn' && style !== undefined) style.parent = value('val')
    },
    close: (name) => {
      if (name.endsWith(':style')) style = undefined
    },
    text: () => undefined,
  })
  return styles
}
