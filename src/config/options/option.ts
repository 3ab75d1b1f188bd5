/**
 * One option of the server: its flag, variables, YAML keys, default, parser and line of help. The tables of
 * options (options.ts, vector_options.ts) consist of these. Types only.
 */

export interface Option<Value> {
  /** Without the dashes. Boolean flags need no value and have a `--no-` form. */
  readonly flag: string
  /** The first variable that is set and not empty wins. */
  readonly variables: readonly string[]
  /** Dotted paths in the YAML file. The first path that is present wins. */
  readonly yaml: readonly string[]
  readonly fallback: Value
  /** The displayed default, if the value itself is not meaningful. */
  readonly fallbackText?: string
  readonly parse: (text: string) => Value
  readonly boolean?: true
  /** Read again on SIGHUP and applied immediately. Every other option needs a restart. */
  readonly onSignal?: true
  readonly help: string
}
