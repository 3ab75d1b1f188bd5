/**
 * Files of the data directory that hold what a request sends until it is answered. They have names of their
 * own, of which no client gives a part, and are removed at the next start if the process ends before. Any
 * thread.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

/** What no client names; whatever has it is removed at a start. */
export const SPOOL_PREFIX = 'spool-'

const NAME = new RegExp(`^${SPOOL_PREFIX}[0-9a-f]{16}$`)

export function newSpoolName(): string {
  return `${SPOOL_PREFIX}${randomBytes(8).toString('hex')}`
}

/** @throws Error for a name that `newSpoolName` has not made, which is a programming error */
export function spoolPath(directory: string, name: string): string {
  if (!NAME.test(name)) throw new Error('not the name of a spool file')
  return join(directory, name)
}
