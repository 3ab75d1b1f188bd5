/**
 * TLS of the listeners that node serves, in threads of surfaces beside HTTP: the pair in force, and which
 * certificates of clients are accepted. The same rules as those of the listener of HTTP
 * (http/connections/tls_apps.ts, http/gate).
 */
import { readFileSync } from 'node:fs'
import type { SecureContextOptions, TlsOptions, TLSSocket } from 'node:tls'
import type { Config } from '../../config/config.js'
import { log } from '../../telemetry/log.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import { TLS12_CIPHERS } from './ciphers.js'

interface Renewable {
  setSecureContext(context: SecureContextOptions): void
}

interface Accepting {
  on(event: 'secureConnection', listener: (socket: TLSSocket) => void): unknown
}

/** Options of a listener. */
export function listenerOptions(files: TlsFiles, { tlsClientAuth, limits }: Config): TlsOptions {
  const clients = files.clientCa === null ? {} : { requestCert: true, rejectUnauthorized: tlsClientAuth === 'require' }
  return { ...contextOf(files), ...clients, handshakeTimeout: limits.TLS_HANDSHAKE_MS_MAX }
}

/**
 * Ends connections of clients that have shown a certificate which no client CA has signed. Without `require`,
 * a client may have none, but not a wrong one. Called before others listen for connections.
 */
export function refuseWrongCertificates(server: Accepting, { clientCa }: TlsFiles): void {
  if (clientCa === null) return
  server.on('secureConnection', (socket) => {
    if (!socket.authorized && Object.keys(socket.getPeerCertificate()).length > 0) socket.destroy()
  })
}

/** Connections are accepted with this pair from now on; those that are open keep theirs. */
export function renewPair(server: Renewable, files: TlsFiles): void {
  try {
    server.setSecureContext(contextOf(files))
  } catch (error) {
    log.error('TLS: the certificate stays as it is', { reason: error })
  }
}

function contextOf({ cert, key, clientCa }: TlsFiles): SecureContextOptions {
  const ca = clientCa === null ? {} : { ca: readFileSync(clientCa) }
  return { cert: readFileSync(cert), key: readFileSync(key), ...ca, minVersion: 'TLSv1.2', ciphers: TLS12_CIPHERS }
}
