/**
 * The findings of a comparison of the store with itself: the number of each kind, and the first ones by name.
 */

/** Findings of a scrub that are listed one by one. Further ones are only counted. */
const FINDINGS_LISTED_MAX = 1000

export const FINDING_KINDS = [
  /** The checksum over key and value, or that of the record, is wrong. */
  'row_damaged',
  /** The row is found in a walk through its table but not by its key: a branch page is wrong. */
  'row_unreachable',
  /** LMDB can't walk the table, or finds another number of rows than it has recorded. */
  'pages_damaged',
  'head_without_identity',
  'identity_without_head',
  'body_missing',
  'body_count_wrong',
  /** The content is not the one whose hash the head has. */
  'content_differs',
  'counters_differ',
  /** Documents under the id of a collection without a name. */
  'collection_missing',
] as const
type FindingKind = (typeof FINDING_KINDS)[number]

export interface Finding {
  readonly kind: FindingKind
  /** The row; identified by numbers if its collection is sealed. */
  readonly subject: string
  readonly detail: string
}

export class Findings {
  readonly #counts = new Map<FindingKind, number>()
  readonly #listed = new Map<string, Finding>()

  add(kind: FindingKind, subject: string, detail: string): void {
    const id = `${kind} ${subject}`
    if (this.#listed.has(id)) return
    this.#counts.set(kind, this.countOf(kind) + 1)
    if (this.#listed.size < FINDINGS_LISTED_MAX) this.#listed.set(id, { kind, subject, detail })
  }

  countOf(kind: FindingKind): number {
    return this.#counts.get(kind) ?? 0
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** The first findings. */
  get listed(): readonly Finding[] {
    return [...this.#listed.values()]
  }

  /** `2 row_damaged, 1 body_missing`. */
  get summary(): string {
    return FINDING_KINDS.filter((kind) => this.countOf(kind) > 0)
      .map((kind) => `${this.countOf(kind)} ${kind}`)
      .join(', ')
  }
}
