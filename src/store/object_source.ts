/** The cache of object bytes in this process. The code that opens a store supplies it. */
export interface ObjectSource {
  /** Returns a copy. */
  get(id: Buffer): Buffer | undefined
  has(id: Buffer): boolean
}
