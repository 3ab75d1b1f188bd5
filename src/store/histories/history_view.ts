/** The tracking of documents in a view. Valid as long as the view. */
import type { Environment } from '../environment.js'
import type { EventType, History } from './history.js'
import { hottest, minutesOf, readHistory } from './history_tables.js'

export class HistoryView {
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Undefined if nothing of the document was tracked. */
  of(collection: number, docid: number): History | undefined {
    return readHistory(this.#environment, collection, docid)
  }

  /** Docids of a collection, most read first; at most `count`. */
  hottest(collection: number, count: number): Generator<number> {
    return hottest(this.#environment, collection, count)
  }

  /** Minutes with events, ascending. @param begin, end unix minutes, `end` exclusive */
  minutes(collection: number, type: EventType, begin: number, end: number): Generator<readonly [minute: number, count: number]> {
    return minutesOf(this.#environment, collection, type, begin, end)
  }
}
