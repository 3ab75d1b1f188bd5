/**
 * The fields that one query searches: those that its algorithm scores, and those that the query names
 * (`title:rust`). One per query. Pure.
 */
import { badRequest } from '../../errors.js'
import { META_KEY_BYTES_MAX } from '../../limits/documents.js'
import { FIELD_WEIGHTS_MAX } from '../../limits/search.js'
import { fieldName, type Scoring, usualWeight } from './scoring.js'

export class FieldTable {
  readonly #scoring: Scoring
  readonly #fields: (readonly [name: string, weight: number])[]

  constructor(scoring: Scoring) {
    this.#scoring = scoring
    this.#fields = [...scoring.fields]
  }

  /** Fields of the plan, the scored ones first. */
  get fields(): Scoring['fields'] {
    return this.#fields
  }

  /**
   * Indexes of the fields in which words without a field name are searched. Undefined as long as these are
   * all fields.
   */
  get usual(): readonly number[] | undefined {
    return this.#fields.length === this.#scoring.fields.length ? undefined : this.#scoring.fields.map((_, index) => index)
  }

  /** @param name as the query has it: `content`, `meta.title` or `title` */
  indexOf(name: string): number {
    const field = fieldName(name)
    const known = this.#fields.findIndex(([each]) => each === field)
    if (known >= 0) return known
    if (this.#fields.length === FIELD_WEIGHTS_MAX)
      throw badRequest(`query names too many fields: more than ${FIELD_WEIGHTS_MAX} with those that are scored`)
    if (Buffer.byteLength(field) > META_KEY_BYTES_MAX) throw badRequest(`query names a field of more than ${META_KEY_BYTES_MAX} bytes`)
    return this.#fields.push([field, usualWeight(this.#scoring.algorithm, field)]) - 1
  }
}
