/**
 * What a lane tells the front end about the advice that a request asks for: src/background/search_advisor.ts.
 */

export interface AdviceGiven {
  readonly collection: string
  readonly suggestions: readonly unknown[]
  /** The change of the collection's configuration to make; null: none. */
  readonly apply: Readonly<Record<string, unknown>> | null
}
