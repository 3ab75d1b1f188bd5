/**
 * The line of an event in the audit log, in answers and in exports: JSON with its fields in one order, all of
 * the contract's present and the others where they are known, so that a query finds a value without parsing.
 * Times are nanoseconds with all digits, which a JSON number of JavaScript would lose. Main thread; about a
 * microsecond a line.
 */
import { AUDIT_USER_AGENT_CHARS_MAX } from '../limits/process.js'
import type { AuditEvent } from '../telemetry/audit.js'

/**
 * Characters of a field of an event; longer texts are cut. A list of four collection names of 128 has 515.
 */
const AUDIT_RESOURCE_CHARS_MAX = 520
const AUDIT_TEXT_CHARS_MAX = 256

/** Texts that need no escape, which almost all are. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** As JSON text. A query compares with the same text. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** As JSON text, as an event has it in a field of its own. */
export function quotedField(text: string): string {
  return bounded(text, AUDIT_TEXT_CHARS_MAX)
}

function bounded(text: string, charsMax: number): string {
  return quoted(text.length > charsMax ? text.slice(0, charsMax) : text)
}

function optional(name: string, text = ''): string {
  return text === '' ? '' : `,"${name}":${quotedField(text)}`
}

/** Digits of the time of a line that another thread will set: as many as a time has until the year 2286. */
export const NO_TIME = '0'.repeat(19)
const TIME_AT = '{"ts":'.length

/** @param line of an event with NO_TIME, which gets its time */
export function setTime(line: Uint8Array, ts: string): void {
  for (let at = 0; at < NO_TIME.length; at++) line[TIME_AT + at] = ts.charCodeAt(at)
}

function isShort({ actor, resource, userAgent }: AuditEvent): boolean {
  return actor.length + resource.length + userAgent.length <= AUDIT_USER_AGENT_CHARS_MAX
}

/** @param ts nanoseconds in decimal digits. @returns the line with its newline */
export function lineOf(ts: string, event: AuditEvent): string {
  const { actor, action, resource, collection, key, result, ip, userAgent, detail, count } = event
  // A check of a credential, as there is one with every request: one search through all of its texts.
  if (
    collection === undefined &&
    key === undefined &&
    detail === undefined &&
    count === undefined &&
    isShort(event) &&
    PLAIN.test(actor + resource + ip + userAgent + action)
  )
    return `{"ts":${ts},"actor":"${actor}","action":"${action}","resource":"${resource}","result":"${result}","ip":"${ip}","userAgent":"${userAgent}"}\n`
  return (
    `{"ts":${ts},"actor":${quotedField(actor)},"action":${quotedField(action)}` +
    `,"resource":${bounded(resource, AUDIT_RESOURCE_CHARS_MAX)}${optional('collection', collection)}${optional('key', key)},"result":"${result}","ip":${quotedField(ip)}` +
    `,"userAgent":${bounded(userAgent, AUDIT_USER_AGENT_CHARS_MAX)}${optional('detail', detail)}${count === undefined ? '' : `,"count":${count}`}}\n`
  )
}

/** @param line of an event with NO_TIME */
export function eventOfLine(line: string): AuditEvent {
  return JSON.parse(`{${line.slice(TIME_AT + NO_TIME.length + 1)}`) as AuditEvent
}

/** Digits of the nanoseconds of a line that `lineOf` has made. */
export function timeOf(line: string): string {
  return line.slice(TIME_AT, line.indexOf(','))
}

/** Nanoseconds of a millisecond. */
const NANOSECONDS = 1_000_000

/**
 * Times that increase strictly within the process: the milliseconds of the wall clock, and a count within a
 * millisecond. A clock that is set back stands still until it has caught up.
 */
export class EventClock {
  #ms = 0
  #within = 0

  constructor(readonly now: () => number = Date.now) {}

  /** @returns nanoseconds since the epoch in decimal digits */
  next(): string {
    const ms = this.now()
    if (ms > this.#ms) {
      this.#ms = ms
      this.#within = 0
    } else if (++this.#within === NANOSECONDS) {
      this.#ms += 1
      this.#within = 0
    }
    return `${this.#ms}${String(NANOSECONDS + this.#within).slice(1)}`
  }
}
