/**
 * Divides a bounded number of units (entries of a queue, slots, open answers in parts) among the surfaces. A
 * share is reserved for each surface while it does not use it, so that every surface gets a unit whatever the
 * others do. All other units go to whoever comes first. Front-end thread only.
 */
import { OWN, type Surface } from '../surface.js'

/**
 * Of the places of a queue, of the slots and of the answers in parts, each surface has one in this number
 * reserved, so that a flood on another surface leaves capacity for it: an eighth with up to four surfaces.
 */
const SURFACE_SHARES_MIN = 8
/**
 * With more surfaces, each has one in this number times the surfaces: all that is reserved is at most half,
 * and one surface alone can use the other half and its own share.
 */
const SURFACE_SHARES_KEPT = 2

/**
 * Returns the number of units that are reserved for each of the surfaces; 0 for a single one, and where there
 * are fewer units than surfaces.
 */
export function shareOf(capacity: number, surfaces: number): number {
  if (surfaces <= 1 || capacity < surfaces) return 0
  return Math.max(1, Math.floor(capacity / Math.max(SURFACE_SHARES_MIN, SURFACE_SHARES_KEPT * surfaces)))
}

export class Shares {
  readonly #share: number
  /** Units in use, by index of the surface. */
  readonly #usedBy: number[] = []
  #used = 0
  /** Reserved units that their surfaces do not use. */
  #reserved: number

  /** @param surfaces number of surfaces that clients can reach */
  constructor(
    readonly capacity: number,
    surfaces: number,
  ) {
    this.#share = shareOf(capacity, surfaces)
    this.#reserved = this.#share * surfaces
  }

  get used(): number {
    return this.#used
  }

  /** Whether the surface must not take a further unit. */
  isFullFor({ index }: Surface): boolean {
    return this.#used + this.#reserved - this.#ownReserve(index) >= this.capacity
  }

  /** Takes a unit. Callers that must not be refused skip `isFullFor`, and may exceed the capacity. */
  take({ index }: Surface): void {
    if (this.#ownReserve(index) > 0) this.#reserved -= 1
    this.#usedBy[index] = (this.#usedBy[index] ?? 0) + 1
    this.#used += 1
  }

  give({ index }: Surface): void {
    this.#usedBy[index] = (this.#usedBy[index] ?? 0) - 1
    this.#used -= 1
    if (this.#ownReserve(index) > 0) this.#reserved += 1
  }

  /** Reserved units that the surface has left. The server's own requests have none: they are repeated. */
  #ownReserve(index: number): number {
    return index === OWN.index ? 0 : Math.max(0, this.#share - (this.#usedBy[index] ?? 0))
  }
}
