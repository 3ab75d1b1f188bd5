/**
 * `--include` and `--exclude`: which files of a folder are imported. Patterns are globs over the path below
 * the folder, with `/`. The library is loaded where patterns are given. Pure.
 */
import { createRequire } from 'node:module'

export interface FileChoice {
  /** Files that match none of these are left out, unless there are none. */
  readonly include?: readonly string[]
  /** Files that match one of these are left out, even if they are included. */
  readonly exclude?: readonly string[]
}

const require = createRequire(import.meta.url)
const everything = (): boolean => true

/** @returns whether a path is chosen */
export function chooseFiles({ include = [], exclude = [] }: FileChoice): (path: string) => boolean {
  if (include.length === 0 && exclude.length === 0) return everything
  const picomatch = require('picomatch') as typeof import('picomatch')
  const isIncluded = include.length === 0 ? everything : picomatch([...include])
  const isExcluded = picomatch([...exclude])
  return (path) => isIncluded(path) && !isExcluded(path)
}
