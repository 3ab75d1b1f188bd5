/**
 * Reads that an event loop answers itself, as the core sees them (src/resident), and the generation of the
 * store that all event loops read. A generation that is replaced must be closed on every loop before the
 * lanes close it. Front-end thread only, apart from the interface.
 */
import type { OutgoingAnswer } from '../wire/answer.js'
import type { DispatchRequest } from './ticket.js'

/** Something that reads a generation of the store on an event loop. */
export interface StoreReader {
  /**
   * Reads the named generation from now on, or none. Resolves when nothing of another one is open.
   */
  serve(generation: string | null): Promise<void>
}

export interface LoopReads extends StoreReader {
  /** @returns the answer, valid until the next call; null: the request is for a lane */
  answer(request: DispatchRequest): OutgoingAnswer | null
}

export class ServedStore implements StoreReader {
  readonly #readers = new Set<StoreReader>()
  #generation: string | null = null

  /** Null: no loop may read now. */
  get generation(): string | null {
    return this.#generation
  }

  add(reader: StoreReader): void {
    this.#readers.add(reader)
  }

  /** Never rejects: a loop that cannot read leaves its requests to the lanes. */
  async serve(generation: string | null): Promise<void> {
    this.#generation = generation
    await Promise.all([...this.#readers].map((reader) => reader.serve(generation)))
  }
}
