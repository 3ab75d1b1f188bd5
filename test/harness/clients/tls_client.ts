/** One request over a TLS connection of its own, and what was negotiated. */
import { connect, type ConnectionOptions } from 'node:tls'

export interface TlsAnswer {
  /** 0: the connection ended without an answer. */
  readonly status: number
  readonly text: string
  /** The common name of the server's certificate. */
  readonly server: string
  readonly protocol: string
  readonly cipher: string
  /** Why there is no answer. */
  readonly reason: string
}

const REQUEST = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

/** Sends the bytes, by default a request, and reads until an answer without a body or the end. */
export function askOnce(port: number, options: ConnectionOptions, bytes: string | Buffer = REQUEST): Promise<TlsAnswer> {
  return new Promise((resolve) => {
    let text = ''
    let reason = ''
    let negotiated = { server: '', protocol: '', cipher: '' }
    const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ...options }, () => {
      const server = String(socket.getPeerCertificate().subject.CN)
      negotiated = { server, protocol: socket.getProtocol() ?? '', cipher: socket.getCipher().name }
      socket.write(bytes)
    })
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (isComplete(text)) socket.destroy()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => (reason = error.code ?? error.message))
    socket.on('close', () => resolve({ status: Number(text.slice(9, 12)), text, ...negotiated, reason }))
  })
}

function isComplete(text: string): boolean {
  const head = text.indexOf('\r\n\r\n')
  const length = /^content-length: (\d+)/im.exec(text)?.[1]
  return head >= 0 && length !== undefined && text.length - head - 4 >= Number(length)
}
