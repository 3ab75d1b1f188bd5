/** Identifies the provider of vectors. Types only. */

export interface EmbeddingIdentity {
  /** `openai`, `local` ... */
  readonly provider: string
  readonly model: string
  readonly dimensions: number
  /** Vectors of different variants cannot be compared. */
  readonly variant: string
}
