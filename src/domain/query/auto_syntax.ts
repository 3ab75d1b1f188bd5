/**
 * Decides which marks of a text are operators when no mode is named. People paste addresses, paths, command
 * lines, code and error messages into a search box, and the text must find the document that contains it. A
 * mark is therefore an operator only where the rest of the text shows that one is meant. Rules:
 * docs/decisions/search/query-syntax.md. Pure; linear in the length of the text.
 */
import { AUTO, type Dialect } from './query_dialect.js'

const QUOTED = /"(?:\\.|[^"\\])*"(?:~\d*)?/gsu
/** Characters that neither prose nor a query has. */
const FOREIGN = /[\\=;{}<>|^`[\]]/
/** A call: `print(`, as no group of a query begins. */
const CALL = /[\p{L}\p{N}_]\(/u
/** Signs within a word: `TCP/IP`, `R&D`, `std::sort`, `a@b.org`, `12:30`. */
const JOINT = /:+|[/&@#%$~]/g
const TRAILING = /(?:~\d*|[:#%~])?[),.!?…]*$/
/** Joints of one word of a query. A word with more is an address or a path. */
const JOINTS_MAX = 1
/** `~1.2` and `~/notes`. */
const VERSION = /^[(+-]*~/

/** Whether a text is no query: an address, a path, code, or a line that has such. */
function isPasted(text: string): boolean {
  if (FOREIGN.test(text) || CALL.test(text)) return true
  return text.split(/\s+/).some((word) => VERSION.test(word) || (word.replace(TRAILING, '').match(JOINT)?.length ?? 0) > JOINTS_MAX)
}

/** A minus in front of something that can be excluded, unlike those of options (`-m`, `-1`, `--all`). */
const EXCLUSION = /^-(?:["(]|[A-Za-z][\w.'*?-]{2,}|[^\p{ASCII}])/u
const REQUIREMENT = /^\+(?:["(]|[A-Za-z][\w.'*?-]{2,}|[^\p{ASCII}])/u
const MINUS = /^-+[\p{L}\p{N}_"(*?-]/u
const CLEAR_EXCLUSION = /^-["(]/

/**
 * Whether `-` excludes: another operator stands beside it, or each could exclude a word and they are the end
 * of the query.
 */
function hasExclusions(words: readonly string[], hasNegations: boolean): boolean {
  const isOperator = (word: string): boolean =>
    word === 'AND' || word === 'OR' || (word === 'NOT' && hasNegations) || REQUIREMENT.test(word)
  if (words.some(isOperator)) return true
  const minus = words.filter((word) => MINUS.test(word))
  if (minus.length === 0 || !minus.every((word) => EXCLUSION.test(word))) return false
  if (minus.some((word) => CLEAR_EXCLUSION.test(word))) return true
  const first = words.findIndex((word) => MINUS.test(word))
  return first > 0 && words.length - first === minus.length
}

const OPERATOR_WORDS: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT'])
/** Capitals as in `MUST NOT` and `INT NOT NULL`. */
const CAPITALS = /^\p{Lu}[\p{Lu}\p{N}_]+$/u
/** Verbs that a following NOT negates. In front of an operator they are stop words or make no sense. */
const AUXILIARY = /^(?:am|are|can|could|did|do|does|had|has|have|is|may|might|must|need|shall|should|was|were|will|would)$/i

/**
 * Whether NOT is an operator: the text is not in capitals as a whole, and no NOT negates the word before it.
 */
function hasNegationsIn(words: readonly string[]): boolean {
  if (!words.includes('NOT')) return false
  const others = words.filter((word) => !OPERATOR_WORDS.has(word)).join(' ')
  if (/\p{Lu}/u.test(others) && !/\p{Ll}/u.test(others)) return false
  return words.every((word, index) => {
    const before = words[index - 1] ?? ''
    if (word !== 'NOT' || OPERATOR_WORDS.has(before)) return true
    return !CAPITALS.test(before) && !AUXILIARY.test(before)
  })
}

/** The dialect of a text without a mode. Undefined: it has no operators, because it is pasted. */
export function autoDialect(text: string): Dialect | undefined {
  // What stands in quotes is no syntax. The quotes stay, so that `-"a b"` is one word.
  const bare = text.replace(QUOTED, '""')
  if (isPasted(bare)) return undefined
  const words = bare.split(/\s+/).filter((word) => word !== '')
  const negations = hasNegationsIn(words)
  return { ...AUTO, negations, exclusions: hasExclusions(words, negations) }
}
