/** An import of a wiki, from the lane that has checked it to the front end that runs it. Pure types. */
import type { WikiImportOptions } from '../../conversion/wiki/import_options.js'

export interface WikiImport {
  readonly collection: string
  readonly options: WikiImportOptions
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
