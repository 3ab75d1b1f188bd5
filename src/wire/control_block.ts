/**
 * The words that the front end and the lanes share: the phase of the server and one stop word per request
 * slot.
 *
 * Ownership: the phase is written by the front end only. A stop word is written by the front end only (0 when
 * a request takes the slot, 1 when its client has gone or its deadline has passed). It is read by the lane
 * that runs the request, and by the native engine, which receives the word's byte offset. A slot is not
 * assigned to another request before the lane has sent its frame, so a 1 never reaches another request. All
 * are single words, read and written atomically: no order between words is needed.
 */
import { SLOTS_MAX } from '../limits/lanes.js'
import { type Role, ROLES } from '../role.js'

/**
 * The order matters: the number in the shared word is the index. A shutdown is `leaving` first, if it has
 * time for load balancers: not ready, but serving. Then it is `draining`: further requests are refused.
 */
const PHASES = ['warming_up', 'healthy', 'unhealthy', 'draining', 'leaving'] as const
export type Phase = (typeof PHASES)[number]

const PHASE_WORD = 0
// Incremented by read lanes, one share of the index rebuild each.
const REBUILD_WORD = 1
// Written by the write lane, read by every lane that searches.
const STALE_WORD = 2
// Written by the write lane, monitored by the front end.
const COMMIT_WORD = 3
// Written by the write lane before it announces the store, so before any read lane reads it.
const REBUILD_WANTED_WORD = 4
// Incremented by read lanes, once per finished share.
const REBUILT_WORD = 5
// Written once by the write lane, which wakes the others.
const STORE_OPEN_WORD = 6
// Incremented by the write lane after each publication, before any of its commands is answered.
const PUBLISHED_WORD = 7
// Written by the write lane after each group that changed it.
const EMBEDDING_DEPTH_WORD = 8
// Written by the write lane, read by every lane that searches.
const VECTORS_LOADING_WORD = 9
// Written by the write lane. The front end checks it to refuse writes before they are read.
const DISK_FULL_WORD = 10
// Written by the write lane after each slice of a comparison of the store with itself.
const FINDINGS_WORD = 11
// Written by the write lane when it opens the index, and when another generation is adopted.
const WRITES_LOST_WORD = 12
// Written by the front end, read by every chore that writes unasked.
const ROLE_WORD = 13
// Incremented by the write lane after a change of rights, before it is acknowledged; and by the front end
// when another store is served.
const ACCESS_WORD = 14
// Written by the front end, by bits: what is refused before it is read, whether the change feed has clients.
const BITS_WORD = 15
// Writes: a strict audit log cannot keep their events.
const AUDIT_BIT = 1
// Logins: as many wait for a hash as may.
const LOGINS_BIT = 2
// No refusal: commits are to be reported to the change feed.
const FEED_BIT = 4
// One cache line of words before the slots: the phase is read by every request, the slots are written by
// every request.
const FIRST_SLOT_WORD = 16

export class ControlBlock {
  readonly words: Int32Array

