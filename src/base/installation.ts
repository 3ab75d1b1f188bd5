/** Locations of the files of this installation: programs, native addon, WASM modules, models. Any thread. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The nearest parent folder that contains package.json, whether this file runs from `dist/src` or from a
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
 * The entry file of a program, which runs as a separate process or thread. Each is bundled with its imports.
 * @param name path of its source below `src` or `src/programs`, without `.ts`; one of `PROGRAMS` in
 *   scripts/lib/bundle.mjs, or `surface/NAME/thread` of a surface in the folder NAME
 */
export function programPath(name: string): string {
  return join(projectFolder(), 'dist', 'bin', `${name}.js`)
}
