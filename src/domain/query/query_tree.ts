/** The syntax tree of a boolean query or an expression. */
export type SyntaxNode =
  | { readonly kind: 'word'; readonly text: string }
  /** A word with an edit distance of up to `edits`. */
  | { readonly kind: 'fuzzy'; readonly text: string; readonly edits: number }
  /** A word that contains `*` or `?`. */
  | { readonly kind: 'pattern'; readonly text: string }
  | { readonly kind: 'phrase'; readonly text: string }
  /** The words of a text, at most `distance` apart. */
  | { readonly kind: 'near'; readonly text: string; readonly distance: number }
  /** A part of the query that is searched in one field. */
  | { readonly kind: 'field'; readonly name: string; readonly child: SyntaxNode }
  | { readonly kind: 'and' | 'or'; readonly children: readonly SyntaxNode[] }
  | { readonly kind: 'not'; readonly child: SyntaxNode }
  /**
   * Adjacent clauses of which at least one carries a mark: all of `required`, none of `excluded`. `optional`
   * only adds score if something is required.
   */
  | {
      readonly kind: 'marked'
      readonly required: readonly SyntaxNode[]
      readonly optional: readonly SyntaxNode[]
      readonly excluded: readonly SyntaxNode[]
    }
