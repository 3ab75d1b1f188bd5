/**
 * The format of a file of the audit log: a header, then batches. A batch is its events, one line each, and
 * its seal: a line with the SHA-256 of the batch before it and a checksum for each of its events. So the hash
 * of each batch is in the next one, and a checksum tells which line of a batch was changed. Pure. Bytes:
 * docs/formats/audit-log.md.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

export const FORMAT_VERSION = 1
/** `prev` of the first batch of a log. */
export const NO_HASH = '0'.repeat(64)

const HEADER_BEGIN = '{"audit":'
const SEAL_BEGIN = '{"seal":'
export const SUM_CHARS = 8

export interface Header {
  /** Version of the format. */
  readonly audit: number
  /** Number of the file: that of its name. */
  readonly file: number
  /** When the file was begun, in Unix milliseconds. */
  readonly at: number
}

export interface Seal {
  /** Number of the batch: 1, 2, 3 ... through all files. */
  readonly seal: number
  /** SHA-256 of the batch before it, in hexadecimal. */
  readonly prev: string
  readonly events: number
  /** CRC32 of each line of an event without its newline, 8 hexadecimal digits each. */
  readonly sums: string
  /** Number of the first batch that retention has kept. Earlier ones may be gone. */
  readonly first: number
  /** Events that the process has lost before this batch, because the log could not keep up. */
  readonly dropped: number
  /** Unix milliseconds. */
  readonly at: number
  /** The first batch of a process, or the last one of a shutdown. */
  readonly mark?: 'start' | 'stop'
  /** Bytes without a seal that a start has cut off. */
  readonly cut?: number
}

const NAME = /^audit-(\d{10})\.jsonl$/

export function fileName(file: number): string {
  return `audit-${String(file).padStart(10, '0')}.jsonl`
}

/** @returns undefined if the name is not that of a file of the log */
export function fileNumber(name: string): number | undefined {
  const match = NAME.exec(name)
  return match === null ? undefined : Number(match[1])
}

export function headerLine(file: number, at: number): string {
  const header: Header = { audit: FORMAT_VERSION, file, at }
  return `${JSON.stringify(header)}\n`
}

/** With its newline. */
export function sealLine(seal: Seal): string {
  return `${JSON.stringify(seal)}\n`
}

/** Checksum of a line without its newline. */
export function sumOf(line: Uint8Array): string {
  return crc32(line).toString(16).padStart(SUM_CHARS, '0')
}

/** The checksums of whole lines, each of which ends with a newline. */
export function sumsOf(lines: Uint8Array): string[] {
  const sums: string[] = []
  for (let begin = 0, end = lines.indexOf(0x0a); end >= 0; begin = end + 1, end = lines.indexOf(0x0a, begin))
    sums.push(sumOf(lines.subarray(begin, end)))
  return sums
}

export function splitSums(sums: string): string[] {
  return sums.match(/.{8}/g) ?? []
}

/**
 * Hash of a batch: all its bytes, from the end of the batch before it in the file to the newline of its seal.
 */
export function hashOf(...pieces: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

/**
 * What a line is by its beginning. Events begin with their time, so no text of a client can look like another
 * kind.
 */
export function kindOf(line: Uint8Array): 'header' | 'seal' | 'event' {
  const begin = Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, HEADER_BEGIN.length)).toString('latin1')
  if (begin.startsWith(SEAL_BEGIN)) return 'seal'
  return begin === HEADER_BEGIN ? 'header' : 'event'
}

/** @returns undefined if the line is not a whole header */
export function parseHeader(line: Uint8Array): Header | undefined {
  const header = parse(line) as Header | undefined
  return header !== undefined && areCounts(header.audit, header.file, header.at) ? header : undefined
}

/** @returns undefined if the line is not a whole seal */
export function parseSeal(line: Uint8Array): Seal | undefined {
  const seal = parse(line) as Seal | undefined
  if (seal === undefined || !areCounts(seal.seal, seal.events, seal.first, seal.dropped, seal.at, seal.cut ?? 0)) return undefined
  const isWhole = /^[0-9a-f]{64}$/.test(seal.prev) && /^(?:[0-9a-f]{8})*$/.test(seal.sums) && seal.sums.length === SUM_CHARS * seal.events
  return isWhole && ['start', 'stop', undefined].includes(seal.mark) ? seal : undefined
}

function areCounts(...values: readonly unknown[]): boolean {
  return values.every((value) => Number.isSafeInteger(value) && (value as number) >= 0)
}

/** An object with any members, or undefined. */
function parse(line: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
