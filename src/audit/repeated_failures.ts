/**
 * Failures that one client repeats. The first ones of a minute are events of their own; the others are
 * counted, and become one event at the end of the minute, with their number as `count`. So a client without
 * credentials cannot fill the disk with the log, and nothing goes uncounted. Main thread; memory is bounded
 * by the number of clients that are told apart.
 */
import { addressKey } from '../access/client_key.js'
import type { AuditEvent } from '../telemetry/audit.js'

/**
 * Failures of one client that are events of their own in each minute; further ones are one event with their
 * number. A client without credentials gets 11 lines of some 300 bytes into the log in a minute: 5 MB a day.
 */
const AUDIT_ALIKE_EVENTS_MAX = 10
/**
 * Clients and actions that are told apart in that minute: 1 024 of some 1 KB are 1 MB. All addresses of the
 * world together write 11 300 lines in a minute: 57 KB a second. Beyond it, failures are counted by action.
 */
export const AUDIT_ALIKE_CLIENTS_MAX = 1024

/** Fields that alike events may differ in. Where they do, the event that stands for them has none. */
const VARYING = ['actor', 'resource', 'collection', 'key', 'ip', 'userAgent', 'detail'] as const
type Varying = { [Field in (typeof VARYING)[number]]?: string }

interface Alike {
  readonly action: string
  /** What all events that are folded have in common. */
  readonly fields: Varying
  /** Events of their own. */
  single: number
  /** Events that are folded. */
  folded: number
}

export class RepeatedFailures {
  readonly #alike = new Map<string, Alike>()
  readonly #begin: () => void

  /** @param begin called with the first failure of a window, whose end is to call `take` */
  constructor(begin: () => void) {
    this.#begin = begin
  }

  /** @returns false: the event is folded, and will be part of what `take` returns */
  admits(event: AuditEvent): boolean {
    if (event.result === 'ok') return true
    if (this.#alike.size === 0) this.#begin()
    const name = nameOf(event)
    const known = this.#alike.get(name)
    if (known !== undefined) return fold(known, event)
    // Clients beyond the bound share one event for each action, and actions are those of a table.
    if (this.#alike.size < AUDIT_ALIKE_CLIENTS_MAX) {
      this.#alike.set(name, { action: event.action, fields: {}, single: 1, folded: 0 })
      return true
    }
    const others = this.#alike.get(event.action) ?? { action: event.action, fields: {}, single: AUDIT_ALIKE_EVENTS_MAX, folded: 0 }
    this.#alike.set(event.action, others)
    return fold(others, event)
  }

  /** Ends the window. @returns one event for each client and action whose failures were folded */
  take(): AuditEvent[] {
    const events = [...this.#alike.values()].filter(({ folded }) => folded > 0).map(({ action, fields, folded }) => {
      const { actor = '', resource = '', ip = '', userAgent = '', ...others } = fields
      return { action, actor, resource, ip, userAgent, ...others, result: 'fail' as const, count: folded }
    }) // prettier-ignore
    this.#alike.clear()
    return events
  }
}

/** The actor of a check of a credential is whatever its client has sent. */
function nameOf({ action, actor, ip }: AuditEvent): string {
  return `${action}\n${addressKey(ip)}\n${action.startsWith('auth.') ? '' : actor}`
}

function fold(alike: Alike, event: AuditEvent): boolean {
  if (alike.single < AUDIT_ALIKE_EVENTS_MAX) {
    alike.single += 1
    return true
  }
  alike.folded += 1
  for (const field of VARYING) {
    const text = event[field]
    if (alike.folded === 1 && text !== undefined) alike.fields[field] = text
    else if (alike.fields[field] !== text) delete alike.fields[field]
  }
  return false
}
