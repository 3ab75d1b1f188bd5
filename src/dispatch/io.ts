/**
 * What an operation does on the front end between its lane and its answer: wait for a turn, keep work for
 * later, ask the network. No lane awaits any of that. The lane has checked and prepared; its message says
 * what is to be done. Front-end thread only.
 */
import { refusal } from './answers.js'
import { log } from '../telemetry/log.js'
import type { OutgoingAnswer } from '../wire/answer.js'

export interface IoTools {
  /**
   * Has the write lane commit a prepared command. @returns its answer, or null where nothing was written
   * because nobody waits for the answer any more
   */
  readonly commit: (command: Uint8Array) => Promise<OutgoingAnswer | null>
}

/** @param message as the lane's `io` handler made it. A rejection is answered `internal`. */
export type Io<Message = unknown> = (message: Message, tools: IoTools) => Promise<OutgoingAnswer>

/** Never rejects. @param io of the operation */
export async function answerOfIo(io: Io | undefined, message: unknown, tools: IoTools): Promise<OutgoingAnswer> {
  try {
    if (io === undefined) throw new Error('the operation has nothing to do on the front end')
    return await io(message, tools)
  } catch (error) {
    log.error('io', { fault: error })
    return refusal('internal')
  }
}
