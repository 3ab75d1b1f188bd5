/**
 * After a rotation, what was overwritten (text in clear, records under an old key) may still be read in free pages of the files and in the gaps of used ones. So the next start, before anything is
 * opened, writes the truth env anew, used bytes only, puts it in the place of the old one, and throws away the index and the files of vectors, which are made from it. A crash at any point leaves either file whole and
 * the wish in it; it is done again. Runs on the write lane, which opens the store first.
 */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../environment.js'
import { openEnvironment } from '../environment.js'

const WANTED = Buffer.from('scrub')

export function wantScrub({ settings }: Environment): void {
  if (!settings.doesExist(WANTED)) void settings.put(WANTED, Buffer.from([1]))
}

export function isScrubWanted({ settings }: Environment): boolean {
  return settings.doesExist(WANTED)
}

/** The store must be closed in this process, and nobody else may have it. @returns a line for the log: what was done, or why not */
export async function scrub(generationPath: string): Promise<string> {
  const path = join(generationPath, 'truth.mdb')
  const aside = `${path}.scrub`
  rmSync(aside, { force: true })
  const environment = openEnvironment(generationPath)
  try {
    await environment.root.backup(aside, true)
  } catch (cause) {
    rmSync(aside, { force: true })
    const reason = cause instanceof Error ? cause.message : String(cause)
    return `what a rotation of keys has overwritten is still in free pages: the store can't be written anew (${reason}); the next start tries again`
  } finally {
    await environment.root.close()
  }
  flush(aside)
  for (const derived of [join(generationPath, 'index'), join(generationPath, 'vectors')])
    for (const name of existsSync(derived) ? readdirSync(derived) : []) rmSync(join(derived, name), { recursive: true })
  renameSync(aside, path)
  flush(generationPath)
  const renewed = openEnvironment(generationPath)
  renewed.root.transactionSync(() => void renewed.settings.remove(WANTED))
  await renewed.root.close()
  return 'the store was written anew after a rotation of keys; the index is built from it'
}

function flush(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
