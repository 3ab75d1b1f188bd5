/** Bounds of TLS: certificate files, how they are watched, and handshakes. */
import { MIB } from './units.js'

/** Bytes of a certificate, key or CA file. A bundle of all public CAs has a quarter of that. */
export const TLS_FILE_BYTES_MAX = MIB
/** Signatures of the files are compared this often, for file systems that report no changes. */
export const TLS_WATCH_MS = 10_000
/**
 * Time between a reported change and the reading of the files. Tools write the certificate and the key one
 * after the other; within this time both are there.
 */
export const TLS_SETTLE_MS = 300
/** Folders watched at once: those of three files, each behind at most three symbolic links. */
export const TLS_FOLDERS_WATCHED_MAX = 12
/** A client that has not completed its handshake by then is disconnected. */
export const TLS_HANDSHAKE_MS_MAX = 10_000
/**
 * Handshakes at a time on one listener of node: the gate's, gRPC's, MCP's. A core completes some 1 000 in a
 * second.
 */
export const TLS_HANDSHAKES_MAX = 1_024
/** A client of the gate that takes nothing of an answer for this long is disconnected. */
export const TLS_STALL_MS_MAX = 60_000
/**
 * How long browsers use only HTTPS for the host after an answer: a year, the minimum of the lists that
 * browsers are delivered with.
 */
export const HSTS_SECONDS = 365 * 24 * 60 * 60
