/**
 * Private memory of another process: anonymous pages. Pages of mapped files are not counted, because the
 * system can reclaim them. Linux only (/proc).
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuSeconds } from './process_cpu.js'

/**
 * Below this share of a core over a window the process is idle: merges, flushes and garbage collections have
 * ended.
 */
const IDLE_SHARE = 0.03
const WINDOW_MS = 1_000
const IDLE_WINDOWS = 3
const IDLE_MS_MAX = 90_000

export function anonymousBytes(pid: number): number {
  const kilobytes = /RssAnon:\s+(\d+) kB/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kilobytes === undefined) throw new Error(`no RssAnon of process ${pid}`)
  return Number(kilobytes) * 1024
}

/** Waits until the process has been idle for three seconds. */
export async function untilIdle(pid: number): Promise<void> {
  const deadline = Date.now() + IDLE_MS_MAX
  for (let idle = 0, before = cpuSeconds(pid); idle < IDLE_WINDOWS;) {
    if (Date.now() > deadline) throw new Error(`process ${pid} is still at work after ${IDLE_MS_MAX} ms`)
    await pause(WINDOW_MS)
    const now = cpuSeconds(pid)
    idle = now - before <= (IDLE_SHARE * WINDOW_MS) / 1000 ? idle + 1 : 0
    before = now
  }
}
