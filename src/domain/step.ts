/** The steps of a decision: entries, each with its body and its changes to the engines. */
import type { VectorChange } from '../engine/vectors/vector_types.js'
import type { Entry } from '../store/entries/entry.js'
import type { PresentState } from '../store/entries/entry_kind.js'

export interface Step {
  readonly entry: Entry
  /** Body record of the entry. */
  readonly body: Buffer | undefined
  /** The index operation. Undefined if the entry does not affect the index. */
  readonly indexOp: Uint8Array | undefined
  /** What has been read of the document that the entry changes. Absent: it is read again. */
  readonly present?: PresentState
  /** The change to the vector engine. */
  readonly vectorOp?: VectorChange
}
