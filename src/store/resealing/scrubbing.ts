/**
 * Removes residue after a rotation. Overwritten data (plaintext, records under an old key) may still be
 * readable in free pages of the files, in the gaps of used pages and after the end of values. Therefore the
 * next start rewrites the truth env row by row before anything is opened. A compacted copy would not do: it
 * copies whole pages, and with them the bytes after the end of a value. The new file replaces the old one.
 * The index and the vector files are deleted, because they are derived from it.
 *
 * A crash at any point leaves one intact file that still contains the request to scrub, so the next start
 * repeats it. Runs on the write lane, which opens the store first.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { MIB } from '../../limits/units.js'
import type { Environment } from '../environment.js'
import { openEnvironment, openTable } from '../environment.js'

/**
 * Bytes of one transaction that rewrites a store after a rotation. LMDB keeps changed pages in memory until
 * it ends.
 */
const SCRUB_BYTES_AT_ONCE = 16 * MIB
/**
 * Free space required in addition to the size of the store that is rewritten. The pages of the copy are
 * filled differently.
 */
const SCRUB_MARGIN_BYTES = 64 * MIB

const WANTED = Buffer.from('scrub')

export function wantScrub({ settings }: Environment): void {
  if (!settings.doesExist(WANTED)) settings.put(WANTED, Buffer.from([1]))
}

export function isScrubWanted({ settings }: Environment): boolean {
  return settings.doesExist(WANTED)
}

/**
 * Rewrites the store. It must be closed in this process, and no other process may have it open.
 * @returns a line for the log: what was done, or why it was not
 */
export async function scrub(generationPath: string): Promise<string> {
  const aside = join(generationPath, 'scrub')
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside)
  try {
    checkSpace(join(generationPath, 'truth.mdb'))
    await copyRows(generationPath, aside)
  } catch (cause) {
    rmSync(aside, { recursive: true, force: true })
    const reason = cause instanceof Error ? cause.message : String(cause)
    return `free pages still contain data that a rotation of keys has overwritten: the store can't be rewritten (${reason}); the next start tries again`
  }
  flush(join(aside, 'truth.mdb'))
  for (const derived of [join(generationPath, 'index'), join(generationPath, 'vectors')])
    for (const name of existsSync(derived) ? readdirSync(derived) : []) rmSync(join(derived, name), { recursive: true })
  renameSync(join(aside, 'truth.mdb'), join(generationPath, 'truth.mdb'))
  rmSync(aside, { recursive: true })
  flush(generationPath)
  const renewed = openEnvironment(generationPath)
  renewed.root.transactionSync(() => renewed.settings.remove(WANTED))
  await renewed.root.close()
  return 'the store was rewritten after a rotation of keys; the index is built from it'
}

/**
 * Checked first, because a write that fails inside LMDB may end the process (docs/decisions/store/disks.md).
 * @throws Error if there is no space for a second file of that size
 */
function checkSpace(file: string): void {
  const { bavail, bsize } = statfsSync(file)
  const missing = statSync(file).size + SCRUB_MARGIN_BYTES - bavail * bsize
  if (missing > 0) throw new Error(`${missing} bytes more must be free`)
}

/** Copies all tables. Their names are the keys of the root database. Both stores are closed at the end. */
async function copyRows(from: string, to: string): Promise<void> {
  const source = openEnvironment(from)
  try {
    const target = openEnvironment(to)
    try {
      for (const name of [...source.root.getKeys()].map(String)) copyTable(source.root, target.root, name)
    } finally {
      await target.root.close()
    }
  } finally {
    await source.root.close()
  }
}

function copyTable(source: RootDatabase<Buffer, Buffer>, target: RootDatabase<Buffer, Buffer>, name: string): void {
  const rows = openTable(source, name).getRange()[Symbol.iterator]()
  const copy = openTable(target, name)
  for (let next = rows.next(); next.done !== true;) {
    target.transactionSync(() => {
      for (let bytes = 0; next.done !== true && bytes < SCRUB_BYTES_AT_ONCE; next = rows.next()) {
        const { key, value } = next.value
        void copy.put(key, value)
        bytes += key.length + value.length
      }
    })
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
