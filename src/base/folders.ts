/** Creates folders, for the server and the command line. Any thread. */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents. Does not use Node's `recursive`, which never returns where the
 * system creates no folder (`/proc/x`). Here each folder is tried twice at most.
 * @throws Error of the system
 */
export function makeFolders(path: string, mode = 0o777): void {
  try {
    makeOne(path, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    makeFolders(dirname(path), mode)
    makeOne(path, mode)
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isDirectory(path)) throw error
  }
}

/** False also if the system returns an error. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
