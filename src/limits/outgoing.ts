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

/** One request to an object store, until it is asked again. */
export const S3_ATTEMPT_MS_MAX = 4_000
/** All attempts for one object: a write that waits for it still ends before its own deadline. */
export const S3_MS_MAX = 10_000
/** Requests for one object, with a random wait of up to 0.1, 0.2 and 0.4 s between them. */
export const S3_ATTEMPTS_MAX = 4
export const S3_WAIT_MS_FIRST = 100
/** Connections that are kept to one store. Above, requests wait for one of them. */
export const S3_CONNECTIONS_MAX = 32
/** UTF-8 bytes of an object's key with its prefix; S3's. */
export const S3_KEY_BYTES_MAX = 1024
/** Bytes of an object: a stored body of the largest document, whose every byte is an escape of six. */
export const S3_OBJECT_BYTES_MAX = 97 * MIB
/** Keys of one page of a listing; S3's. */
export const S3_LISTED_MAX = 1000
/** Bytes of an answer that is not an object: a page of the longest keys, every byte escaped. */
export const S3_ANSWER_BYTES_MAX = 8 * MIB
