/**
 * One option of the server: its flag, variables, YAML keys, default, parser and line of help. The tables of
 * options (options.ts, vector_options.ts) are made of these. Types only.
 */

export interface Option<Value> {
  /** Without the dashes. Boolean flags need no value and have a `--no-` form. */
  readonly flag: string
  /** The first that is set and not empty wins. */
  readonly variables: readonly string[]
  /** Dotted paths into the YAML file; the first present wins. */
  readonly yaml: readonly string[]
  readonly fallback: Value
  /** The default as it is shown, where the value would not tell. */
  readonly fallbackText?: string
  readonly parse: (text: string) => Value
  readonly boolean?: true
  /** Read again on SIGHUP, and in force from then on. Every other option needs a restart. */
  readonly onSignal?: true
  readonly help: string
}
