/**
 * Compiles a preload shim (test/fault/shim/NAME.c) with the system's C compiler into build/fault, once per
 * version of its source.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** From dist/test/fault to the folder of package.json. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * @returns the path of the shared object, for LD_PRELOAD
 * @throws Error with the compiler's output if it does not compile
 */
export function buildShim(name: 'powercut' | 'iofail' | 'clock'): string {
  const folder = path.join(PROJECT_ROOT, 'test/fault/shim')
  const source = path.join(folder, `${name}.c`)
  const version = createHash('sha256')
    .update(readFileSync(source))
    .update(readFileSync(path.join(folder, 'watched_files.h')))
    .digest('hex')
    .slice(0, 16)
  const target = path.join(PROJECT_ROOT, 'build/fault', `${name}-${version}.so`)
  if (existsSync(target)) return target
  mkdirSync(path.dirname(target), { recursive: true })
  const unfinished = `${target}.${process.pid}`
  execFileSync(
    process.env['CC'] ?? 'cc',
    ['-O2', '-shared', '-fPIC', '-Wall', '-Wextra', '-Wconversion', '-Werror', '-o', unfinished, source, '-ldl'],
    { stdio: 'pipe' },
  )
  renameSync(unfinished, target)
  return target
}
