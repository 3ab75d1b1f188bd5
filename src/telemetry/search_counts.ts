/**
 * Counts the searches of each collection by query, in memory that all threads share. Each thread writes only
 * to a region of its own, so no search waits for another thread; whoever wants the counts reads all regions.
 * A region has a bounded number of collections, and of queries per collection. A query that is not among them
 * takes the place of the one with the fewest counts and continues that count (Metwally, Agrawal, El Abbadi,
 * "Efficient Computation of Frequent and Top-k Elements in Data Streams", ICDT 2005): a query that makes up
 * more than 1/COUNTED_QUERIES_MAX of the searches of a thread is always counted, `surplus` too high at most.
 *
 * An entry begins with a version that is odd while its thread changes the entry. A reader takes the version
 * before and after its copy, both by an atomic read-modify-write, which no load may pass, and repeats the
 * copy if they differ or are odd. Without it, a reader could see the text of one query with the counts of
 * another one. If a thread dies inside a change, its entry stays odd and is left out until the thread that
 * takes over the row replaces it.
 */
import { THREADS_MAX } from '../limits/lanes.js'
import { COUNTED_TEXT_BYTES } from '../limits/search.js'

/**
 * Collections that one thread has statistics of. Beyond it, those of the collection that was searched least
 * recently are dropped.
 */
export const COUNTED_COLLECTIONS_MAX = 32
/**
 * Queries that one thread counts per collection. With their texts (COUNTED_TEXT_BYTES), a thread takes at
 * most 32 * 64 * 200 B = 410 KB, of memory that is not resident before it is used.
 */
export const COUNTED_QUERIES_MAX = 64
/** Characters of a query that are compared with those counted before. */
const COUNTED_TEXT_CHARS_MAX = 512
/** Attempts to read a count that its thread is changing. One change takes less than a microsecond. */
const COUNT_READ_ATTEMPTS = 8

/** One search that was answered. */
interface CountedSearch {
  readonly text: string
  readonly ms: number
  /** It found nothing, and no filter of the request can be the reason. */
  readonly isEmpty: boolean
}

interface QueryCounts {
  /** Lower case, single spaces; cut after COUNTED_TEXT_BYTES. */
  readonly query: string
  readonly count: number
  /** The number by which `count` may be too high. */
  readonly surplus: number
  /** Searches that found nothing. */
  readonly empty: number
  readonly meanMs: number
  readonly slowestMs: number
}

// Words of an entry. Durations are in units of 10 us: a sum of six hours fits.
const VERSION = 0
const COUNT = 1
const SURPLUS = 2
const EMPTY = 3
const SUM = 4
const SLOWEST = 5
const TEXT_BYTES = 6
const HEAD_WORDS = 8
const UNITS_PER_MS = 100
const WORD_MAX = 2 ** 31 - 1

const ENTRY_BYTES = HEAD_WORDS * 4 + COUNTED_TEXT_BYTES
const HASH_BYTES = Float64Array.BYTES_PER_ELEMENT
// Of a collection: its id plus one, Unix seconds of its last search; the hashes, then the entries.
const GROUP_BYTES = 8 + COUNTED_QUERIES_MAX * (HASH_BYTES + ENTRY_BYTES)
const REGION_BYTES = COUNTED_COLLECTIONS_MAX * GROUP_BYTES

/** Satisfies `SearchCounter` of domain/search/search_stats.ts. */
export class SearchCounts {
  readonly #words: Int32Array
  readonly #bytes: Buffer
  readonly #hashes: Float64Array
  readonly #regions: number
  /** First byte of this thread's region. */
  readonly #begin: number
  #lastCollection = -1
  #lastGroup = 0

  /**
   * Clears the region, because ids of collections belong to one generation of the store.
   * @param row of this thread
   */
  constructor(
    readonly buffer: SharedArrayBuffer,
    row: number,
  ) {
    this.#words = new Int32Array(buffer)
    this.#bytes = Buffer.from(buffer)
    this.#hashes = new Float64Array(buffer)
    this.#regions = buffer.byteLength / REGION_BYTES
    this.#begin = row * REGION_BYTES
    for (let group = 0; group < COUNTED_COLLECTIONS_MAX; group++) this.#drop(this.#begin + group * GROUP_BYTES)
  }

