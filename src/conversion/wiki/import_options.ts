/** The options of an import of a wiki by a server. Pure types. */

/** What the client asked for. Part of a job's record, not shown. */
export interface WikiImportOptions {
  readonly lang: string
  readonly namespaces: readonly number[]
  readonly skipRedirects: boolean
  readonly skipFts: boolean
  /** Unchanged pages are skipped, and no revisions are kept. */
  readonly fast: boolean
  /** Imported pages; 0: any number. */
  readonly maxPages: number
  readonly batchSize: number
}
