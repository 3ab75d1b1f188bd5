/** An import of a wiki, from the lane that has checked it to the front end that runs it. Pure types. */

/** What the client asked for. Part of a job's record, not shown. */
export interface WikiOptions {
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

export interface WikiImport {
  readonly collection: string
  readonly options: WikiOptions
  readonly profile: string
  /** What was imported so far: nothing. Its form is that of src/domain/wiki_import.ts. */
  readonly record: object
  /** Name of the dump in the data directory, and its bytes. */
  readonly spooled: string
  readonly bytes: number
  /** It is to be answered at once, and goes on as a job. */
  readonly isJob: boolean
  /** Name of the user; empty: access control is off. */
  readonly submitter: string
}
