/**
 * What a boolean query or an expression says, as a tree.
 */
export type SyntaxNode =
  | { readonly kind: 'word'; readonly text: string }
  /** A word that may be misspelt by `edits`. */
  | { readonly kind: 'fuzzy'; readonly text: string; readonly edits: number }
  /** A word with `*` or `?` in it. */
  | { readonly kind: 'pattern'; readonly text: string }
  | { readonly kind: 'phrase'; readonly text: string }
  /** The words of a text, at most `distance` apart. */
  | { readonly kind: 'near'; readonly text: string; readonly distance: number }
  /** A part of the query that is looked for in one field. */
  | { readonly kind: 'field'; readonly name: string; readonly child: SyntaxNode }
  | { readonly kind: 'and' | 'or'; readonly children: readonly SyntaxNode[] }
  | { readonly kind: 'not'; readonly child: SyntaxNode }
  /**
   * Clauses side by side of which at least one carries a mark: all of `required`, none of `excluded`;
   * `optional` only adds score where something is required.
   */
  | {
      readonly kind: 'marked'
      readonly required: readonly SyntaxNode[]
      readonly optional: readonly SyntaxNode[]
      readonly excluded: readonly SyntaxNode[]
    }
