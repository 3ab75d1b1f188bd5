/** Where the bytes of objects are cached in this process: given to whoever opens a store. */
export interface ObjectSource {
  /** A copy. */
  get(id: Buffer): Buffer | undefined
  has(id: Buffer): boolean
}
