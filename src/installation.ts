/** Where the files of this installation lie: programs, native addon, WASM modules, models. Any thread. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The first folder upwards that holds package.json, whether this file runs from `dist/src` or within a
 * bundle.
 */
export function projectFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('no package.json above the compiled code')
    folder = parent
  }
  return folder
}

/**
 * The file that starts a program: a process or a thread of its own. Each is bundled with what it imports.
 * @param name path of its source below `src`, without `.ts`; one of `PROGRAMS` in scripts/lib/bundle.mjs
 */
export function programPath(name: string): string {
  return join(projectFolder(), 'dist', 'bin', `${name}.js`)
}
