/**
 * Processor time of another process, all its threads: what a result cost, which is steadier than its rate on
 * a machine that others use too. Linux only (/proc).
 */
import { readFileSync } from 'node:fs'

/** USER_HZ, fixed at 100 on all platforms that Node runs on. */
const TICKS_PER_SECOND = 100

/** @returns seconds since the process started, user and system */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name in parentheses may hold anything; the fields after it are counted from state = 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
