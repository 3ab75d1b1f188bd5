/** What Linux says of the threads of a process. */
import { readdirSync, readFileSync } from 'node:fs'

export interface ThreadOrder {
  readonly nice: number
  /** Nanoseconds; null: the kernel does not say it. */
  readonly slice: number | null
}

export function threadsOf(pid: number): readonly ThreadOrder[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    const nice = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
    return { nice, slice: sliceOf(`/proc/${pid}/task/${thread}/sched`) }
  })
}

/** How many threads of the process have each of these nice values. */
export function niceCounts(pid: number, values: readonly number[]): readonly number[] {
  const threads = threadsOf(pid)
  return values.map((value) => threads.filter(({ nice }) => nice === value).length)
}

function sliceOf(path: string): number | null {
  try {
    const found = /se\.slice\s*:\s*(\d+)/u.exec(readFileSync(path, 'utf8'))?.[1]
    return found === undefined ? null : Number(found)
  } catch {
    return null
  }
}
