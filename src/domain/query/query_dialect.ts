/**
 * The differences between the query languages with operators. They share the lexer and the parser. Reasons:
 * docs/decisions/search/query-syntax.md. Pure.
 */
export interface Dialect {
  /** Keywords are case-insensitive: `and` equals `AND`. */
  readonly anyCase: boolean
  /** `name:` before a clause selects the field that it is searched in. */
  readonly fields: boolean
  /** `+` and `-` mark adjacent clauses as in Lucene. Otherwise `+` has no effect and `-` is NOT. */
  readonly marks: boolean
  /** NOT is an operator. Otherwise it is a word. */
  readonly negations: boolean
  /** `-` is an operator. Otherwise it is part of a word. */
  readonly exclusions: boolean
  /** Every `*` and `?` in a word makes it a pattern. Otherwise only unambiguous patterns do. */
  readonly anyPattern: boolean
}

export const BOOLEAN: Dialect = { anyCase: true, fields: false, marks: true, negations: true, exclusions: true, anyPattern: true }
export const EXPRESSION: Dialect = { anyCase: true, fields: true, marks: false, negations: true, exclusions: true, anyPattern: true }
/** For queries without a named mode. The text decides whether NOT and `-` are operators (auto_syntax.ts). */
export const AUTO: Omit<Dialect, 'negations' | 'exclusions'> = { anyCase: false, fields: false, marks: true, anyPattern: false }
