/**
 * Processor time of another process over all its threads. It measures the cost of a result and is steadier
 * than a rate on a shared machine. Linux only (/proc).
 */
import { readFileSync } from 'node:fs'

/** USER_HZ, which is 100 on all platforms that Node supports. */
const TICKS_PER_SECOND = 100

/** @returns seconds since the process started, user and system */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name in parentheses may contain any characters. The fields after it are counted from state = 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
