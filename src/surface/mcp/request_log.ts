/**
 * A line of the log for each request of MCP, those of a batch included, where the operator wants them
 * (SVC_MCP_LOGGING_ENABLED): the method, the tool and how long it took. Never arguments, and never the query,
 * which may have a key.
 */
import type { Config } from '../../config/config.js'
import { log } from '../../telemetry/log.js'
import type { Exchange } from './http/exchange.js'

interface Noted {
  readonly method: string
  readonly tool: string
}

/** Names of tools. Anything else that a client sends is not logged. */
const TOOL = /^[\w.-]{1,64}$/
const METHOD = /^[\w/]{1,64}$/
const UNKNOWN: readonly Noted[] = [{ method: '', tool: '' }]

export class RequestLog {
  readonly #write: (message: string, fields: Parameters<typeof log.info>[1]) => void
  readonly #isOn: boolean
  readonly #noted = new WeakMap<object, Noted[]>()

  constructor({ mcpLoggingEnabled, mcpLoggingLevel }: Pick<Config, 'mcpLoggingEnabled' | 'mcpLoggingLevel'>) {
    this.#isOn = mcpLoggingEnabled
    this.#write = log[mcpLoggingLevel]
  }

  /** Called once for each request of a batch. Each has the time of the whole batch. */
  note(request: object, method: string, tool: unknown): void {
    if (!this.#isOn) return
    const name = method === 'tools/call' && typeof tool === 'string' && TOOL.test(tool) ? tool : ''
    const noted = { method: METHOD.test(method) ? method : '', tool: name }
    const before = this.#noted.get(request)
    if (before === undefined) this.#noted.set(request, [noted])
    else before.push(noted)
  }

  done(exchange: Exchange): void {
    if (!this.#isOn) return
    const { path, status, startedAt } = exchange
    this.write(exchange, { path, status, address: exchange.clientAddress() }, performance.now() - startedAt)
  }

  /** @param fields what the transport knows of the request */
  write(request: object, fields: object, ms: number): void {
    if (!this.#isOn) return
    for (const { method, tool } of this.#noted.get(request) ?? UNKNOWN) {
      const named = { ...(method === '' ? {} : { method }), ...(tool === '' ? {} : { operation: tool }) }
      this.#write('mcp request', { ...named, ...fields, ms: Math.round(ms * 10) / 10 })
    }
  }
}
