/**
 * Which surface is next on the read lanes. Classes share these lanes, so the order of arrival alone would let
 * a flood of one class on one surface delay another class of another surface: the surface that was served
 * least recently comes first. Front-end thread only.
 */
import type { Ticket } from './ticket.js'

export class SurfaceTurns {
  /** Number of the last batch with a request of the surface, by its index. */
  readonly #servedAt: number[] = []
  #batches = 0

  /** @param surfaces number of surfaces that clients can reach; a single one has no turns */
  constructor(readonly surfaces: number) {}

  /** Lower: the surface was served less recently. */
  readonly rankOf = (surface: number): number => (this.surfaces > 1 ? (this.#servedAt[surface] ?? 0) : 0)

  served(batch: readonly Ticket[]): void {
    if (this.surfaces <= 1) return
    this.#batches += 1
    for (const { surface } of batch) this.#servedAt[surface.index] = this.#batches
  }
}
