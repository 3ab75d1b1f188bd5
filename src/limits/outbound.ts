/** Bounds of the HTTP requests that the server sends. */
import { KIB, MIB } from './units.js'

/** UTF-8 bytes of a URL that a client gives to the server: what browsers and proxies accept. */
export const OUTBOUND_URL_BYTES_MAX = 2048
/** Default time from the name look-up to the last byte of the answer, redirects included. */
export const OUTBOUND_MS_MAX = 10_000
/** Time for one address to accept the connection, TLS included. The total allows for two addresses. */
export const OUTBOUND_CONNECT_MS_MAX = 4_000
/** Addresses of one host that are tried. */
export const OUTBOUND_ADDRESSES_MAX = 4
/** Default bytes of an answer after decompression. */
export const OUTBOUND_BYTES_MAX = 10 * MIB
/** Bytes of the headers of an answer. */
export const OUTBOUND_HEADER_BYTES_MAX = 16 * KIB
/** Redirects that one request follows. */
export const OUTBOUND_REDIRECTS_MAX = 5
/** Entries of `SVC_OUTBOUND_ALLOWLIST`. Each is compared with every address. */
export const OUTBOUND_ALLOWED_MAX = 256
