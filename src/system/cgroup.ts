/**
 * The limits that the operating system sets to a container or service, as far as Linux shows them: cgroup
 * version 2, in the group of this process and those above it. Front-end thread; each call reads a few small
 * files.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, normalize } from 'node:path'

interface MachineShare {
  /** Bytes; Infinity: not limited. */
  readonly memoryMax: number
  /** Bytes in use in the group with that limit. */
  readonly memoryUsed: number
  /** Cores; Infinity: not limited. */
  readonly cpus: number
}

const NO_LIMIT: MachineShare = { memoryMax: Infinity, memoryUsed: 0, cpus: Infinity }
const GROUP_OF_PROCESS = '/proc/self/cgroup'
const ROOT = '/sys/fs/cgroup'

/** @param group the file that names the group of the process; @param root where groups are mounted */
export function readShare(group = GROUP_OF_PROCESS, root = ROOT): MachineShare {
  // A process of version 2 has the line `0::/path`.
  const path = /^0::(\/\S*)$/m.exec(read(group) ?? '')?.[1]
  if (path === undefined) return NO_LIMIT
  let share = NO_LIMIT
  // In a container, the path may be that outside of it: then its own group is the root.
  for (let at = path; ; at = dirname(at)) {
    share = narrowed(share, join(root, normalize(`/${at}`)))
    if (at === '/') return share
  }
}

/** Whole cores that the process may use. */
export function usableCpus({ cpus }: MachineShare): number {
  return Math.max(1, Math.min(availableParallelism(), Math.ceil(cpus)))
}

function narrowed(share: MachineShare, folder: string): MachineShare {
  const max = Number(read(join(folder, 'memory.max')))
  const memory = max > 0 && max < share.memoryMax ? { memoryMax: max, memoryUsed: Number(read(join(folder, 'memory.current')) ?? 0) } : {}
  const [quota, period] = (read(join(folder, 'cpu.max')) ?? '').split(' ').map(Number)
  const cpus = quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : Infinity
  return { ...share, ...memory, cpus: Math.min(share.cpus, cpus) }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    // Absent: another system, or no limit of this kind in the group.
    return undefined
  }
}
