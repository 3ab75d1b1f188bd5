/**
 * A page of the change feed: what the entries behind a position have changed, encoded once for all clients.
 * Runs on a read lane, on one snapshot. Decision: docs/decisions/interfaces/change-feed.md.
 */
import { KIB } from '../../limits/units.js'
import { type FeedPosition, printPosition } from '../../operations/row/feed_position.js'
import type { BinlogEvent } from '../../store/binlog/binlog_view.js'
import type { DocumentChange } from '../../store/entries/document_change.js'
import type { Job } from '../../store/jobs.js'
import { ByteWriter } from '../../store/rows/byte_writer.js'
import { CorruptRecord } from '../../store/rows/record.js'
import type { View } from '../../store/view.js'
import { showIngest } from '../bulk_ingest.js'
import { isInBinlog, presentPosition } from './feed_events.js'
import type { ChangeEvent, FeedPage, JobNews } from './feed_types.js'

/** Entries of the binlog that a page covers: 2 ms, if each is a change. */
const FEED_PAGE_ENTRIES_MAX = 256
/** Characters of a page after which it ends, and has one event at least. */
const FEED_PAGE_CHARS_WANTED = 256 * KIB
/** A longer document is left out of its event: an event must fit the bound of what a client has not read. */
const FEED_DOCUMENT_BYTES_MAX = 512 * KIB

/** @param withDocuments whether events have the document as it is now */
export function feedPage(view: View, from: FeedPosition, withDocuments: boolean): FeedPage {
  const isReset = !isInBinlog(view, from)
  const { trimmedLsn } = view.storeCounters()
  const present = presentPosition(view)
  const after = isReset ? Number(trimmedLsn) : from.lsn
  const { events: found, lsn: end } = view.binlog.eventsAfter(BigInt(after), FEED_PAGE_ENTRIES_MAX)
  const events: (ChangeEvent | JobNews)[] = []
  let chars = 0
  let lsn = Number(end)
  for (const event of found) {
    if (chars >= FEED_PAGE_CHARS_WANTED) {
      lsn = Number(event.lsn) - 1
      break
    }
    const encoded = encode(view, event, present.epoch, withDocuments)
    chars += 'text' in encoded ? encoded.text.length : 0
    events.push(encoded)
  }
  return { epoch: present.epoch, isReset, after, lsn, last: present.lsn, events }
}

function encode(view: View, { lsn, change, job }: BinlogEvent, epoch: string, withDocuments: boolean): ChangeEvent | JobNews {
  if (job !== undefined) return newsOf(job, Number(lsn))
  return changeEvent(view, change as DocumentChange, epoch, withDocuments)
}

function newsOf(job: Job, lsn: number): JobNews {
  const { status, collection } = job.fields as { readonly status: string; readonly collection?: string }
  return { lsn, job: job.id, collection: collection ?? '', status, isNew: Number(job.createdLsn) === lsn, record: showIngest(job) }
}

function changeEvent(view: View, change: DocumentChange, epoch: string, withDocuments: boolean): ChangeEvent {
  const { event, type, collectionName: collection, key, lang, timestamp, deletedCount } = change
  const lsn = Number(change.lsn)
  const detail = deletedCount === undefined ? {} : { detail: { deletedCount } }
  const text = JSON.stringify({ event, type, collection, key, lang, timestamp, ...detail })
  const document = withDocuments && type !== 'delete' ? documentOf(view, change) : ''
  const data = document === '' ? text : `${text.slice(0, -1)},${document}}`
  return { lsn, event, collection, key, text: `id: ${printPosition({ lsn, epoch })}\nevent: ${event}\ndata: ${data}\n\n` }
}

/** Members of the event; empty: the document has been deleted since, or is damaged. */
function documentOf(view: View, { collection, docid }: DocumentChange): string {
  try {
    const head = view.head(collection, docid)
    if (head === undefined) return ''
    if (head.bodyRawBytes + head.json.length > FEED_DOCUMENT_BYTES_MAX) return '"documentTooLarge":true'
    const out = new ByteWriter()
    view.writeDocument(head, out, true)
    return `"document":${out.view().toString('utf8')}`
  } catch (error) {
    // One damaged document must not end the feed.
    if (!(error instanceof CorruptRecord)) throw error
    return ''
  }
}
