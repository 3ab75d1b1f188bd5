/**
 * The files of an audit log on disk: their list, reading one in pieces, and which of them are too old or too
 * many. The last file is never one of those: it is appended to. Synchronous.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MIB } from '../limits/units.js'
import { fileNumber } from './chain.js'
import { ChainReader } from './chain_reader.js'

/** Bytes of one read of a file. */
const AUDIT_READ_BYTES = MIB

export interface LogFile {
  readonly number: number
  readonly path: string
}

/** In ascending order. Other files are not the log's. @throws Error of the system */
export function filesIn(folder: string): LogFile[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const number = fileNumber(name)
      return number === undefined ? [] : [{ number, path: join(folder, name) }]
    })
    .sort((one, other) => one.number - other.number)
}

/** Feeds a whole file. @throws Error of the system */
export function readFile(path: string, reader: ChainReader): void {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(AUDIT_READ_BYTES)
    for (let bytes = readSync(file, buffer); bytes > 0; bytes = readSync(file, buffer)) reader.feed(buffer.subarray(0, bytes))
    reader.end()
  } finally {
    closeSync(file)
  }
}

/** @param cutoff Unix milliseconds. @returns how many of the files, oldest first, have ended by then */
export function olderThan(files: readonly LogFile[], cutoff: number): number {
  let count = 0
  // A file ends when the next one begins.
  while (count + 1 < files.length && (beginOf(files[count + 1]!).at ?? Infinity) <= cutoff) count += 1
  return count
}

/** @returns how many of the files, oldest first, must go so that the others have at most `bytesMax` */
export function beyond(files: readonly LogFile[], bytesMax: number): number {
  let left = bytesOf(files)
  let count = 0
  for (; count + 1 < files.length && left > bytesMax; count++) left -= sizeOf(files[count]!)
  return count
}

export function bytesOf(files: readonly LogFile[]): number {
  return files.reduce((sum, file) => sum + sizeOf(file), 0)
}

function sizeOf({ path }: LogFile): number {
  return statSync(path).size
}

/** When a file was begun, and the number of its first batch; undefined where they can't be read. */
export function beginOf({ path }: LogFile): { readonly at: number | undefined; readonly batch: number | undefined } {
  let batch: number | undefined
  const reader = new ChainReader({ onBatch: ({ seal }) => (batch ??= seal.seal) })
  readFile(path, reader)
  return { at: reader.header?.at, batch }
}
