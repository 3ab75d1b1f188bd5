/** Levels of messages to clients: those of RFC 5424, in ascending order of severity. Pure. */
import type { LogLevel } from '../../../telemetry/log.js'

const LEVELS: readonly unknown[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

export function isLogLevel(level: unknown): level is string {
  return LEVELS.includes(level)
}

/** @param least level that the client wants; null: no messages */
export function isWanted(level: string, least: string | null): boolean {
  return least !== null && LEVELS.indexOf(level) >= LEVELS.indexOf(least)
}

export function levelOf(level: LogLevel): string {
  return level === 'warn' ? 'warning' : level
}
