/**
 * Finds and loads the native addon. Each thread that uses the addon loads it; the engines behind its
 * functions are one per process. The addon is loaded on first use, never by an import alone.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { projectFolder } from '../base/installation.js'

/**
 * @param names all functions of the interface: an addon of another version that lacks one is refused before
 * any function is called
 * @param path for tests with their own build; default: `build/mds_engine.node` of the project
 */
export function loadAddon<Face>(
  names: readonly (keyof Face & string)[],
  path: string = join(projectFolder(), 'build', 'mds_engine.node'),
): Face {
  if (!existsSync(path)) throw new Error(`native engine not built: ${path} is missing (node scripts/build-native.mjs makes it)`)
  const loaded: unknown = createRequire(import.meta.url)(path)
  if (!hasFunctions<Face>(loaded, names)) throw new Error(`native engine ${path} lacks one of ${names.join(', ')}: build it again`)
  return loaded
}

function hasFunctions<Face>(value: unknown, names: readonly (keyof Face & string)[]): value is Face {
  if (typeof value !== 'object' || value === null) return false
  const exports = value as Record<string, unknown>
  return names.every((name) => typeof exports[name] === 'function')
}