  static create(threads = THREADS_MAX): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * REGION_BYTES)
  }

  /** @param collection id of the collection that was searched */
  record(collection: number, { text, ms, isEmpty }: CountedSearch): void {
    const query = normalized(text)
    if (query === '') return
    const group = this.#groupFor(collection)
    const hash = hashOf(query)
    const hashes = (group + 8) / HASH_BYTES
    let at = 0
    while (at < COUNTED_QUERIES_MAX && this.#hashes[hashes + at] !== hash) at++
    const isNew = at === COUNTED_QUERIES_MAX
    if (isNew) at = this.#rarest(group)
    const entry = entryAt(group, at) / 4
    const words = this.#words
    const units = Math.min(Math.round(ms * UNITS_PER_MS), WORD_MAX)
    Atomics.store(words, entry + VERSION, (words[entry + VERSION] as number) | 1)
    if (isNew) this.#begins(entry, hashes + at, hash, query)
    words[entry + COUNT] = Math.min((words[entry + COUNT] as number) + 1, WORD_MAX)
    if (isEmpty) words[entry + EMPTY] = Math.min((words[entry + EMPTY] as number) + 1, WORD_MAX)
    words[entry + SUM] = Math.min((words[entry + SUM] as number) + units, WORD_MAX)
    words[entry + SLOWEST] = Math.max(words[entry + SLOWEST] as number, units)
    Atomics.store(words, entry + VERSION, ((words[entry + VERSION] as number) + 1) | 0)
  }

  /** Of all threads together, the most frequent query first. */
  read(collection: number): QueryCounts[] {
    const found = new Map<string, QueryCounts>()
    for (let region = 0; region < this.#regions; region++) {
      for (let group = region * REGION_BYTES; group < (region + 1) * REGION_BYTES; group += GROUP_BYTES) {
        if (Atomics.load(this.#words, group / 4) !== collection + 1) continue
        for (let i = 0; i < COUNTED_QUERIES_MAX; i++) {
          const counts = this.#entryAt(entryAt(group, i))
          if (counts !== undefined) found.set(counts.query, sumOf(found.get(counts.query), counts))
        }
      }
    }
    return [...found.values()].sort((one, other) => other.count - one.count || (one.query < other.query ? -1 : 1))
  }

  /** A query takes the place of another one, and its count. */
  #begins(entry: number, hashAt: number, hash: number, query: string): void {
    const words = this.#words
    this.#hashes[hashAt] = hash
    words[entry + SURPLUS] = words[entry + COUNT] as number
    for (const word of [EMPTY, SUM, SLOWEST]) words[entry + word] = 0
    // Only whole characters are written.
    words[entry + TEXT_BYTES] = this.#bytes.write(query, (entry + HEAD_WORDS) * 4, COUNTED_TEXT_BYTES, 'utf8')
  }

  /** @returns the first byte of the collection's group in this thread's region */
  #groupFor(collection: number): number {
    const now = Math.floor(Date.now() / 1000)
    let group = this.#lastGroup
    if (this.#lastCollection !== collection) {
      group = this.#find(collection)
      this.#lastCollection = collection
      this.#lastGroup = group
    }
    this.#words[group / 4 + 1] = now
    return group
  }

  #find(collection: number): number {
    let oldest = this.#begin
    for (let group = this.#begin; group < this.#begin + REGION_BYTES; group += GROUP_BYTES) {
      if (this.#words[group / 4] === collection + 1) return group
      if ((this.#words[group / 4 + 1] as number) < (this.#words[oldest / 4 + 1] as number)) oldest = group
    }
    this.#clear(oldest, collection + 1)
    return oldest
  }

  /** Touches no memory that was never used. */
  #drop(group: number): void {
    if (this.#words[group / 4] !== 0) this.#clear(group, 0)
  }

  #clear(group: number, owner: number): void {
    const words = this.#words
    Atomics.store(words, group / 4, 0)
    words[group / 4 + 1] = 0
    const hashes = (group + 8) / HASH_BYTES
    this.#hashes.fill(0, hashes, hashes + COUNTED_QUERIES_MAX)
    for (let i = 0; i < COUNTED_QUERIES_MAX; i++) {
      const entry = entryAt(group, i) / 4
      if (words[entry + COUNT] === 0) continue
      Atomics.store(words, entry + VERSION, (words[entry + VERSION] as number) | 1)
      words.fill(0, entry + COUNT, entry + ENTRY_BYTES / 4)
      Atomics.store(words, entry + VERSION, ((words[entry + VERSION] as number) + 1) | 0)
    }
    Atomics.store(words, group / 4, owner)
  }

  #rarest(group: number): number {
    let rarest = 0
    let least = Infinity
    let word = entryAt(group, 0) / 4 + COUNT
    for (let i = 0; i < COUNTED_QUERIES_MAX; i++, word += ENTRY_BYTES / 4) {
      const count = this.#words[word] as number
      if (count < least) {
        least = count
        rarest = i
      }
      if (count === 0) break
    }
    return rarest
  }

  /** Undefined: there is none, or its thread changes it over and over. */
  #entryAt(byte: number): QueryCounts | undefined {
    const words = this.#words
    const entry = byte / 4
    for (let attempt = 0; attempt < COUNT_READ_ATTEMPTS; attempt++) {
      const before = Atomics.add(words, entry + VERSION, 0)
      const [count = 0, surplus = 0, empty = 0, sum = 0, slowest = 0, length = 0] = words.slice(entry + COUNT, entry + HEAD_WORDS)
      const query = this.#bytes.toString('utf8', byte + HEAD_WORDS * 4, byte + HEAD_WORDS * 4 + length)
      const after = Atomics.add(words, entry + VERSION, 0)
      if (before !== after || (before & 1) === 1) continue
      if (count === 0) return undefined
      const meanMs = sum / Math.max(1, count - surplus) / UNITS_PER_MS
      return { query, count, surplus, empty, meanMs, slowestMs: slowest / UNITS_PER_MS }
    }
    return undefined
  }
}

function entryAt(group: number, at: number): number {
  return group + 8 + COUNTED_QUERIES_MAX * HASH_BYTES + at * ENTRY_BYTES
}

function sumOf(one: QueryCounts | undefined, other: QueryCounts): QueryCounts {
  if (one === undefined) return other
  const certain = (counts: QueryCounts): number => counts.count - counts.surplus
  const timed = certain(one) + certain(other)
  return {
    query: one.query,
    count: one.count + other.count,
    surplus: one.surplus + other.surplus,
    empty: one.empty + other.empty,
    meanMs: (one.meanMs * certain(one) + other.meanMs * certain(other)) / Math.max(1, timed),
    slowestMs: Math.max(one.slowestMs, other.slowestMs),
  }
}

function normalized(text: string): string {
  return text.slice(0, COUNTED_TEXT_CHARS_MAX).trim().replaceAll(/\s+/g, ' ').toLowerCase()
}

/** 52 bits by two FNV-1a sums with different seeds; never 0, which is a free place. */
function hashOf(text: string): number {
  let low = 0x811c9dc5
  let high = 0x01000193
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ unit, 0x85ebca6b)
  }
  return (high >>> 12) * 2 ** 32 + (low >>> 0) + 1
}
