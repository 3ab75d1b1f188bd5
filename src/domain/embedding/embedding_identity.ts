/** Which provider makes vectors. Types only. */

export interface EmbeddingIdentity {
  /** `openai`, `local` ... */
  readonly provider: string
  readonly model: string
  readonly dimensions: number
  /** Vectors of another variant cannot be compared with its own. */
  readonly variant: string
}
