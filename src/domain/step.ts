/** What a decision is made of: entries, each with what it brings and what the engines have to do for it. */
import type { VectorChange } from '../engine/vector_types.js'
import type { Entry } from '../store/entries/entry.js'

export interface Step {
  readonly entry: Entry
  /** Body record that the entry brings. */
  readonly body: Buffer | undefined
  /** What the index has to do; undefined where the entry does not concern it. */
  readonly indexOp: Uint8Array | undefined
  /** What the vector engine has to do. */
  readonly vectorOp?: VectorChange
}
