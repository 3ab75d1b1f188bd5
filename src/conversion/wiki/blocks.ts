/**
 * Second pass of the converter: lines without markup of the first pass become blocks of markdown: headings,
 * lists, definitions, indents, rules, tables, paragraphs. One line at a time, each read a bounded number of
 * times. Pure.
 */
import { renderEmphasis } from './emphasis.js'
import { MarkdownLines } from './markdown_lines.js'
import { TableReader } from './tables.js'

/** Levels of a list that are shown. A text has as many marks as it likes. */
const LIST_DEPTH_MAX = 16
const HEADING_LEVEL_MAX = 6
const RULE_DASHES = 4

const [STAR, HASH, COLON, SEMICOLON, EQUALS, DASH, BRACE, PIPE, SPACE, TAB, RETURN] = [42, 35, 58, 59, 61, 45, 123, 124, 32, 9, 13]

export function renderBlocks(text: string): string {
  const lines = new MarkdownLines()
  let table: TableReader | undefined
  for (let begin = 0; begin <= text.length;) {
    const newline = text.indexOf('\n', begin)
    const next = newline < 0 ? text.length : newline
    const end = trimmedEnd(text, begin, next)
    if (table !== undefined) {
      const rest = table.line(text, begin, end)
      if (rest !== undefined) {
        table.write(lines)
        table = undefined
        if (rest < end) addLine(lines, text, rest, end)
      }
    } else if (begin === end) lines.blank()
    else if (beginsTable(text, begin, end)) table = new TableReader()
    else addLine(lines, text, begin, end)
    begin = next + 1
  }
  table?.write(lines)
  return lines.end()
}

function trimmedEnd(text: string, begin: number, next: number): number {
  let end = next
  while (end > begin && isBlank(text.charCodeAt(end - 1))) end--
  return end
}

const isBlank = (code: number): boolean => code === SPACE || code === TAB || code === RETURN

/** A table may be indented. */
function beginsTable(text: string, begin: number, end: number): boolean {
  let at = begin
  while (at < end && (isBlank(text.charCodeAt(at)) || text.charCodeAt(at) === COLON)) at++
  return text.charCodeAt(at) === BRACE && text.charCodeAt(at + 1) === PIPE && at + 1 < end
}

/** The quotes of a part of a line, which is trimmed. */
function inline(text: string, begin: number, end: number): string {
  let from = begin
  while (from < end && isBlank(text.charCodeAt(from))) from++
  const part = text.slice(from, end)
  return part.includes("''") ? renderEmphasis(part) : part
}

function addLine(lines: MarkdownLines, text: string, begin: number, end: number): void {
  switch (text.charCodeAt(begin)) {
    case STAR:
    case HASH:
    case COLON:
    case SEMICOLON:
      return addItem(lines, text, begin, end)
    case EQUALS:
      return addHeading(lines, text, begin, end)
    case DASH:
      if (text.startsWith('----', begin)) return addRule(lines, text, begin, end)
  }
  const line = text.slice(begin, end)
  lines.add('text', line.includes("''") ? renderEmphasis(line) : line)
}

/** `==` at both ends; what one end has more than the other, or than a heading can have, is text. */
function addHeading(lines: MarkdownLines, text: string, begin: number, end: number): void {
  let [from, to] = [begin, end]
  const middle = (begin + end - 1) / 2
  while (from < middle && from - begin < HEADING_LEVEL_MAX && text.charCodeAt(from) === EQUALS && text.charCodeAt(to - 1) === EQUALS) {
    from++
    to--
  }
  const title = inline(text, from, trimmedEnd(text, from, to))
  if (from === begin || title === '' || /^=+$/.test(title)) lines.add('text', inline(text, begin, end))
  else lines.add('heading', `${'#'.repeat(from - begin)} ${title}`)
}

function addRule(lines: MarkdownLines, text: string, begin: number, end: number): void {
  let from = begin + RULE_DASHES
  while (from < end && text.charCodeAt(from) === DASH) from++
  lines.add('separate', '---')
  const rest = inline(text, from, end)
  if (rest !== '') lines.add('text', rest)
}

/**
 * Each mark before the last one is a list that contains the item: its indentation is the width of its own
 * marker, so that markdown nests as the wiki does.
 */
function addItem(lines: MarkdownLines, text: string, begin: number, end: number): void {
  let from = begin
  while (from < end && isMark(text.charCodeAt(from))) from++
  const last = text.charCodeAt(from - 1)
  let indentation = ''
  for (let at = begin; at < Math.min(from - 1, begin + LIST_DEPTH_MAX - 1); at++) {
    const mark = text.charCodeAt(at)
    indentation += mark === STAR ? '  ' : mark === HASH ? '   ' : mark === COLON ? '> ' : ''
  }
  if (last === SEMICOLON) return addTerm(lines, indentation, text, from, end)
  const item = inline(text, from, end)
  if (item !== '') lines.add('container', `${indentation}${last === STAR ? '- ' : last === HASH ? '1. ' : '> '}${item}`)
}

const isMark = (code: number): boolean => code === STAR || code === HASH || code === COLON || code === SEMICOLON

/** `; term : definition`. A colon of an address is none. */
function addTerm(lines: MarkdownLines, indentation: string, text: string, begin: number, end: number): void {
  let colon = begin
  while (colon < end && !(text.charCodeAt(colon) === COLON && !text.startsWith('//', colon + 1))) colon++
  const term = inline(text, begin, trimmedEnd(text, begin, colon))
  const definition = inline(text, Math.min(colon + 1, end), end)
  const shown = term === '' || term.includes('**') ? term : `**${term}**`
  if (term === '' && definition === '') return
  const kind = indentation === '' ? 'text' : 'container'
  lines.add(kind, `${indentation}${shown}${definition === '' ? '' : `${shown === '' ? '' : ': '}${definition}`}`)
}
