/**
 * A connection to a syslog server: datagrams (RFC 5426), TCP with octet counting (RFC 6587), or the same over
 * TLS (RFC 5425). It is opened by the first message and again after a failure. Used by the thread of the
 * audit log. The operator names the server, so its address is not checked.
 */
import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { connect, isIP, isIPv6, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** How long a syslog connection may take to open, or to accept what is written. */
const AUDIT_SYSLOG_MS_MAX = 5_000

interface SyslogTarget {
  readonly protocol: 'udp' | 'tcp' | 'tls'
  readonly host: string
  readonly port: number
}

interface SyslogConnection {
  /**
   * Resolves when the system has taken the messages.
   * @throws Error if there is no connection, or the server takes nothing in time
   */
  send(messages: readonly string[]): Promise<void>
  close(): void
}

export function syslogConnection(target: SyslogTarget): SyslogConnection {
  return target.protocol === 'udp' ? new DatagramSyslog(target) : new StreamSyslog(target)
}

class DatagramSyslog implements SyslogConnection {
  #socket: Datagrams | undefined

  constructor(readonly target: SyslogTarget) {}

  async send(messages: readonly string[]): Promise<void> {
    const { host, port } = this.target
    const address = isIP(host) === 0 ? (await lookup(host)).address : host
    const socket = (this.#socket ??= this.#open(isIPv6(address) ? 'udp6' : 'udp4'))
    for (const message of messages) {
      await new Promise<void>((resolve, reject) => {
        socket.send(message, port, address, (error) => (error === null ? resolve() : reject(error)))
      })
    }
  }

  close(): void {
    this.#socket?.close()
    this.#socket = undefined
  }

  /** Errors of a datagram reach its callback; those that belong to none must not end the process. */
  #open(type: 'udp4' | 'udp6'): Datagrams {
    return createSocket(type).on('error', () => undefined)
  }
}

class StreamSyslog implements SyslogConnection {
  #socket: Socket | undefined

  constructor(readonly target: SyslogTarget) {}

  async send(messages: readonly string[]): Promise<void> {
    const framed = messages.map((message) => `${Buffer.byteLength(message)} ${message}`).join('')
    const socket = (this.#socket ??= await this.#open())
    await this.#withLimit(socket, (settle) => socket.write(framed, (error) => settle(error ?? undefined)))
  }

  close(): void {
    this.#socket?.end()
    this.#socket = undefined
  }

  async #open(): Promise<Socket> {
    const { protocol, host, port } = this.target
    const servername = isIP(host) === 0 ? { servername: host } : {}
    const socket = protocol === 'tls' ? connectTls({ host, port, ...servername }) : connect({ host, port })
    const drop = (): void => {
      socket.destroy()
      if (this.#socket === socket) this.#socket = undefined
    }
    // Also between two messages, when the server goes. It sends nothing: reading detects that it has closed.
    socket.on('error', drop).on('close', drop).resume()
    await this.#withLimit(socket, (settle) => socket.once(protocol === 'tls' ? 'secureConnect' : 'connect', () => settle()))
    return socket
  }

  /** Ends the connection if it fails or is not ready in time. */
  async #withLimit(socket: Socket, begin: (settle: (error?: Error) => void) => void): Promise<void> {
    let late: NodeJS.Timeout | undefined
    let onError: (error: Error) => void = () => undefined
    const onClose = (): void => onError(new Error('the syslog server has closed the connection'))
    try {
      await new Promise<void>((resolve, reject) => {
        onError = reject
        late = setTimeout(() => reject(new Error(`the syslog server took nothing within ${AUDIT_SYSLOG_MS_MAX} ms`)), AUDIT_SYSLOG_MS_MAX)
        socket.once('error', onError).once('close', onClose)
        begin((error) => (error === undefined ? resolve() : reject(error)))
      })
    } catch (error) {
      socket.destroy()
      throw error
    } finally {
      clearTimeout(late)
      socket.off('error', onError).off('close', onClose)
    }
  }
}
