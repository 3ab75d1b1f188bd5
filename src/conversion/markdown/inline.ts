/**
 * Inline markdown from runs: pieces of text with the marks that they carry, as word processors store them. A
 * mark opens and closes beside a character that is no blank, because markdown does not see it otherwise.
 * Pure; linear in the text.
 */
import { escapeText } from './escape.js'

export interface Marks {
  readonly strong: boolean
  readonly emphasis: boolean
  readonly strike: boolean
  readonly code: boolean
  /** Target of the link that the text is in, or an empty text. */
  readonly href: string
}

export interface Run extends Marks {
  readonly text: string
  /** Markdown that is not escaped: an image, a reference to a note, a formula. */
  readonly isRaw: boolean
}

export const NO_MARKS: Marks = { strong: false, emphasis: false, strike: false, code: false, href: '' }

/** The outermost first. A run that has a mark of a later place can change it without closing earlier ones. */
const ORDER = ['href', 'strong', 'emphasis', 'strike', 'code'] as const
const SIGNS = { strong: '**', emphasis: '*', strike: '~~' }
const BLANK_START = /^\s+/
const hasMarks = (marks: Marks): boolean => ORDER.some((mark) => marks[mark] !== NO_MARKS[mark])
const areEqual = (left: Marks, right: Marks): boolean => ORDER.every((mark) => left[mark] === right[mark])

/** `\n` in a run is a hard line break. */
export function renderInline(runs: readonly Run[], isPlain: boolean): string {
  if (isPlain) return runs.map((run) => run.text).join('')
  const parts: string[] = []
  let open: Marks = NO_MARKS
  let code: string[] = []
  const closeTo = (wanted: Marks, depth: number): void => {
    for (let at = ORDER.length - 1; at >= depth; at--) {
      const mark = ORDER[at]!
      if (open[mark] === NO_MARKS[mark]) continue
      if (mark === 'code') {
        parts.push(codeSpan(code.join('')))
        code = []
      } else parts.push(mark === 'href' ? `](${linkTarget(open.href)})` : SIGNS[mark])
    }
    for (let at = depth; at < ORDER.length; at++) {
      const mark = ORDER[at]!
      if (wanted[mark] === NO_MARKS[mark] || mark === 'code') continue
      parts.push(mark === 'href' ? '[' : SIGNS[mark])
    }
    open = wanted
  }
  for (const run of spread(joined(runs))) {
    const differs = ORDER.findIndex((mark) => open[mark] !== run[mark])
    if (differs !== -1) closeTo(run, differs)
    if (run.code) code.push(run.text)
    else parts.push(run.isRaw ? run.text : escapeText(run.text, run.href !== ''))
  }
  closeTo(NO_MARKS, 0)
  return parts.join('')
}

/** Neighbours with the same marks become one. */
function joined(runs: readonly Run[]): Run[] {
  const result: { run: Run; texts: string[] }[] = []
  for (const run of runs) {
    const last = result.at(-1)
    if (last !== undefined && last.run.isRaw === run.isRaw && areEqual(last.run, run)) last.texts.push(run.text)
    else result.push({ run, texts: [run.text] })
  }
  return result.map(({ run, texts }) => ({ ...run, text: texts.join('') }))
}

/** Blanks at the ends of a marked run become runs of their own, with the marks that both neighbours have. */
function* spread(runs: readonly Run[]): Generator<Run> {
  for (const [at, run] of runs.entries()) {
    if (!hasMarks(run) || run.isRaw) {
      yield run
      continue
    }
    const start = BLANK_START.exec(run.text)?.[0] ?? ''
    // `\s+$` would try each row of blanks of the text.
    const core = run.text.slice(start.length).trimEnd()
    const end = run.text.slice(start.length + core.length)
    if (core === '') {
      yield { ...common(runs[at - 1] ?? NO_MARKS, runs[at + 1] ?? NO_MARKS), text: run.text, isRaw: false }
      continue
    }
    if (start !== '') yield { ...common(runs[at - 1] ?? NO_MARKS, run), text: start, isRaw: false }
    yield { ...run, text: core }
    if (end !== '') yield { ...common(run, runs[at + 1] ?? NO_MARKS), text: end, isRaw: false }
  }
}

/** Up to the first mark that differs: a later one closes with it, and can't open again before a blank. */
function common(left: Marks, right: Marks): Marks {
  const differs = ORDER.findIndex((mark) => left[mark] !== right[mark])
  const kept = differs === -1 ? ORDER : ORDER.slice(0, differs)
  return { ...NO_MARKS, ...Object.fromEntries(kept.map((mark) => [mark, left[mark]])), code: false }
}

function codeSpan(text: string): string {
  const line = text.replaceAll('\n', ' ')
  let longest = 0
  for (const [row] of line.matchAll(/`+/g)) longest = Math.max(longest, row.length)
  const fence = '`'.repeat(longest + 1)
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${line}${pad}${fence}`
}

/** A target with blanks or brackets stands in angle brackets; what would end it is encoded. */
export function linkTarget(href: string): string {
  const target = href.trim().replaceAll(/[\s<>]/g, (character) => encodeURIComponent(character))
  return /[()\\]/.test(target) ? `<${target}>` : target
}
