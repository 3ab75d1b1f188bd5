/**
 * The log of one recorded run: the calls that the shim (shim/powercut.c, which describes the records) saw on
 * the files below the watched directory, interleaved with the client's own events. The position of a record
 * in the file is its position in time. The log is read whole into memory: `IO_LOG_BYTES_MAX` bounds it.
 */
import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'

/** A recorded run writes some tens of MB; a larger log means that the run is out of control. */
const IO_LOG_BYTES_MAX = 1 << 30
const RECORD_HEAD_BYTES = 24
const KIND_CLIENT = 100

export type IoRecord =
  | { readonly kind: 'open'; readonly file: number; readonly path: string; readonly fresh: boolean }
  | { readonly kind: 'write'; readonly file: number; readonly offset: number; readonly bytes: Buffer; readonly flushed: boolean }
  | { readonly kind: 'truncate'; readonly file: number; readonly lengthBytes: number }
  | { readonly kind: 'flush-begin'; readonly file: number; readonly sequence: number }
  | { readonly kind: 'flush-end'; readonly file: number; readonly sequence: number }
  | { readonly kind: 'rename'; readonly source: string; readonly target: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'blind'; readonly file: number; readonly reason: string }
  | { readonly kind: 'client'; readonly text: string }

/**
 * Appends the client's events to the shim's log. Each event is one O_APPEND write, so that its position is
 * its time.
 */
export class ClientEvents {
  readonly #descriptor: number

  constructor(path: string) {
    this.#descriptor = openSync(path, 'a')
  }

  append(text: string): void {
    const payload = Buffer.from(text)
    const record = Buffer.alloc(RECORD_HEAD_BYTES + payload.length)
    record.writeUInt32LE(KIND_CLIENT, 0)
    record.writeUInt32LE(payload.length, 16)
    payload.copy(record, RECORD_HEAD_BYTES)
    writeSync(this.#descriptor, record)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/**
 * All complete records in order. Throws on an unknown kind. A partial record at the end (the process was
 * killed while it wrote) is left out.
 */
export function readIoLog(path: string): readonly IoRecord[] {
  const bytes = statSync(path).size
  if (bytes > IO_LOG_BYTES_MAX) throw new Error(`log ${path} has ${bytes} bytes, more than ${IO_LOG_BYTES_MAX}`)
  const log = readFileSync(path)
  const records: IoRecord[] = []
  let position = 0
  while (position + RECORD_HEAD_BYTES <= log.length) {
    const payloadBytes = log.readUInt32LE(position + 16)
    const end = position + RECORD_HEAD_BYTES + payloadBytes
    if (end > log.length) break
    records.push(decodeRecord(log, position, end))
    position = end
  }
  return records
}

function decodeRecord(log: Buffer, position: number, end: number): IoRecord {
  const kind = log.readUInt32LE(position)
  const file = log.readUInt32LE(position + 4)
  const offset = Number(log.readBigUInt64LE(position + 8))
  const sequence = log.readUInt32LE(position + 20)
  const payload = log.subarray(position + RECORD_HEAD_BYTES, end)
  switch (kind) {
    case 1:
      return { kind: 'open', file, path: payload.toString(), fresh: offset === 1 }
    case 2:
      return { kind: 'write', file, offset, bytes: payload, flushed: false }
    case 3:
      return { kind: 'write', file, offset, bytes: payload, flushed: true }
    case 4:
      return { kind: 'truncate', file, lengthBytes: offset }
    case 5:
      return { kind: 'flush-begin', file, sequence }
    case 6:
      return { kind: 'flush-end', file, sequence }
    case 7: {
      const [source, target] = payload.toString().split('\0')
      if (source === undefined || target === undefined) throw new Error(`rename record at ${position} has no target`)
      return { kind: 'rename', source, target }
    }
    case 8:
      return { kind: 'unlink', path: payload.toString() }
    case 9:
      return { kind: 'blind', file, reason: payload.toString() }
    case KIND_CLIENT:
      return { kind: 'client', text: payload.toString() }
    default:
      throw new Error(`unknown record kind ${kind} at ${position}`)
  }
}
