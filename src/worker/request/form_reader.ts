/**
 * The lane's half of a surface: reads inputs in the surface's form, and compresses bodies.
 * src/programs/lane.ts passes one per form to the lane. Lane threads only.
 */
import type { StopWord } from '../../engine/types.js'
import type { AnyOperation } from '../../operations/row/operation.js'
import type { Answer } from '../../wire/answer.js'
import type { LaneRequest } from '../../wire/request_codec.js'
import type { Input } from './input.js'

export interface FormReader {
  /**
   * The input is not validated yet. @throws ServiceError 400, or 503 if nobody waits for the answer any more
   */
  read(operation: AnyOperation, request: LaneRequest, stop: StopWord | undefined): Input
  /** The compressed body; null if it is sent as it is. */
  compress(answer: Answer, body: Uint8Array): Uint8Array | null
}
