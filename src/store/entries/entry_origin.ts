/** Where a binlog entry comes from. Layout: docs/formats/binlog.md. */

/**
 * The origin of an entry, in the order of the codes on disk: a request, the expiry of a document, a bulk
 * ingest, the binlog of another server, upkeep that the server does unasked.
 */
export const ENTRY_ORIGINS = ['request', 'expiry', 'import', 'replication', 'upkeep'] as const
export type EntryOrigin = (typeof ENTRY_ORIGINS)[number]
