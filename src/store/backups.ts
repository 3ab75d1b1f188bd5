/**
 * The directory of backups: names that stay in it, and files that appear under their name only when they are whole and on disk. The long lane; the sweep at the start of the process.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { link, mkdtemp, open, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { BACKUP_NAMES_TRIED_MAX } from '../limits.js'
import { BackupError, sealBackup } from './backup_file.js'
import type { BackupSeal } from './backup_file.js'

/** What is being written; no backup can have such a name. */
const UNFINISHED = '.backup-'

/** A name, never a path: nothing that could lead out of the directory. */
export function isBackupName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(name)
}

/** @param configured empty: `backups/` in the data directory */
export function backupDirectory(dataPath: string, configured: string): string {
  return configured === '' ? join(resolve(dataPath), 'backups') : resolve(configured)
}

/** What a backup is called that was given no name: by its time, and with a number where that is taken (`backup-1700000000-2.db`). */
export function defaultNames(createdAt: number): readonly string[] {
  return Array.from({ length: BACKUP_NAMES_TRIED_MAX }, (_, at) => `backup-${createdAt}${at === 0 ? '' : `-${at + 1}`}.db`)
}

/**
 * @param names the first that is not taken becomes its name
 * @param copy writes a consistent copy of the env to the path
 * @returns its name
 * @throws BackupError where all names are taken
 */
export async function writeBackup(
  directory: string,
  names: readonly string[],
  about: Pick<BackupSeal, 'epoch' | 'lastLsn' | 'createdAt'>,
  copy: (path: string) => Promise<void>,
): Promise<string> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  // A folder of its own, mode 0700: LMDB makes its copy readable for everybody.
  const unfinished = await mkdtemp(join(directory, UNFINISHED))
  try {
    const path = join(unfinished, 'truth.mdb')
    await copy(path)
    await sealBackup(path, about)
    const name = await giveName(path, directory, names)
    await flushDirectory(directory)
    return name
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** A link, which takes no name that is there already, whoever made it. */
async function giveName(path: string, directory: string, names: readonly string[]): Promise<string> {
  for (const name of names) {
    try {
      await link(path, join(directory, name))
      return name
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    }
  }
  throw new BackupError('there already')
}

async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Removes what a process that ended in the middle has left. Before any lane. */
export function sweepBackups(directory: string): void {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch {
    // Not there yet, or not ours to read: the first backup says so.
    return
  }
  for (const name of names) if (name.startsWith(UNFINISHED)) rmSync(join(directory, name), { recursive: true, force: true })
}
