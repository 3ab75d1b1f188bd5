/**
 * Gets that this thread answers itself, at once, by the same native read as the event loops of HTTP. All
 * others are for a lane.
 */
import type { Principal } from '../../access/principal.js'
import type { Admission } from '../../dispatch/admission.js'
import type { LoopReads } from '../../dispatch/loop_reads.js'
import type { Surface } from '../../dispatch/surface.js'
import { get } from '../../operations/documents.js'
import type { Input } from './request_input.js'

const NO_SINK = { answer: (): void => undefined }

export class ResidentGet {
  constructor(
    readonly admission: Admission,
    readonly reads: LoopReads,
    readonly surface: Surface,
  ) {}

  /**
   * @returns the document as JSON, valid until the next read; null: it is not answered here, for whatever
   *   reason
   */
  read(input: Input, principal: Principal): Uint8Array | null {
    const admitted = this.admission.admit(get, this.surface)
    if (typeof admitted === 'string') return null
    const body = Buffer.from(JSON.stringify(input))
    const answer = this.reads.answer({
      admitted,
      input: { form: 'json', head: '', params: [], body, mayCompress: false },
      principal,
      receivedAt: 0,
      sink: NO_SINK,
    })
    if (answer === null || answer.code !== null) return null
    return typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body
  }
}
