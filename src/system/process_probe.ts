/**
 * The operating system's view of this machine and process, for /v1/system/info. Cached for PROBE_CACHE_MS.
 * Front-end thread.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { freemem, hostname, networkInterfaces, totalmem } from 'node:os'
import { PROBE_CACHE_MS } from '../limits/process.js'
import { readShare, usableCpus } from './cgroup.js'

interface ProcessReading {
  readonly hostname: string
  readonly os: string
  readonly arch: string
  readonly numCPU: number
  readonly memoryTotal: number
  readonly memoryUsed: number
  readonly memorySystem: number
  readonly memoryHeap: number
  readonly threads: number
  /** 0 to 100 over all cores, since the previous reading. */
  readonly cpuUsagePercent: number
  readonly network: readonly { readonly name: string; readonly addresses: readonly string[]; readonly flags: readonly string[] }[]
}

/** The names in the contract are those of the platform of its first implementation. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }
const SYSTEMS: Readonly<Record<string, string>> = { win32: 'windows' }

export class ProcessProbe {
  #cpu = process.cpuUsage()
  #at = performance.now()
  #last: ProcessReading | undefined

  read(): ProcessReading {
    const now = performance.now()
    if (this.#last === undefined || now - this.#at > PROBE_CACHE_MS) this.#last = this.#ask(now)
    return this.#last
  }

  #ask(now: number): ProcessReading {
    const share = readShare()
    const cores = usableCpus(share)
    const isLimited = share.memoryMax < totalmem()
    const { user, system } = process.cpuUsage(this.#cpu)
    const cpuUsagePercent = ((user + system) / 1000 / Math.max(1, now - this.#at) / cores) * 100
    this.#cpu = process.cpuUsage()
    this.#at = now
    const memory = process.memoryUsage()
    return {
      hostname: hostname(),
      os: SYSTEMS[process.platform] ?? process.platform,
      arch: ARCHITECTURES[process.arch] ?? process.arch,
      numCPU: cores,
      memoryTotal: isLimited ? share.memoryMax : totalmem(),
      memoryUsed: memory.rss,
      memorySystem: isLimited ? share.memoryUsed : totalmem() - freemem(),
      memoryHeap: memory.heapUsed,
      threads: countThreads(),
      cpuUsagePercent: Math.min(100, Math.round(cpuUsagePercent * 10) / 10),
      network: listNetwork(),
    }
  }
}

function countThreads(): number {
  try {
    return readdirSync('/proc/self/task').length
  } catch {
    // Only Linux lists the threads; elsewhere only this one is certain.
    return 1
  }
}

function listNetwork(): ProcessReading['network'] {
  return Object.entries(networkInterfaces()).map(([name, addresses = []]) => ({
    name,
    addresses: addresses.map(({ cidr, address }) => cidr ?? address),
    flags: flagsOf(name) ?? (addresses.some(({ internal }) => internal) ? ['up', 'loopback'] : ['up']),
  }))
}

/** Bits of `ifr_flags`, see netdevice(7), in the order of their values. */
const FLAGS: readonly (readonly [bit: number, name: string])[] = [
  [0x1, 'up'],
  [0x2, 'broadcast'],
  [0x8, 'loopback'],
  [0x10, 'pointtopoint'],
  [0x40, 'running'],
  [0x1000, 'multicast'],
]

/** Undefined: the system does not tell. */
function flagsOf(name: string): readonly string[] | undefined {
  try {
    // An alias such as `eth0:1` has the flags of its interface.
    const bits = Number(readFileSync(`/sys/class/net/${name.split(':')[0] ?? name}/flags`, 'utf8'))
    return FLAGS.filter(([bit]) => (bits & bit) !== 0).map(([, flag]) => flag)
  } catch {
    // Only Linux has this file.
    return undefined
  }
}
