/** The files of an audit log on disk: their list, and reading one in pieces. Synchronous. */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { AUDIT_READ_BYTES } from '../limits/audit.js'
import { fileNumber } from './chain.js'
import type { ChainReader } from './chain_reader.js'

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
