/**
 * After a rotation, what was overwritten (text in clear, records under an old key) may still be read in free
 * pages of the files, in the gaps of used ones and behind the end of values. So the next start, before
 * anything is opened, writes the truth env anew, row by row (a compacted copy takes whole pages, and with
 * them what lies behind a value), puts it in the place of the old one, and throws away the index and the
 * files of vectors, which are made from it. A crash at any point leaves either file whole and the wish in it;
 * it is done again. Runs on the write lane, which opens the store first.
 */
import type { RootDatabase } from 'lmdb'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SCRUB_BYTES_AT_ONCE, SCRUB_ROOM_BYTES } from '../../limits/encryption.js'
import type { Environment } from '../environment.js'
import { openEnvironment, openTable } from '../environment.js'

const WANTED = Buffer.from('scrub')

export function wantScrub({ settings }: Environment): void {
  if (!settings.doesExist(WANTED)) settings.put(WANTED, Buffer.from([1]))
}

export function isScrubWanted({ settings }: Environment): boolean {
  return settings.doesExist(WANTED)
}

/**
 * The store must be closed in this process, and nobody else may have it. @returns a line for the log: what
 * was done, or why not
 */
export async function scrub(generationPath: string): Promise<string> {
  const aside = join(generationPath, 'scrub')
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside)
  try {
    checkRoom(join(generationPath, 'truth.mdb'))
    await copyRows(generationPath, aside)
  } catch (cause) {
    rmSync(aside, { recursive: true, force: true })
    const reason = cause instanceof Error ? cause.message : String(cause)
    return `what a rotation of keys has overwritten is still in free pages: the store can't be written anew (${reason}); the next start tries again`
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
  return 'the store was written anew after a rotation of keys; the index is built from it'
}

/**
 * Asked first, for a write that LMDB is refused may be the end of the process
 * (docs/decisions/0121-the-sweep-of-io-failures.md). @throws Error where there is no room for another one of
 * that size
 */
function checkRoom(file: string): void {
  const { bavail, bsize } = statfsSync(file)
  const missing = statSync(file).size + SCRUB_ROOM_BYTES - bavail * bsize
  if (missing > 0) throw new Error(`${missing} bytes more must be free`)
}

/** All tables, whatever they are: the names are the keys of the root. Both stores are closed in the end. */
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
