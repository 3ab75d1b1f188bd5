/** The log lines of requests: all of them, or those that were slow. Front-end thread only. */
import { log, logsAccess, slowMs } from '../../telemetry/log.js'
import type { Exchange } from './exchange.js'

/** The query string is not logged, because it may contain confidential data. */
export function logRequest(exchange: Exchange, status: number, bytes: number, ms: number): void {
  const isSlow = slowMs() > 0 && ms > slowMs()
  if (!isSlow && !logsAccess()) return
  const { method, path, peer, proxies } = exchange
  const address = proxies === null ? {} : { address: exchange.clientAddress() }
  const fields = { method, path, status, bytes, ms: Math.round(ms * 10) / 10, peer, ...address }
  if (isSlow) log.warn('slow request', fields)
  else log.info('request', fields)
}
