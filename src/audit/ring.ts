/**
 * The last events in memory, for queries. Lines are compared as text: their fields have one order and one
 * spelling (event_line.ts), so that no event is parsed. Thread of the audit log.
 */
import type { AuditFilter } from '../wire/messages/audit_messages.js'
import { quoted, quotedField, timeOf } from './event_line.js'

/** Digits of a time with zeros before them: any time of 64 bits compares as text. */
const TIME_DIGITS = 20

export class Ring {
  readonly #lines: string[] = []
  #next = 0

  constructor(readonly size: number) {}

  /** @param line without its newline */
  push(line: string): void {
    this.#lines[this.#next] = line
    this.#next = (this.#next + 1) % this.size
  }

  /** @returns the lines that match, newest first */
  find(filter: AuditFilter): string[] {
    const found: string[] = []
    const matches = matcherOf(filter)
    const count = this.#lines.length
    for (let age = 1; age <= count && found.length < filter.limit; age++) {
      const line = this.#lines[(this.#next - age + count) % count]!
      if (matches(line)) found.push(line)
    }
    return found
  }
}

function matcherOf({ from, to, actor, action, collection, keys, result }: AuditFilter): (line: string) => boolean {
  // Each is a part of the line that no value can contain, because quotes are escaped in values.
  const parts = [
    ...(actor === undefined ? [] : [`,"actor":${quoted(actor)},"action":`]),
    ...(action === undefined ? [] : [`,"action":${quoted(action)},"resource":`]),
    ...(collection === undefined ? [] : [`,"collection":${quotedField(collection)},"`]),
    ...(result === undefined ? [] : [`,"result":"${result}","ip":`]),
  ]
  const keyParts = keys?.map((key) => `,"key":${quotedField(key)},"result":`)
  const first = from?.padStart(TIME_DIGITS, '0')
  const last = to?.padStart(TIME_DIGITS, '0')
  return (line) => {
    for (const part of parts) if (!line.includes(part)) return false
    if (keyParts?.some((part) => line.includes(part)) === false) return false
    if (first === undefined && last === undefined) return true
    const time = timeOf(line).padStart(TIME_DIGITS, '0')
    return (first === undefined || time >= first) && (last === undefined || time <= last)
  }
}
