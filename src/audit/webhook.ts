/**
 * The webhook of the audit log: batches of events as one JSON object, by POST. Any 2xx means that they have
 * arrived. The operator has named the URL, so its host and port may be private. Thread of the audit log.
 */
import { KIB } from '../limits/units.js'
import { parseAllowed } from '../outbound/allowlist.js'
import { hostOf, portOf } from '../outbound/destination.js'
import { Outbound } from '../outbound/safe_fetch.js'
import type { WebhookSettings } from '../wire/messages/audit_messages.js'
import type { Sink } from './exporter.js'

/** Bytes of a webhook's answer that are read; its content is ignored. */
const AUDIT_WEBHOOK_ANSWER_BYTES_MAX = 16 * KIB

export function webhookSink({ url, headers, checksCertificate }: WebhookSettings): Sink {
  const address = new URL(url)
  const host = hostOf(address)
  const allowed = parseAllowed(`${host.includes(':') ? `[${host}]` : host}:${portOf(address)}`)
  const outbound = new Outbound({ allowed: allowed === undefined ? [] : [allowed], allowPrivate: false })
  const connections = outbound.connections(1, checksCertificate)
  const sent: Record<string, string> = { 'content-type': 'application/json' }
  for (let at = 0; at < headers.length; at += 2) sent[headers[at]!] = headers[at + 1]!
  return {
    name: 'webhook',
    // The query may have a token.
    target: `${address.origin}${address.pathname}`,
    async deliver(lines) {
      const body = `{"_mddb_event_type":"audit","count":${lines.length},"events":[${lines.join(',')}]}`
      const request = { url, method: 'POST', headers: sent, body, connections, redirectsMax: 0 } as const
      const { status } = await outbound.safeFetch({ ...request, bytesMax: AUDIT_WEBHOOK_ANSWER_BYTES_MAX, cut: true })
      if (status < 200 || status > 299) throw new Error(`the webhook answered ${status}`)
    },
    close: () => void connections.destroy(),
  }
}
