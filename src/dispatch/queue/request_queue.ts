/**
 * A bounded queue of tickets. It is first in, first out for each surface and round-robin over the surfaces,
 * so that a flood on one does not delay another. Each surface may fill the queue except for the shares that
 * are reserved for the others. Tickets that were answered or abandoned while queued stay in the queue until
 * they reach the head, where the dispatcher drops them. Until then they count against the bound. That is at
 * most one drain away. Front-end thread only.
 */
import type { Surface } from '../surface.js'
import type { Ticket } from '../ticket.js'
import { Shares } from './shares.js'

export class RequestQueue {
  readonly #lines: (Line | undefined)[] = []
  readonly #shares: Shares
  /** Index of the line whose turn it is. */
  #turn = 0

  /** @param surfaces number of surfaces that clients can reach */
  constructor(
    readonly capacity: number,
    surfaces = 1,
  ) {
    this.#shares = new Shares(capacity, surfaces)
  }

  get length(): number {
    return this.#shares.used
  }

  /** Whether a request of the surface must be refused. */
  isFullFor(surface: Surface): boolean {
    return this.#shares.isFullFor(surface)
  }

  push(ticket: Ticket): void {
    const { index } = ticket.surface
    const line = (this.#lines[index] ??= new Line())
    line.push(ticket)
    this.#shares.take(ticket.surface)
  }

  /**
   * Gives the turn to the line with the lowest rank among those that wait. Lines of the same rank keep their
   * order.
   */
  prefer(rankOf: (surface: number) => number): void {
    let least = Infinity
    let best = this.#turn
    for (let step = 0; step < this.#lines.length; step++) {
      const index = (this.#turn + step) % this.#lines.length
      if ((this.#lines[index]?.length ?? 0) === 0 || rankOf(index) >= least) continue
      least = rankOf(index)
      best = index
    }
    this.#turn = best
  }

  peek(): Ticket | undefined {
    if (this.length === 0) return undefined
    while ((this.#lines[this.#turn]?.length ?? 0) === 0) this.#turn = (this.#turn + 1) % this.#lines.length
    return this.#lines[this.#turn]?.peek()
  }

  /** Removes and returns the ticket that `peek` returned. */
  shift(): Ticket | undefined {
    if (this.peek() === undefined) return undefined
    const ticket = this.#lines[this.#turn]?.shift()
    if (ticket !== undefined) this.#shares.give(ticket.surface)
    this.#turn = (this.#turn + 1) % this.#lines.length
    return ticket
  }
}

/** The tickets of one surface, in order. */
class Line {
  #items: (Ticket | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  push(ticket: Ticket): void {
    this.#items.push(ticket)
  }

  peek(): Ticket | undefined {
    return this.#items[this.#head]
  }

  shift(): Ticket | undefined {
    const ticket = this.#items[this.#head]
    this.#items[this.#head] = undefined
    this.#head += 1
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    } else if (this.#head >= 256 && this.#head * 2 >= this.#items.length) {
      // At least half of the array is consumed: copying costs each ticket at most one copy on average.
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return ticket
  }
}
