/**
 * Binds commands to the first core, by `taskset` where the system has it. The work of programs on one core is
 * comparable.
 */
import { spawnSync } from 'node:child_process'

const CORE = '0'
const canPin = spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0

/** Returns the command unchanged if there is no `taskset`; `describePinning` reports that once. */
export function pinned(command: readonly string[]): readonly string[] {
  return canPin ? ['taskset', '-c', CORE, ...command] : command
}

/**
 * Moves all threads of a running process and of its children to the given cores (`0`, `0,1`). False if there
 * is no `taskset`.
 */
export function movePinned(pid: number, cores: string): boolean {
  if (!canPin) return false
  const children =
    spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .stdout?.split('\n')
      .filter((line) => line !== '') ?? []
  return [String(pid), ...children].every((each) => spawnSync('taskset', ['-a', '-p', '-c', cores, each], { stdio: 'ignore' }).status === 0)
}

export function describePinning(): string {
  return canPin ? `pinned to core ${CORE}` : 'not pinned: no taskset on this machine'
}
