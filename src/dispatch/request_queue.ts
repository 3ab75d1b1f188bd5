/**
 * A first-in-first-out queue of tickets with a bound. Tickets that were answered or abandoned while they waited stay in place until they reach the head, where the
 * dispatcher drops them; they count against the bound until then, which is at most one drain away. Front-end thread only.
 */
import type { Ticket } from './ticket.js'

export class RequestQueue {
  #items: (Ticket | undefined)[] = []
  #head = 0

  constructor(readonly capacity: number) {}

  get length(): number {
    return this.#items.length - this.#head
  }

  get isFull(): boolean {
    return this.length >= this.capacity
  }

  push(ticket: Ticket): void {
    this.#items.push(ticket)
  }

  peek(): Ticket | undefined {
    return this.#items[this.#head]
  }

  shift(): Ticket | undefined {
    if (this.#head === this.#items.length) return undefined
    const ticket = this.#items[this.#head]
    this.#items[this.#head] = undefined
    this.#head += 1
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    } else if (this.#head >= 256 && this.#head * 2 >= this.#items.length) {
      // Half of the array is spent: moving the rest costs each ticket at most one copy on average.
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return ticket
  }
}
