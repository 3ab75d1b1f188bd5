/**
 * Reads and checks the certificate, the key and the CAs of clients. What does not fit together is refused in
 * one line, before anything listens with it. Front-end thread, at start and when the files change.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { TlsOptionValues } from '../../config/options/tls_options.js'
import { MIB } from '../../limits/units.js'

/** Bytes of a certificate, key or CA file. A bundle of all public CAs has a quarter of that. */
const TLS_FILE_BYTES_MAX = MIB

type TlsPaths = Pick<TlsOptionValues, 'tlsCert' | 'tlsKey' | 'tlsClientCa'>

/** The contents of the files, checked. */
export interface TlsTexts {
  readonly cert: Buffer
  readonly key: Buffer
  /** Null: clients are not asked for a certificate. */
  readonly clientCa: Buffer | null
  /** The end of the validity of the server's certificate. */
  readonly validTo: Date
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** @throws Error with a one-line message that names the option and the file, never their contents */
export function readTlsTexts({ tlsCert, tlsKey, tlsClientCa }: TlsPaths): TlsTexts {
  if (tlsCert === '' || tlsKey === '') throw new Error('SVC_TLS_ENABLED needs SVC_TLS_CERT and SVC_TLS_KEY')
  const cert = readBounded('SVC_TLS_CERT', tlsCert)
  const key = readBounded('SVC_TLS_KEY', tlsKey)
  const clientCa = tlsClientCa === '' ? null : readBounded('SVC_TLS_CLIENT_CA', tlsClientCa)
  const [own] = certificatesOf('SVC_TLS_CERT', tlsCert, cert)
  if (!own.checkPrivateKey(privateKeyOf(tlsKey, key)))
    throw new Error(`SVC_TLS_KEY ${tlsKey} is not the key of the certificate in ${tlsCert}`)
  if (clientCa !== null) certificatesOf('SVC_TLS_CLIENT_CA', tlsClientCa, clientCa)
  try {
    createSecureContext({ cert, key, ...(clientCa === null ? {} : { ca: clientCa }) })
  } catch (cause) {
    throw new Error(`SVC_TLS_CERT ${tlsCert} can't be used: ${firstLineOf(cause)}`, { cause })
  }
  return { cert, key, clientCa, validTo: new Date(own.validTo) }
}

function readBounded(option: string, path: string): Buffer {
  try {
    if (statSync(path).size > TLS_FILE_BYTES_MAX) throw new Error(`larger than ${TLS_FILE_BYTES_MAX} bytes`)
    return readFileSync(path)
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message
    throw new Error(`${option} ${path} can't be read: ${reason}`, { cause })
  }
}

function certificatesOf(option: string, path: string, pem: Buffer): readonly [X509Certificate, ...X509Certificate[]] {
  try {
    const [first, ...others] = [...pem.toString('latin1').matchAll(CERTIFICATE)].map(([block]) => new X509Certificate(block))
    if (first !== undefined) return [first, ...others]
  } catch {
    // The same line as for a file without certificates.
  }
  throw new Error(`${option} ${path} is not a PEM file of certificates`)
}

function privateKeyOf(path: string, pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new Error(`SVC_TLS_KEY ${path} is not a PEM file of a private key without a passphrase`, { cause })
  }
}

function firstLineOf(cause: unknown): string {
  return (cause as Error).message.split('\n')[0] ?? ''
}
