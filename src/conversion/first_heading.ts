/**
 * The first heading of a markdown text, as plain text: `# Heading`, or a line that is underlined by `=` or
 * `-`. Frontmatter and fenced code are skipped. Pure; linear in the text up to the heading.
 */

/** Characters of a title. A longer heading is cut. */
const TITLE_CHARACTERS_MAX = 300
const FENCE = /^ {0,3}(```+|~~~+)/
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/
/** Lines that begin another block are no text to be underlined. */
const OTHER_BLOCK = /^ {0,3}(?:[>|<]|[-*+][ \t]|\d+[.)][ \t])| {4}|\t/y
const FRONTMATTER = /^\uFEFF?(---|\+\+\+)[ \t]*\r?\n/

/** Undefined if there is none, or none with a text. */
export function firstHeading(markdown: string): string | undefined {
  let fence: string | undefined
  let before = ''
  for (const line of linesOf(markdown, bodyOffset(markdown))) {
    const mark = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined
      before = ''
    } else if (mark !== undefined) {
      fence = mark
    } else if (HEADING.test(line)) {
      const title = plain(line.replace(/^ {0,3}#{1,6}/, ''))
      if (title !== '') return title
    } else if (before.trim() !== '' && UNDERLINE.test(line)) {
      const title = plain(before)
      if (title !== '') return title
    } else {
      OTHER_BLOCK.lastIndex = 0
      before = OTHER_BLOCK.test(line) ? '' : line
    }
  }
  return undefined
}

function bodyOffset(markdown: string): number {
  const opening = FRONTMATTER.exec(markdown)
  if (opening === null) return 0
  const closing = markdown.indexOf(`\n${opening[1]}`, opening[0].length - 1)
  return closing < 0 ? 0 : closing + 1 + opening[1]!.length
}

function* linesOf(text: string, from: number): Generator<string> {
  for (let begin = from; begin < text.length;) {
    const newline = text.indexOf('\n', begin)
    const end = newline < 0 ? text.length : newline
    yield text.slice(begin, end > begin && text[end - 1] === '\r' ? end - 1 : end)
    begin = end + 1
  }
}

/** Without closing marks, emphasis, code marks, addresses of links, and identifiers such as `{#id}`. */
function plain(heading: string): string {
  const cut = heading.slice(0, TITLE_CHARACTERS_MAX)
  // Half of a surrogate pair at the cut is dropped.
  const text = (cut.isWellFormed() ? cut : cut.slice(0, -1))
    .replace(/\]\([^()\s]{0,300}\)/g, '')
    .replace(/\{#[^{}]{0,300}\}/g, '')
    .replace(/[[\]`*]/g, '')
    .trim()
  let end = text.length
  while (text[end - 1] === '#') end -= 1
  return (end === 0 || end === text.length || text[end - 1] === ' ' ? text.slice(0, end) : text).trim()
}
