/**
 * Commands bound to the first core, by `taskset` where the system has it: what runs on one core can be
 * compared by the work it does.
 */
import { spawnSync } from 'node:child_process'

const CORE = '0'
const canPin = spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0

/** The command as it is where there is no `taskset`; said once by `describePinning`. */
export function pinned(command: readonly string[]): readonly string[] {
  return canPin ? ['taskset', '-c', CORE, ...command] : command
}

/**
 * Moves all threads of a process that runs, and of its children, to the cores (`0`, `0,1`). False where there
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
