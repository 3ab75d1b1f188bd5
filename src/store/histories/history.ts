/**
 * The history of a document, in one record of bounded size: its writes, the tracked reads, and the number of
 * reads for the leaderboard. Layout: docs/formats/truth-env.md.
 *
 * Writes: the first and the latest are kept. Reads: groups of a second and a count. If there are too many
 * groups, the older half is joined in pairs, each under its later second. No read is lost, but the time of a
 * read becomes less exact as it gets older. Decision: docs/decisions/documents/histories.md. Pure; written on
 * the write lane.
 */
import { checkRecord, sealRecord } from '../rows/record.js'

/**
 * Writes in the history of one document, 5 B each. With them and groups of reads, a history without names of
 * principals stays within the largest entry of an LMDB page (2 KB); a longer one takes an overflow page.
 */
export const HISTORY_WRITES_MAX = 100
/** Bytes of the names of the principals of its writes. The newest writes keep theirs. */
const HISTORY_ACTORS_BYTES_MAX = 512
/** Groups of reads in the history of one document, 8 B each. */
export const HISTORY_ACCESS_GROUPS_MAX = 150

/** In the order of the codes on disk. */
export const EVENT_TYPES = ['create', 'update', 'access'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** The number of events of the type in that second. */
export interface EventGroup {
  readonly type: EventType
  /** Unix seconds. */
  readonly second: number
  readonly count: number
  /** Of writes: name of the principal. Absent: nobody's, or not known. */
  readonly actor?: string
}

export interface History {
  /** Number of reads that counted for the leaderboard, and the second of the last of them. */
  hotCount: number
  lastHotSecond: number
  /** Ascending. */
  writes: EventGroup[]
  /** Ascending, one per second. */
  accesses: EventGroup[]
}

const PREFIX_BYTES = 24
const WRITE_BYTES = 5
const ACCESS_BYTES = 8

export function emptyHistory(): History {
  return { hotCount: 0, lastHotSecond: 0, writes: [], accesses: [] }
}

export function encodeHistory({ hotCount, lastHotSecond, writes, accesses }: History): Buffer {
  const actors = encodeActors(writes)
  const record = Buffer.alloc(PREFIX_BYTES + writes.length * WRITE_BYTES + accesses.length * ACCESS_BYTES + actors.length)
  record[5] = writes.length
  record[6] = accesses.length
  record.writeDoubleLE(hotCount, 8)
  record.writeDoubleLE(lastHotSecond, 16)
  let at = PREFIX_BYTES
  for (const { second, type } of writes) {
    record.writeUInt32LE(second, at)
    record[at + 4] = EVENT_TYPES.indexOf(type)
    at += WRITE_BYTES
  }
  for (const { second, count } of accesses) {
    record.writeUInt32LE(second, at)
    record.writeUInt32LE(Math.min(count, 0xffff_ffff), at + 4)
    at += ACCESS_BYTES
  }
  actors.copy(record, at)
  sealRecord(record)
  return record
}

/** The distinct names, then for each write the number of its name, or 0; nothing if no write has one. */
function encodeActors(writes: readonly EventGroup[]): Buffer {
  const texts: Buffer[] = []
  const names: string[] = []
  let bytes = 0
  for (const { actor } of writes.toReversed()) {
    if (actor === undefined || names.includes(actor)) continue
    const text = Buffer.from(actor)
    bytes += 2 + text.length
    if (bytes > HISTORY_ACTORS_BYTES_MAX) break
    names.push(actor)
    texts.push(text)
  }
  if (names.length === 0) return Buffer.alloc(0)
  const sized = texts.flatMap((text) => [Buffer.from(Uint16Array.of(text.length).buffer), text])
  const numbers = writes.map(({ actor }) => (actor === undefined ? 0 : names.indexOf(actor) + 1))
  return Buffer.concat([Buffer.of(names.length), ...sized, Buffer.from(numbers)])
}

/** @returns the name of each write, undefined where there is none */
function decodeActors(record: Buffer, begin: number, writes: number): readonly (string | undefined)[] {
  if (record.length <= begin) return []
  const names: string[] = []
  let at = begin + 1
  for (let left = record[begin] as number; left > 0; left--) {
    const end = at + 2 + record.readUInt16LE(at)
    names.push(record.toString('utf8', at + 2, end))
    at = end
  }
  return Array.from({ length: writes }, (_, index) => names[(record[at + index] ?? 0) - 1])
}

/** @throws CorruptRecord */
export function decodeHistory(record: Buffer, name: () => string): History {
  checkRecord(record, PREFIX_BYTES, name)
  const [writes, accesses] = [record[5] as number, record[6] as number]
  checkRecord(record, PREFIX_BYTES + writes * WRITE_BYTES + accesses * ACCESS_BYTES, name)
  const accessesBegin = PREFIX_BYTES + writes * WRITE_BYTES
  const actors = decodeActors(record, accessesBegin + accesses * ACCESS_BYTES, writes)
  return {
    hotCount: record.readDoubleLE(8),
    lastHotSecond: record.readDoubleLE(16),
    writes: Array.from({ length: writes }, (_, index) => {
      const at = PREFIX_BYTES + index * WRITE_BYTES
      const actor = actors[index]
      const event: EventGroup = { type: EVENT_TYPES[record[at + 4] as number] ?? 'update', second: record.readUInt32LE(at), count: 1 }
      return actor === undefined ? event : { ...event, actor }
    }),
    accesses: Array.from({ length: accesses }, (_, index) => {
      const at = accessesBegin + index * ACCESS_BYTES
      return { type: 'access', second: record.readUInt32LE(at), count: record.readUInt32LE(at + 4) }
    }),
  }
}

/** Adds a write. The first write is kept, and of the others the latest. */
export function addWrite(history: History, type: 'create' | 'update', second: number, actor: string | null): void {
  history.writes.push({ type, second, count: 1, ...(actor === null ? {} : { actor }) })
  if (history.writes.length > HISTORY_WRITES_MAX) history.writes.splice(1, 1)
}

/** Adds reads. Lanes report concurrently, so a read may arrive after later ones. */
export function addAccesses(history: History, second: number, count: number): void {
  const { accesses } = history
  let at = accesses.length
  while (at > 0 && (accesses[at - 1] as EventGroup).second > second) at--
  const same = accesses[at - 1]
  if (same?.second === second) accesses[at - 1] = { ...same, count: same.count + count }
  else accesses.splice(at, 0, { type: 'access', second, count })
  if (accesses.length > HISTORY_ACCESS_GROUPS_MAX) history.accesses = joinOlderHalf(accesses)
}

function joinOlderHalf(groups: readonly EventGroup[]): EventGroup[] {
  const half = Math.floor(groups.length / 4) * 2
  const joined: EventGroup[] = []
  for (let at = 0; at < half; at += 2) {
    const [first, second] = groups.slice(at, at + 2) as [EventGroup, EventGroup]
    joined.push({ ...second, count: first.count + second.count })
  }
  return [...joined, ...groups.slice(half)]
}
