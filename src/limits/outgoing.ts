/** Bounds of requests that the server sends. A part of src/limits.ts, through which it is imported. */
const KIB = 1024
const MIB = 1024 * KIB

/** UTF-8 bytes of an address that a client gives us: what browsers and proxies take. */
export const OUTBOUND_URL_BYTES_MAX = 2048
/** From the name look-up to the last byte of the answer, redirects included, where the caller says nothing else. */
export const OUTBOUND_MS_MAX = 10_000
/** Until one address has taken the connection, TLS included: two can be tried within the whole. */
export const OUTBOUND_CONNECT_MS_MAX = 4_000
/** Addresses of one host that are tried. */
export const OUTBOUND_ADDRESSES_MAX = 4
/** Bytes of an answer after inflation, where the caller says nothing else. */
export const OUTBOUND_BYTES_MAX = 10 * MIB
/** Bytes of an answer's headers. */
export const OUTBOUND_HEADER_BYTES_MAX = 16 * KIB
/** Redirects that one request follows. */
export const OUTBOUND_REDIRECTS_MAX = 5
/** Entries of `SVC_OUTBOUND_ALLOWLIST`: each is compared with every address. */
export const OUTBOUND_ALLOWED_MAX = 256
