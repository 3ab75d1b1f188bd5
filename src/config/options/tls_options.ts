/**
 * The options of TLS, a part of the table of options (options.ts). The files that they name are read and
 * checked by src/surface/tls. Pure data; main thread, at start.
 */
import type { Option } from './option.js'
import { parseBoolean, parseText, parseWord } from './values.js'

export interface TlsOptionValues {
  readonly tlsEnabled: boolean
  /** PEM file: the certificate of the server, then those of its issuers. */
  readonly tlsCert: string
  /** PEM file: the private key of the certificate, without a passphrase. */
  readonly tlsKey: string
  /** PEM file: the CAs of the certificates of clients. Empty: clients are not asked for one. */
  readonly tlsClientCa: string
  readonly tlsClientAuth: 'require' | 'request'
  /** `SVC_PRODUCTION=true` starts without TLS, because a proxy in front of the server has it. */
  readonly tlsInsecureOk: boolean
}

export const TLS_OPTIONS: { readonly [Name in keyof TlsOptionValues]: Option<TlsOptionValues[Name]> } = {
  tlsEnabled: {
    flag: 'tls',
    variables: ['SVC_TLS_ENABLED'],
    yaml: ['tls.enabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'serve HTTPS only, by TLS 1.2 or 1.3; needs a certificate and its key',
  },
  tlsCert: {
    flag: 'tls-cert',
    variables: ['SVC_TLS_CERT'],
    yaml: ['tls.cert'],
    fallback: '',
    parse: parseText,
    help: 'PEM file of the certificate, followed by those of its issuers; read again when it changes and on SIGHUP',
  },
  tlsKey: {
    flag: 'tls-key',
    variables: ['SVC_TLS_KEY'],
    yaml: ['tls.key'],
    fallback: '',
    parse: parseText,
    help: 'PEM file of the private key, without a passphrase',
  },
  tlsClientCa: {
    flag: 'tls-client-ca',
    variables: ['SVC_TLS_CLIENT_CA'],
    yaml: ['tls.clientCa'],
    fallback: '',
    parse: parseText,
    help: 'PEM file of the CAs whose certificates clients may present; default: clients are not asked for a certificate',
  },
  tlsClientAuth: {
    flag: 'tls-client-auth',
    variables: ['SVC_TLS_CLIENT_AUTH'],
    yaml: ['tls.clientAuth'],
    fallback: 'require',
    parse: parseWord(['require', 'request'] as const),
    help: 'with a client CA: require refuses clients without a certificate, request refuses only those with an invalid one',
  },
  tlsInsecureOk: {
    flag: 'tls-insecure-ok',
    variables: ['SVC_TLS_INSECURE_OK'],
    yaml: ['tls.insecureOk'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'for a production server behind a proxy that has TLS: start without TLS',
  },
}
