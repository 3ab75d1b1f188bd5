/**
 * The main content of a page of the web, without menus, sidebars and footers, as Readability finds it in a
 * DOM. Both take more time than the size of hostile pages allows: the process that runs this is bounded.
 */
import { Readability } from '@mozilla/readability'
import { Parser } from 'htmlparser2'
import { parseHTML } from 'linkedom'

/** What is used of the DOM here, whose types are those of browsers. */
interface PageElement {
  readonly textContent: string
  readonly parentNode: unknown
  remove(): void
}
interface Page {
  readonly head: PageElement
  querySelectorAll(selector: string): Iterable<PageElement>
}
const pageOf = parseHTML as unknown as (html: string) => { readonly document: Page }
type Reader = new (
  document: Page,
  options: { keepClasses: boolean; maxElemsToParse: number },
) => { parse(): { readonly title?: string | null; readonly content?: string | null } | null }
const PageReader = Readability as unknown as Reader

/** Readability's time grows faster than their number. Pages have some thousands. */
const MAIN_CONTENT_ELEMENTS_MAX = 20_000
/** Open tags in each other: the DOM walks them recursively. Pages have some dozens. */
const MAIN_CONTENT_DEPTH_MAX = 500

/** What the DOM keeps of a page that is not its content. */
const NO_CONTENT = 'nav, [role="navigation"], title'

/** What stands in front of the content of a page that leaves the tags of head and body out. */
const HEAD_ELEMENTS = new Set('html head title meta link base script style noscript template'.split(' '))

interface Outline {
  readonly title: string
  /** Where the content begins: behind the tag of the body or the head, where the page has them. */
  readonly bodyAt: number
}

/** Returns HTML: the title as a heading, and the content. Undefined if none stands out, or a bound is met. */
export function mainContentOf(html: string): string | undefined {
  const outline = outlineOf(html)
  if (outline === undefined) return undefined
  // The DOM adds no tags that a page may leave out, and Readability expects them.
  const head = `<html><head><title>${escaped(outline.title)}</title></head>`
  const { document } = pageOf(`${head}<body>${html.slice(outline.bodyAt)}</body></html>`)
  for (const element of document.querySelectorAll(NO_CONTENT)) if (element.parentNode !== document.head) element.remove()
  const headings = [...document.querySelectorAll('h1')].map(({ textContent }) => textContent.trim())
  const found = new PageReader(document, { keepClasses: true, maxElemsToParse: MAIN_CONTENT_ELEMENTS_MAX }).parse()
  if (typeof found?.content !== 'string') return undefined
  const { title, content } = found
  // Readability takes the heading that says the title out of the content, and makes others of second level.
  const heading = headings.find((text) => text !== '' && title?.includes(text)) ?? title ?? ''
  return `${heading === '' ? '' : `<h1>${escaped(heading)}</h1>`}${content}`
}

/** Undefined: a bound is met. */
function outlineOf(html: string): Outline | undefined {
  let elements = 0
  let depth = 0
  let isWithin = true
  let bodyAt = 0
  let isInHead = false
  /** Tags of head and body behind it are samples of HTML, or of a page within the page. */
  let isContentBegun = false
  let title = ''
  let isInTitle = false
  const parser = new Parser({
    onopentag: (name) => {
      isWithin &&= ++elements <= MAIN_CONTENT_ELEMENTS_MAX && ++depth <= MAIN_CONTENT_DEPTH_MAX
      // Nothing more is read.
      if (!isWithin) parser.reset()
      if (name === 'body' && !isContentBegun) bodyAt = parser.endIndex + 1
      if (name === 'head') isInHead = true
      else isContentBegun ||= !isInHead && !HEAD_ELEMENTS.has(name)
      isInTitle = name === 'title' && title === ''
    },
    ontext: (text) => {
      if (isInTitle) title += text
    },
    onclosetag: (name) => {
      depth--
      isInTitle = false
      if (name !== 'head') return
      isInHead = false
      if (!isContentBegun) bodyAt = parser.endIndex + 1
    },
  })
  parser.end(html)
  return isWithin ? { title: title.trim(), bodyAt } : undefined
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
