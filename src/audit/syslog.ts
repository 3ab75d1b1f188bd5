/**
 * The syslog exporter of the audit log: each event as one message of RFC 5424, whose text is the event as
 * JSON. Thread of the audit log.
 */
import { hostname } from 'node:os'
import { syslogConnection } from '../outbound/syslog.js'
import type { SyslogSettings } from '../wire/messages/audit_messages.js'
import type { Sink } from './exporter.js'

/** Severities: informational, and a warning for what failed. */
const INFO = 6
const WARNING = 4
/** Characters of MSGID. */
const ID_CHARS_MAX = 32
const HOST_CHARS_MAX = 255

export function syslogSink(settings: SyslogSettings): Sink {
  const { protocol, host, port, facility } = settings
  const connection = syslogConnection(settings)
  const origin = `${printable(hostname(), HOST_CHARS_MAX)} mds ${process.pid}`
  return {
    name: 'syslog',
    target: `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    deliver: (lines) => connection.send(lines.map((line) => syslogMessage(line, facility, origin))),
    close: () => connection.close(),
  }
}

/**
 * @param line an event as JSON
 * @param origin HOSTNAME, APP-NAME and PROCID
 */
function syslogMessage(line: string, facility: number, origin: string): string {
  const { action, result } = JSON.parse(line) as { readonly action: string; readonly result: string }
  const priority = facility * 8 + (result === 'ok' ? INFO : WARNING)
  return `<${priority}>1 ${timestampOf(line)} ${origin} ${printable(action, ID_CHARS_MAX)} - ${line}`
}

/** Microseconds are the finest that RFC 5424 has. */
function timestampOf(line: string): string {
  const digits = line.slice('{"ts":'.length, line.indexOf(','))
  const seconds = new Date(Number(digits.slice(0, -9)) * 1000).toISOString().slice(0, -'.000Z'.length)
  return `${seconds}.${digits.slice(-9, -3)}Z`
}

function printable(text: string, charsMax: number): string {
  const shown = text.replace(/[^\x21-\x7e]/g, '_').slice(0, charsMax)
  return shown === '' ? '-' : shown
}
