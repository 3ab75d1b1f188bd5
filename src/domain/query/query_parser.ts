/**
 * Parses a query with operators into a syntax tree. The recursion depth is that of the parentheses, which is
 * bounded. Everything else is a loop, so the time is linear. Grammar and reasons:
 * docs/decisions/search/query-syntax.md.
 *
 *   or     := and (OR and)*
 *   and    := run (AND run)*
 *   run    := clause+
 *   clause := (NOT | '-' | '+')* (field ':')* ( '(' or ')' | phrase | near | word | fuzzy | pattern )
 */
import { badRequest } from '../../errors.js'
import type { Dialect } from './query_dialect.js'
import { type Lexeme, lexQuery } from './query_lexer.js'
import { queryProblem } from './query_text.js'
import type { SyntaxNode } from './query_tree.js'

/** Nested parentheses in a query. Bounds the recursion of the parser, 4 frames a level. */
const FTS_QUERY_NESTING_MAX = 64

interface Clause {
  readonly node: SyntaxNode
  readonly required: boolean
  readonly excluded: boolean
  readonly marked: boolean
}

/** @throws ServiceError 400, whose message names the position */
export function parseTree(text: string, dialect: Dialect): SyntaxNode {
  const parser = new QueryParser(text, dialect)
  return parser.parse()
}

class QueryParser {
  readonly #text: string
  readonly #dialect: Dialect
  readonly #lexemes: readonly Lexeme[]
  #next = 0
  #nesting = 0

  constructor(text: string, dialect: Dialect) {
    this.#text = text
    this.#dialect = dialect
    this.#lexemes = lexQuery(text, dialect)
  }

  parse(): SyntaxNode {
    if (this.#peek().kind === 'end') throw badRequest('empty query expression')
    const node = this.#or()
    if (this.#peek().kind !== 'end') throw this.#unexpected()
    return node
  }

  #or(): SyntaxNode {
    const children = [this.#and()]
    while (this.#accept('OR')) children.push(this.#and())
    return joined('or', children)
  }

  #and(): SyntaxNode {
    const children = [this.#run()]
    while (this.#accept('AND')) children.push(this.#run())
    return joined('and', children)
  }

  #run(): SyntaxNode {
    const clauses = [this.#clause()]
    while (startsClause(this.#peek())) clauses.push(this.#clause())
    if (this.#dialect.marks && clauses.some((clause) => clause.marked)) {
      return {
        kind: 'marked',
        required: clauses.filter((clause) => clause.required).map((clause) => clause.node),
        optional: clauses.filter((clause) => !clause.required && !clause.excluded).map((clause) => clause.node),
        excluded: clauses.filter((clause) => clause.excluded).map((clause) => clause.node),
      }
    }
    return joined(
      'and',
      clauses.map((clause): SyntaxNode => (clause.excluded ? { kind: 'not', child: clause.node } : clause.node)),
    )
  }

  /** Pairs of negations cancel each other regardless of their notation: `NOT -x` is `x`, and so is `--x`. */
  #clause(): Clause {
    let excluded = false
    let required = false
    let marked = false
    for (;;) {
      if (this.#accept('NOT')) {
        excluded = !excluded
      } else if (this.#accept('-')) {
        excluded = !excluded
        marked = true
      } else if (this.#accept('+')) {
        required = true
        marked = true
      } else {
        return { node: this.#atom(), required: required && !excluded, excluded, marked }
      }
    }
  }

  /** Of several names in a row the last one applies, just as that of the innermost parentheses does. */
  #atom(): SyntaxNode {
    let name: string | undefined
    for (let lexeme = this.#peek(); lexeme.kind === 'field'; lexeme = this.#peek()) {
      name = lexeme.text
      this.#next++
    }
    const child = this.#unnamed()
    return name === undefined ? child : { kind: 'field', name, child }
  }

  #unnamed(): SyntaxNode {
    const { kind, text, number, at } = this.#peek()
    if (kind !== '(') {
      const leaf = leafOf(kind, text, number)
      if (leaf === undefined) throw this.#unexpected()
      this.#next++
      return leaf
    }
    if (++this.#nesting > FTS_QUERY_NESTING_MAX) {
      throw queryProblem(this.#text, at, `query nested deeper than ${FTS_QUERY_NESTING_MAX} parentheses`)
    }
    this.#next++
    const inner = this.#or()
    if (!this.#accept(')')) throw queryProblem(this.#text, this.#peek().at, `expected ')'`)
    this.#nesting--
    return inner
  }

  #peek(): Lexeme {
    // The list ends with `end`, which is never accepted, so the index stays within the list.
    return this.#lexemes[this.#next] as Lexeme
  }

  #accept(kind: Lexeme['kind']): boolean {
    if (this.#peek().kind !== kind) return false
    this.#next++
    return true
  }

  #unexpected() {
    const { kind, text, at } = this.#peek()
    return queryProblem(this.#text, at, `unexpected token ${kind === 'end' ? 'end of query' : `'${text || kind}'`}`)
  }
}

const STARTS: readonly Lexeme['kind'][] = ['word', 'fuzzy', 'pattern', 'phrase', 'near', 'field', '(', 'NOT', '+', '-']

function startsClause({ kind }: Lexeme): boolean {
  return STARTS.includes(kind)
}

function leafOf(kind: Lexeme['kind'], text: string, number: number): SyntaxNode | undefined {
  switch (kind) {
    case 'word':
    case 'pattern':
    case 'phrase':
      return { kind, text }
    case 'fuzzy':
      return { kind, text, edits: number }
    case 'near':
      return { kind, text, distance: number }
    default:
      return undefined
  }
}

function joined(kind: 'and' | 'or', children: readonly SyntaxNode[]): SyntaxNode {
  const [only] = children
  return children.length === 1 && only !== undefined ? only : { kind, children }
}
