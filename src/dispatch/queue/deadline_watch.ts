/**
 * Looks for requests whose deadline has passed, or that have waited too long for a lane, while there are
 * requests: a server without any sleeps. Front-end thread only.
 */
import type { Telemetry } from '../../telemetry/registry.js'
import type { Ticket } from '../ticket.js'
import type { SlotTable } from './slot_table.js'

/** Interval at which deadlines are checked. An answer is sent at most this much after its deadline. */
const DEADLINE_SWEEP_MS = 50

interface DeadlineActions {
  readonly refuse: (ticket: Ticket, code: 'deadline' | 'outcomeUnknown' | 'overloaded') => void
  /** Called after each look, also after the last one, when no request is left. */
  readonly looked: () => void
}

export class DeadlineWatch {
  #timer: NodeJS.Timeout | undefined

  constructor(
    readonly slots: SlotTable,
    readonly searchQueueMsMax: number,
    readonly telemetry: Telemetry,
    readonly actions: DeadlineActions,
  ) {}

  /** Called with each request. */
  begin(): void {
    this.#timer ??= setInterval(() => this.#look(), DEADLINE_SWEEP_MS)
  }

  /** Until the next request. */
  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    if (this.slots.used === 0) this.end()
    const now = performance.now()
    this.slots.forEach((ticket) => {
      if (ticket.sink === null) return
      if (now >= ticket.deadlineAt) {
        this.telemetry.add('late_requests', 1)
        this.actions.refuse(ticket, ticket.batch !== 0 && ticket.queue === 'commit' ? 'outcomeUnknown' : 'deadline')
      } else if (ticket.queue === 'search' && ticket.batch === 0 && now - ticket.queuedAt >= this.searchQueueMsMax) {
        this.telemetry.add('refused_busy', 1)
        this.actions.refuse(ticket, 'overloaded')
      }
    })
    this.actions.looked()
  }
}
