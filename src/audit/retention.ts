/**
 * Which files of an audit log are not kept: those whose events are all too old, and the oldest beyond a
 * number of bytes. Never the last one, which is appended to. Synchronous; reads files.
 */
import { statSync } from 'node:fs'
import { ChainReader } from './chain_reader.js'
import { readFile, type LogFile } from './log_files.js'

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
