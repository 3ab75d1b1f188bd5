/** The folder `shared` beside the checkout or above it, with corpora that tests use where they are there. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { projectFolder } from '../../src/base/installation.js'

/** @param path below the folder; what is returned may not exist, and then a test skips loudly */
export function sharedPath(path: string): string {
  const root = projectFolder()
  for (let folder = dirname(root); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'shared', 'corpora'))) return join(folder, 'shared', path)
  }
  return join(dirname(root), 'shared', path)
}
