/**
 * Imports of dumps of wikis: what was imported so far, and where the next page is. An import with a job keeps
 * this in the job's record, which changes in the transactions that store the documents, so a resumed import
 * loses no page and stores none twice. Without a job the front end keeps it, and the same rules hold.
 */
import { BATCH_ERRORS_MAX } from '../limits/documents.js'
import type { IngestRecord } from './bulk_ingest.js'
import { shortened } from './bulk_ingest.js'

export type WikiRecord = IngestRecord & { readonly skipped: number }

/** A page, or pages that were left out, with the pages since the step before. */
export interface PageStep {
  readonly pages: number
  readonly skipped: number
  /** The page becomes the next document of the command. */
  readonly hasDocument: boolean
  /** Why the page can't be imported. Empty: it can, or was left out. */
  readonly problem: string
  readonly title: string
}

/** A batch of pages, in the order of the dump. */
export interface ImportPagesCommand<Document> {
  readonly kind: 'importPages'
  /** Id of the job; empty: none. */
  readonly job: string
  readonly collection: string
  readonly documents: readonly Document[]
  readonly steps: readonly PageStep[]
  /** Pages of the dump before this batch. */
  readonly after: number
  /** Without a job: what was imported so far. */
  readonly record: WikiRecord | null
  readonly maxPages: number
  /** The dump has no further pages. */
  readonly isLast: boolean
  /** Why the dump was read no further. Empty: it was read to its end. */
  readonly fault: string
}

export interface PageCounts {
  pages: number
  added: number
  updated: number
  skipped: number
  failed: number
  readonly errors: string[]
}

export const noCounts = (): PageCounts => ({ pages: 0, added: 0, updated: 0, skipped: 0, failed: 0, errors: [] })

export function beginWikiRecord(collection: string, submitter: string): WikiRecord {
  return {
    status: 'processing',
    collection,
    total: 0,
    processed: 0,
    added: 0,
    updated: 0,
    skipped: 0,
    failed: 0,
    submittedAt: 0,
    ...(submitter === '' ? {} : { submitter }),
  }
}

export function importedPages({ added, updated }: Pick<WikiRecord, 'added' | 'updated'>): number {
  return added + updated
}

/** What a batch, or a part of it, changes in the record. @param end of the whole import, if it ends here */
export function changedBy(
  record: WikiRecord,
  counts: PageCounts,
  now: number,
  { collectionId, end }: { readonly collectionId: number | undefined; readonly end: 'completed' | 'failed' | undefined },
): Partial<WikiRecord> {
  const total = record.total + counts.pages
  const errors = [...(record.errors ?? []), ...counts.errors].slice(0, BATCH_ERRORS_MAX).map(shortened)
  return {
    total,
    processed: total,
    added: record.added + counts.added,
    updated: record.updated + counts.updated,
    skipped: record.skipped + counts.skipped,
    failed: record.failed + counts.failed,
    startedAt: record.startedAt ?? now,
    ...(errors.length === 0 ? {} : { errors }),
    ...(collectionId === undefined ? {} : { collectionId }),
    ...(end === undefined ? { status: 'processing' } : { status: end, completedAt: now }),
  }
}
