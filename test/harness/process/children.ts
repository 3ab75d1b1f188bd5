/** The processes that a server has started, by the program that they run. Linux. */
import { readdirSync, readFileSync } from 'node:fs'

/** Process ids. @param program the part of a command line by which it is known */
export function childrenOf(pid: number, program: string): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => read(`/proc/${pid}/task/${task}/children`).split(' '))
  return children.filter((child) => child !== '' && read(`/proc/${child}/cmdline`).includes(program)).map(Number)
}

/** Whether the process has ended, or has only not been waited for yet. */
export function hasEnded(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`)
  return stat === '' || stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
}

/** Empty where thread or process has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
