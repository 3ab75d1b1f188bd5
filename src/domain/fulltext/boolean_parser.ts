/**
 * Parses a boolean query into a syntax tree. Recursion goes as deep as parentheses are nested, which is bounded; everything else is a loop, so that
 * the time is linear. Grammar and reasons: docs/decisions/0020-fulltext-query-syntax.md.
 *
 *   or     := and (OR and)*
 *   and    := run (AND run)*
 *   run    := clause+
 *   clause := (NOT | '-' | '+')* ( '(' or ')' | phrase | word )
 */
import { badRequest } from '../../errors.js'
import { FTS_QUERY_NESTING_MAX } from '../../limits.js'
import { lexBoolean, type Lexeme } from './boolean_lexer.js'
import { queryProblem } from './query_text.js'

export type SyntaxNode =
  | { readonly kind: 'word' | 'phrase'; readonly text: string }
  | { readonly kind: 'and' | 'or'; readonly children: readonly SyntaxNode[] }
  | { readonly kind: 'not'; readonly child: SyntaxNode }
  /** Clauses side by side of which at least one carries a mark: all of `required`, none of `excluded`; `optional` only adds score where something is required. */
  | {
      readonly kind: 'marked'
      readonly required: readonly SyntaxNode[]
      readonly optional: readonly SyntaxNode[]
      readonly excluded: readonly SyntaxNode[]
    }

interface Clause {
  readonly node: SyntaxNode
  readonly required: boolean
  readonly excluded: boolean
  readonly marked: boolean
}

/** Throws a 400 whose text names the place. */
export function parseBoolean(text: string): SyntaxNode {
  const parser = new BooleanParser(text, lexBoolean(text))
  return parser.parse()
}

class BooleanParser {
  readonly #text: string
  readonly #lexemes: readonly Lexeme[]
  #next = 0
  #nesting = 0

  constructor(text: string, lexemes: readonly Lexeme[]) {
    this.#text = text
    this.#lexemes = lexemes
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
    if (clauses.some((clause) => clause.marked)) {
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

  /** Negations cancel each other in pairs however they are written: `NOT -x` is `x`, `--x` too. */
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

  #atom(): SyntaxNode {
    const lexeme = this.#peek()
    if (lexeme.kind === 'word' || lexeme.kind === 'phrase') {
      this.#next++
      return { kind: lexeme.kind, text: lexeme.text }
    }
    if (lexeme.kind !== '(') throw this.#unexpected()
    if (++this.#nesting > FTS_QUERY_NESTING_MAX) {
      throw queryProblem(this.#text, lexeme.at, `query nested deeper than ${FTS_QUERY_NESTING_MAX} parentheses`)
    }
    this.#next++
    const inner = this.#or()
    if (!this.#accept(')')) throw queryProblem(this.#text, this.#peek().at, `expected ')'`)
    this.#nesting--
    return inner
  }

  #peek(): Lexeme {
    // The list ends with `end`, which nothing accepts, so the index never leaves it.
    return this.#lexemes[this.#next] as Lexeme
  }

  #accept(kind: Lexeme['kind']): boolean {
    if (this.#peek().kind !== kind) return false
    this.#next++
    return true
  }

  #unexpected() {
    const { kind, at } = this.#peek()
    return queryProblem(this.#text, at, kind === 'end' ? 'unexpected end of query' : `unexpected ${kind.length === 1 ? `'${kind}'` : kind}`)
  }
}

function startsClause({ kind }: Lexeme): boolean {
  return kind === 'word' || kind === 'phrase' || kind === '(' || kind === 'NOT' || kind === '+' || kind === '-'
}

function joined(kind: 'and' | 'or', children: readonly SyntaxNode[]): SyntaxNode {
  const [only] = children
  return children.length === 1 && only !== undefined ? only : { kind, children }
}
