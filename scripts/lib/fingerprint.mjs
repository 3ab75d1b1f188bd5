/**
 * Content hashes of the inputs of build steps, and the stamps that store them. Content is compared, not
 * modification time, so that a `git checkout` that changes nothing rebuilds nothing. No dependencies: this
 * runs before `npm ci`.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const SKIPPED = new Set(['node_modules', 'dist', 'build', 'target', '.git'])

/**
 * Files under `path` (a file or folder, relative to `root`), relative and sorted. Empty for a path that does
 * not exist.
 */
export function filesUnder(root, path) {
  const absolute = join(root, path)
  if (!existsSync(absolute)) return []
  let entries
  try {
    entries = readdirSync(absolute, { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path]
    throw error
  }
  const files = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const child = `${path}/${entry.name}`
    if (entry.isDirectory()) {
      if (!SKIPPED.has(entry.name)) files.push(...filesUnder(root, child))
    } else if (entry.isFile()) files.push(child)
  }
  return files
}

/** SHA-256 over the names and bytes of all files under `paths`, and over `extra`. */
export function hashOf(root, paths, extra = '') {
  const hash = createHash('sha256').update(extra)
  for (const path of paths) {
    for (const file of filesUnder(root, path)) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

/**
 * Opens a small JSON file of `{step: hash}`. An unreadable file counts as empty, and everything is rebuilt.
 */
export function openStamps(path) {
  let stamps
  try {
    stamps = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    stamps = {} // Absent on a fresh clone or damaged after a crash: everything is rebuilt.
  }
  return {
    matches: (step, hash) => stamps[step] === hash,
    set(step, hash) {
      stamps[step] = hash
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, JSON.stringify(stamps, null, 2) + '\n')
    },
  }
}
