/**
 * Slots for the requests that are queued or in a lane. This bounded table identifies each request by (slot,
 * generation). A frame whose generation is not the slot's present one is late and is dropped. Front-end
 * thread only; the stop words of the slots are shared memory (control_block.ts).
 */
import assert from 'node:assert/strict'
import { SLOTS_MAX } from '../../limits/lanes.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { Ticket } from '../ticket.js'
import { Shares } from './shares.js'

/**
 * Slots reserved for requests for further parts of answers: each lane has at most ANSWER_STREAMS_MAX (16)
 * answers in parts, and only the bulk lane and the long lane make them.
 */
export const SLOTS_FOR_PARTS = 64

export class SlotTable {
  readonly #tickets: (Ticket | null)[] = new Array<Ticket | null>(SLOTS_MAX).fill(null)
  readonly #generations = new Uint32Array(SLOTS_MAX)
  readonly #free = new Uint32Array(SLOTS_MAX)
  #freeCount = SLOTS_MAX
  /** The slots that are not reserved for further parts of answers. */
  readonly #shares: Shares

  /** @param surfaces number of surfaces that clients can reach */
  constructor(
    readonly control: ControlBlock,
    surfaces = 1,
  ) {
    this.#shares = new Shares(SLOTS_MAX - SLOTS_FOR_PARTS, surfaces)
    // Slots are taken from the end of the free list, so low slots are taken first and stay hot in the cache.
    for (let i = 0; i < SLOTS_MAX; i++) this.#free[i] = SLOTS_MAX - 1 - i
  }

  get used(): number {
    return SLOTS_MAX - this.#freeCount
  }

  /**
   * Returns false if every slot is taken, or every slot that the ticket may take: some are reserved for
   * further parts of answers, which must not be lost, and a share for each surface.
   */
  take(ticket: Ticket): boolean {
    const isPart = ticket.stream !== 0
    if (this.#freeCount === 0 || (!isPart && this.#shares.isFullFor(ticket.surface))) return false
    if (!isPart) this.#shares.take(ticket.surface)
    this.#freeCount -= 1
    const slot = this.#free[this.#freeCount]!
    const generation = (this.#generations[slot]! + 1) >>> 0
    this.#generations[slot] = generation
    this.#tickets[slot] = ticket
    ticket.slot = slot
    ticket.generation = generation
    this.control.setStopped(slot, false)
    return true
  }

  /** Returns null if the frame is for a request that has ended. */
  find(slot: number, generation: number): Ticket | null {
    const ticket = this.#tickets[slot] ?? null
    return ticket !== null && ticket.generation === generation ? ticket : null
  }

  release(ticket: Ticket): void {
    assert(this.#tickets[ticket.slot] === ticket, 'a slot is released once, by its own ticket')
    this.#tickets[ticket.slot] = null
    if (ticket.stream === 0) this.#shares.give(ticket.surface)
    this.#free[this.#freeCount] = ticket.slot
    this.#freeCount += 1
  }

  /** Whether a request for the operation has a slot. Scans all taken slots. */
  has(operation: string): boolean {
    let isThere = false
    this.forEach((ticket) => (isThere ||= ticket.operation.name === operation))
    return isThere
  }

  /**
   * By how many ms the lanes are late for the deadlines of the requests that they have; 0 if they are not
   * late. A request that is queued or waits for the network does not count: before the lanes are open, a
   * request may be queued for minutes.
   */
  overdueMs(now: number): number {
    let most = 0
    this.forEach(({ batch, deadlineAt }) => {
      if (batch !== 0) most = Math.max(most, now - deadlineAt)
    })
    return most
  }

  /** Visits every ticket that has a slot. */
  forEach(visit: (ticket: Ticket) => void): void {
    let left = this.used
    for (let slot = 0; slot < SLOTS_MAX && left > 0; slot++) {
      const ticket = this.#tickets[slot]
      if (ticket === null || ticket === undefined) continue
      left -= 1
      visit(ticket)
    }
  }
}
