/**
 * The differences between the query languages with operators. They share the lexer and the parser. Reasons:
 * docs/decisions/0020-fulltext-query-syntax.md. Pure.
 */
export interface Dialect {
  /** Keywords are case-insensitive: `and` equals `AND`. */
  readonly anyCase: boolean
  /** `name:` before a clause selects the field that it is searched in. */
  readonly fields: boolean
  /** `+` and `-` mark adjacent clauses as in Lucene. Otherwise `+` has no effect and `-` is NOT. */
  readonly marks: boolean
  /** Every `*` and `?` in a word makes it a pattern. Otherwise only unambiguous patterns do. */
  readonly anyPattern: boolean
}

export const BOOLEAN: Dialect = { anyCase: true, fields: false, marks: true, anyPattern: true }
export const EXPRESSION: Dialect = { anyCase: true, fields: true, marks: false, anyPattern: true }
/** For queries without a named mode. */
export const AUTO: Dialect = { anyCase: false, fields: false, marks: true, anyPattern: false }
