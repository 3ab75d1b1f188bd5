/**
 * The work that an operation does on the front end between its lane and its answer: waiting for a turn,
 * deferring work, network requests. No lane waits for any of it. The lane has checked and prepared the
 * request; its message describes the work. Front-end thread only.
 */
import type { Principal } from '../access/principal.js'
import { ServiceError } from '../errors.js'
import { log } from '../telemetry/log.js'
import type { OutgoingAnswer } from '../wire/answer.js'
import { refusal, refusalWith } from './answers/answers.js'
import type { Surface } from './surface.js'

export interface IoTools {
  /** Who has requested the operation. */
  readonly principal: Principal
  /** Returns the address of the client, empty if it is not known. Null: no client waits any more. */
  readonly clientAddress: () => string | null
  /** The audit event has this name as its actor: a login says whom it tried. */
  readonly noteAttemptedName: (name: string) => void
  /** The surface through which it came. */
  readonly surface: Surface
  /**
   * Commits a prepared command on the write lane.
   * @returns its answer, or null if nothing was written because no client waits for the answer any more
   */
  readonly commit: (command: Uint8Array) => Promise<OutgoingAnswer | null>
}

/**
 * @param message as the lane's `io` handler made it. A rejection that is not a `ServiceError` is answered
 * `internal`.
 */
export type Io<Message = unknown> = (message: Message, tools: IoTools) => Promise<OutgoingAnswer>

/** Never rejects. @param io the handler of the operation */
export async function answerOfIo(io: Io | undefined, message: unknown, tools: IoTools): Promise<OutgoingAnswer> {
  try {
    if (io === undefined) throw new Error('the operation has nothing to do on the front end')
    return await io(message, tools)
  } catch (error) {
    if (error instanceof ServiceError) return refusalWith(error.code, error.message)
    log.error('io', { fault: error })
    return refusal('internal')
  }
}
