/**
 * The directory of backups. A name can't lead out of the directory, and a file appears under its name only
 * when it is complete and on disk. Long lane; the sweep runs at the start of the process.
 */
import { existsSync, lstatSync, readdirSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { link, mkdtemp, open, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeFolders } from '../../base/folders.js'
import { flushDirectory as flushDirectorySync, TRUTH_FILE } from '../files/layout.js'
import type { BackupSeal } from './backup_file.js'
import { BackupError, peekSeal, sealBackup } from './backup_file.js'

/** Names, made from the time, that are tried for one backup: consecutive names of one second. */
const BACKUP_NAMES_TRIED_MAX = 1000
/** Backups that a listing shows, newest first. Each is opened to read its seal. */
const BACKUPS_LISTED_MAX = 1000

/** Prefix of unfinished backups. No backup can have such a name. */
const UNFINISHED = '.backup-'

/** Whether it is a name and not a path: it can't lead out of the directory. */
export function isBackupName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(name)
}

/** @param configured empty: `backups/` in the data directory */
export function backupDirectory(dataPath: string, configured: string): string {
  return configured === '' ? join(resolve(dataPath), 'backups') : resolve(configured)
}

/**
 * Default names of a backup: by its time, followed by a number if that name is taken
 * (`backup-1700000000-2.db`).
 */
export function defaultNames(createdAt: number): readonly string[] {
  return Array.from({ length: BACKUP_NAMES_TRIED_MAX }, (_, at) => `backup-${createdAt}${at === 0 ? '' : `-${at + 1}`}.db`)
}

/**
 * @param names candidates; the first that is not taken becomes the name
 * @param copy writes a consistent copy of the env to the path
 * @returns the name
 * @throws BackupError if all names are taken
 */
export async function writeBackup(
  directory: string,
  names: readonly string[],
  about: Pick<BackupSeal, 'epoch' | 'lastLsn' | 'createdAt'>,
  copy: (path: string) => Promise<void>,
): Promise<string> {
  makeFolders(directory, 0o700)
  // A separate folder with mode 0700, because LMDB creates its copy readable by everybody.
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

/** Links the file under the first free name. A link never replaces an existing file, whoever created it. */
async function giveName(path: string, directory: string, names: readonly string[]): Promise<string> {
  for (const name of names) {
    try {
      await link(path, join(directory, name))
      return name
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    }
  }
  throw new BackupError('already exists')
}

interface ListedBackup {
  readonly name: string
  readonly bytes: number
  /** Unix seconds; without a seal: the time of the last modification. */
  readonly createdAt: number
  /** Whether it ends with the seal of a complete backup. */
  readonly sealed: boolean
}

/**
 * Files under names that a restore accepts, newest first; no links or folders. An unfinished backup does not
 * have such a name yet.
 */
export function listBackups(directory: string): { readonly backups: readonly ListedBackup[]; readonly total: number } {
  const found = filesIn(directory)
  const newest = found
    .sort((one, other) => other.writtenAt - one.writtenAt || (one.name < other.name ? -1 : 1))
    .slice(0, BACKUPS_LISTED_MAX)
  const backups = newest.map(({ name, bytes, writtenAt }) => {
    const seal = peekSeal(join(directory, name))
    return { name, bytes, createdAt: seal?.createdAt ?? writtenAt, sealed: seal !== undefined }
  })
  return { backups, total: found.length }
}

/** Deletes a backup. The deletion is on disk on return. @returns false if there is no such backup */
export function deleteBackup(directory: string, name: string): boolean {
  const path = join(directory, name)
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true || !mayBeBackup(directory, name)) return false
  unlinkSync(path)
  flushDirectorySync(directory)
  return true
}

interface BackupFile {
  readonly name: string
  readonly bytes: number
  /** Unix seconds. */
  readonly writtenAt: number
}

/** Every regular file that may be a backup, in no particular order. */
function filesIn(directory: string): BackupFile[] {
  return namesIn(directory).flatMap((name) => {
    const facts = isBackupName(name) ? lstatSync(join(directory, name), { throwIfNoEntry: false }) : undefined
    const isBackup = facts?.isFile() === true && mayBeBackup(directory, name)
    return isBackup ? [{ name, bytes: facts.size, writtenAt: Math.floor(facts.mtimeMs / 1000) }] : []
  })
}

/**
 * `SVC_BACKUP_DIR` may name the data directory or a generation, whose own files have names that a backup
 * could have (`CURRENT`, `truth.mdb`). There only a file with a seal is a backup. Elsewhere an incomplete
 * backup counts as one, so that it can be deleted.
 */
function mayBeBackup(directory: string, name: string): boolean {
  const isStoreFolder = ['CURRENT', TRUTH_FILE].some((file) => existsSync(join(directory, file)))
  return !isStoreFolder || peekSeal(join(directory, name)) !== undefined
}

/** No names if the directory does not exist yet. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  }
}

async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/**
 * @returns a function that returns the modification time of the newest backup in unix seconds, 0 if there is
 * none. It reads the directory again only if the directory has changed
 */
export function lastBackup(directory: string): () => number {
  let readAt = -1
  let newest = 0
  return () => {
    try {
      const { mtimeMs } = statSync(directory)
      if (mtimeMs === readAt) return newest
      readAt = mtimeMs
      newest = filesIn(directory).reduce((latest, { writtenAt }) => Math.max(latest, writtenAt), 0)
    } catch {
      // The directory does not exist yet, or was removed meanwhile. The next call reads it again.
      readAt = -1
      newest = 0
    }
    return newest
  }
}

/** Removes what an interrupted process has left. Before any lane starts. */
export function sweepBackups(directory: string): void {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch {
    // The directory does not exist yet or can't be read. The first backup reports that.
    return
  }
  for (const name of names) if (name.startsWith(UNFINISHED)) rmSync(join(directory, name), { recursive: true, force: true })
}
