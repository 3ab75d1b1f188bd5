/**
 * The differences between the query languages that have operators; lexer and parser are shared. Reasons:
 * docs/decisions/0020-fulltext-query-syntax.md. Pure.
 */
export interface Dialect {
  /** `and` is as good as `AND`. */
  readonly anyCase: boolean
  /** `name:` in front of a clause says where it is looked for. */
  readonly fields: boolean
  /** `+` and `-` divide clauses side by side as in Lucene; else `+` says nothing and `-` is NOT. */
  readonly marks: boolean
  /**
   * Every `*` and `?` in a word makes a pattern of it; else only those that can hardly be meant as something
   * else.
   */
  readonly anyPattern: boolean
}

export const BOOLEAN: Dialect = { anyCase: true, fields: false, marks: true, anyPattern: true }
export const EXPRESSION: Dialect = { anyCase: true, fields: true, marks: false, anyPattern: true }
/** What people type who name no mode. */
export const AUTO: Dialect = { anyCase: false, fields: false, marks: true, anyPattern: false }
