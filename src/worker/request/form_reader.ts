/**
 * The lane's half of a surface: reads inputs in its form, and finishes bodies. src/lane.ts hands one for each
 * form to the lane. Lane threads only.
 */
import type { StopWord } from '../../engine/types.js'
import type { AnyOperation } from '../../operations/operation.js'
import type { Answer } from '../../wire/answer.js'
import type { LaneRequest } from '../../wire/request_codec.js'
import type { Input } from './input.js'

export interface FormReader {
  /** Not validated yet. @throws ServiceError 400, or 503 where nobody waits any more */
  read(operation: AnyOperation, request: LaneRequest, stop: StopWord | undefined): Input
  /** The compressed body; null: it is sent as it is. */
  compress(answer: Answer, body: Uint8Array): Uint8Array | null
}