  constructor(readonly buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer)
  }

  static create(): ControlBlock {
    return new ControlBlock(new SharedArrayBuffer((FIRST_SLOT_WORD + SLOTS_MAX) * Int32Array.BYTES_PER_ELEMENT))
  }

  get phase(): Phase {
    return PHASES[Atomics.load(this.words, PHASE_WORD)] ?? 'unhealthy'
  }

  set phase(phase: Phase) {
    Atomics.store(this.words, PHASE_WORD, PHASES.indexOf(phase))
  }

  /** Whether a shutdown has begun. */
  get isLeaving(): boolean {
    const { phase } = this
    return phase === 'leaving' || phase === 'draining'
  }

  /** Leader, unless the front end has set another role. */
  get role(): Role {
    return ROLES[Atomics.load(this.words, ROLE_WORD)] ?? 'read_only'
  }

  set role(role: Role) {
    Atomics.store(this.words, ROLE_WORD, ROLES.indexOf(role))
  }

  /** Returns the next share of the index rebuild at start: 0, 1, 2 ... Every caller gets a different one. */
  claimRebuildShare(): number {
    return Atomics.add(this.words, REBUILD_WORD, 1)
  }

  /**
   * Announces that the write lane has opened the store and the index. Its earlier writes (the store of a
   * first start, `rebuildWanted`) are visible to every lane that waited.
   */
  announceStore(): void {
    Atomics.store(this.words, STORE_OPEN_WORD, 1)
    Atomics.notify(this.words, STORE_OPEN_WORD)
  }

  /** Resolves once `announceStore` has been called. */
  async storeAnnounced(): Promise<void> {
    await Atomics.waitAsync(this.words, STORE_OPEN_WORD, 0).value
  }

  /** True when the start found no usable index: the read lanes build it together. */
  get rebuildWanted(): boolean {
    return Atomics.load(this.words, REBUILD_WANTED_WORD) !== 0
  }

  set rebuildWanted(wanted: boolean) {
    Atomics.store(this.words, REBUILD_WANTED_WORD, wanted ? 1 : 0)
  }

  /** @returns number of finished shares, including this one */
  finishRebuildShare(): number {
    return Atomics.add(this.words, REBUILT_WORD, 1) + 1
  }

  get rebuiltShares(): number {
    return Atomics.load(this.words, REBUILT_WORD)
  }

  /** True while the index does not equal the store and is rebuilt: searches must wait. */
  get indexStale(): boolean {
    return Atomics.load(this.words, STALE_WORD) !== 0
  }

  set indexStale(stale: boolean) {
    Atomics.store(this.words, STALE_WORD, stale ? 1 : 0)
  }

  /** Called by the write lane when its commits are searchable, before they are acknowledged. */
  countPublished(): void {
    Atomics.add(this.words, PUBLISHED_WORD, 1)
  }

  /**
   * Number of publications since the start, in 32 bits. An answer that was made at another number may be out
   * of date.
   */
  get published(): number {
    return Atomics.load(this.words, PUBLISHED_WORD)
  }

  /** True while there is no space for work that grows the store. */
  get diskFull(): boolean {
    return Atomics.load(this.words, DISK_FULL_WORD) !== 0
  }

  set diskFull(full: boolean) {
    Atomics.store(this.words, DISK_FULL_WORD, full ? 1 : 0)
  }

  /** True while writes are refused because the audit log could not keep their events. */
  get auditRefuses(): boolean {
    return this.#hasBit(AUDIT_BIT)
  }

  set auditRefuses(refuses: boolean) {
    this.#setBit(AUDIT_BIT, refuses)
  }

  /** Whether logins must be refused: too many wait for a hash. */
  get loginsRefused(): boolean {
    return this.#hasBit(LOGINS_BIT)
  }

  set loginsRefused(refused: boolean) {
    this.#setBit(LOGINS_BIT, refused)
  }

  /** Whether the change feed has clients. */
  get isFeedWatched(): boolean {
    return this.#hasBit(FEED_BIT)
  }

  set isFeedWatched(isWatched: boolean) {
    this.#setBit(FEED_BIT, isWatched)
  }

  #hasBit(bit: number): boolean {
    return (Atomics.load(this.words, BITS_WORD) & bit) !== 0
  }

  #setBit(bit: number, isSet: boolean): void {
    if (isSet) Atomics.or(this.words, BITS_WORD, bit)
    else Atomics.and(this.words, BITS_WORD, ~bit)
  }

  /** Number of findings of the comparison of the store with itself, so far. */
  get findings(): number {
    return Atomics.load(this.words, FINDINGS_WORD)
  }

  set findings(count: number) {
    Atomics.store(this.words, FINDINGS_WORD, count)
  }

  /** True if the index knows of writes that the store had on its disk and has lost. */
  get writesLost(): boolean {
    return Atomics.load(this.words, WRITES_LOST_WORD) !== 0
  }

  set writesLost(lost: boolean) {
    Atomics.store(this.words, WRITES_LOST_WORD, lost ? 1 : 0)
  }

  /** True while the vector engine lacks vectors that the store has: vector searches must wait. */
  get vectorsLoading(): boolean {
    return Atomics.load(this.words, VECTORS_LOADING_WORD) !== 0
  }

  set vectorsLoading(loading: boolean) {
    Atomics.store(this.words, VECTORS_LOADING_WORD, loading ? 1 : 0)
  }

  /** What was found out about principals at another epoch may be wrong. In 32 bits. */
  get accessEpoch(): number {
    return Atomics.load(this.words, ACCESS_WORD)
  }

  raiseAccessEpoch(): void {
    Atomics.add(this.words, ACCESS_WORD, 1)
  }

  /** Number of documents that wait for their vectors, or for the vectors to reach the vector engine. */
  get embeddingDepth(): number {
    return Atomics.load(this.words, EMBEDDING_DEPTH_WORD)
  }

  set embeddingDepth(depth: number) {
    Atomics.store(this.words, EMBEDDING_DEPTH_WORD, depth)
    Atomics.notify(this.words, EMBEDDING_DEPTH_WORD)
  }

  /** Resolves when the depth is not `known`, or was set. Does not keep the process alive. */
  async embeddingDepthSet(known: number): Promise<void> {
    await Atomics.waitAsync(this.words, EMBEDDING_DEPTH_WORD, known).value
  }

  /** Called by the write lane at both ends of a commit. */
  setCommitting(isRunning: boolean): void {
    Atomics.store(this.words, COMMIT_WORD, isRunning ? wrappedMs() || 1 : 0)
  }

  /** Milliseconds since the current commit began; 0 if there is none. */
  get commitAgeMs(): number {
    const began = Atomics.load(this.words, COMMIT_WORD)
    return began === 0 ? 0 : Math.max(0, (wrappedMs() - began) | 0)
  }

  /** Byte offset of a slot's stop word in `words`, which a search plan carries as its poll word. */
  stopByteOffset(slot: number): number {
    return (FIRST_SLOT_WORD + slot) * Int32Array.BYTES_PER_ELEMENT
  }

  isStopped(slot: number): boolean {
    return Atomics.load(this.words, FIRST_SLOT_WORD + slot) !== 0
  }

  setStopped(slot: number, stopped: boolean): void {
    Atomics.store(this.words, FIRST_SLOT_WORD + slot, stopped ? 1 : 0)
  }
}

/** Milliseconds of the clock that all threads share, in 32 bits: differences are valid up to 24 days. */
function wrappedMs(): number {
  return Math.trunc(performance.timeOrigin + performance.now()) | 0
}
