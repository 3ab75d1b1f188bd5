/**
 * Descriptors of the process that clients may not use up: threads that start later, backups, files of the
 * store and outgoing requests need some. A connection that would reach into this reserve is refused by
 * whatever surface accepts it. Linux; elsewhere the limit is not known, and all are admitted. One state a
 * thread. Decision: docs/decisions/operation/throttles.md.
 */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { log } from '../telemetry/log.js'
import { threadTelemetry } from '../telemetry/registry.js'

/**
 * Descriptors that connections may not use: eight threads that start later x 8, the files of a backup and a
 * restore, 64 outgoing requests, and those accepted at the same moment on 16 loops.
 */
const DESCRIPTORS_RESERVED = 192
/** A lower limit is a warning at start: 1 024 connections of one client, and as many of others. */
const DESCRIPTORS_WANTED_MIN = 4_096
/** How long refusals must have ceased before the log tells of new ones. */
const DESCRIPTORS_WARN_MS = 60_000

/** How many the process may open. Node.js has raised the soft limit to the hard one. Infinity: not known. */
function descriptorLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return soft === undefined ? Infinity : Number(soft)
  } catch {
    return Infinity
  }
}

let limit = NaN
let warnedAt = -Infinity

/** @returns false if the connection that was just accepted must be closed */
export function admitsConnection(): boolean {
  if (Number.isNaN(limit)) limit = descriptorLimit()
  if (limit === Infinity || lowestFree() < limit - reserveOf(limit)) return true
  threadTelemetry().add('connections_refused', 1)
  if (performance.now() - warnedAt > DESCRIPTORS_WARN_MS)
    log.warn(`connections are refused: of ${limit} files that may be open, too few are left`)
  warnedAt = performance.now()
  return false
}

/** In a line for the log of the start; null: the limit is high enough. */
export function descriptorWarning(): string | null {
  const most = descriptorLimit()
  if (most >= DESCRIPTORS_WANTED_MIN) return null
  const served = most - reserveOf(most)
  return `at most ${most} files may be open (ulimit -n, LimitNOFILE): connections are refused from about ${served} on`
}

/** Half of a low limit. */
function reserveOf(most: number): number {
  return Math.min(DESCRIPTORS_RESERVED, Math.floor(most / 2))
}

/** The system gives the lowest free number, so all below it are in use, by whatever thread. */
function lowestFree(): number {
  try {
    const descriptor = openSync('/dev/null', 'r')
    closeSync(descriptor)
    return descriptor
  } catch {
    return Infinity
  }
}
