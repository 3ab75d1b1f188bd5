/** The core on the thread of the dispatcher. */
import type { AskedIdentity, Identity } from '../access/principal.js'
import type { ErrorCode } from '../errors.js'
import type { Admission } from './admission.js'
import type { Core } from './core.js'
import type { Dispatcher } from './dispatcher.js'
import type { Identities } from './identities.js'
import type { LoopReads } from './loop_reads.js'
import type { ThreadTicket } from './thread_operations.js'
import type { DispatchRequest, Ticket } from './ticket.js'

export class LocalCore implements Core {
  readonly admission: Admission

  constructor(
    readonly dispatcher: Dispatcher,
    readonly identities: Identities,
    readonly reads: LoopReads,
  ) {
    this.admission = dispatcher.admission
    dispatcher.served.add(reads)
  }

  submit(request: DispatchRequest): Ticket | ThreadTicket | null {
    const read = this.reads.answer(request)
    if (read === null) return this.dispatcher.submit(request)
    request.sink.answer(read)
    return null
  }

  abandon(handle: Ticket | ThreadTicket): void {
    this.dispatcher.abandon(handle)
  }

  identify(asked: AskedIdentity): Promise<Identity | null | ErrorCode> {
    return this.identities.identify(asked)
  }
}
