/**
 * What is to be posted to webhooks: rows of the store with their payloads. The document is shown as the
 * change made it while that state exists, else as it is now. Of an encrypted collection it has neither text
 * nor metadata, unless its webhook asks for them. Runs on the bulk lane.
 */
import { ALL_COLLECTIONS } from '../../operations/row/collection_access.js'
import type { Delivery } from '../../store/deliveries/delivery_record.js'
import type { DocumentChange } from '../../store/entries/document_change.js'
import { decodeHead, type Head, textOfHead } from '../../store/head.js'
import { BodiesWanted } from '../../store/objects.js'
import { ByteWriter } from '../../store/rows/byte_writer.js'
import { noteDamage, tolerated } from '../../store/rows/noted_damage.js'
import type { View } from '../../store/view.js'
import { findWebhook, secretsOf, type Webhook, type WebhookSecrets } from './webhook.js'

/** Deliveries of one webhook in a page, so that a page has those of several. */
const PAGE_OF_HOOK_MAX = 64
/** Bytes of payloads in a page: about 10 ms of the lane. One may be larger. */
const PAGE_BYTES_WANTED = 4 * 1024 * 1024

const TYPES = { 'doc.added': 'insert', 'doc.updated': 'update', 'doc.deleted': 'delete' } as const

export interface WantedDeliveries {
  /** LSN of the last delivery that was taken, by webhook. */
  readonly after: Readonly<Record<string, number>>
  /** Webhooks that get nothing at present. */
  readonly skip: readonly string[]
  /** Tell the present targets of all webhooks in `after`, too: one may have changed. */
  readonly isChanged: boolean
  /** Deliveries that are sent again: webhook and LSN. */
  readonly again: readonly (readonly [hook: string, lsn: number])[]
  readonly count: number
}

export interface WebhookTarget {
  readonly hook: string
  readonly url: string
  /** The present one, and the one before while it signs, too. */
  readonly secrets: readonly string[]
  readonly headers: Readonly<Record<string, string>>
}

export interface DueDelivery {
  readonly hook: string
  readonly lsn: number
  readonly event: string
  /** Equal for all deliveries about one document, whose order is kept. Empty: about a whole collection. */
  readonly document: string
  readonly collection: number
  readonly attempts: number
  /** Unix milliseconds before which it is not sent. */
  readonly dueAt: number
  /** Null: it is not due, or it lies behind as many bytes as are taken at a time. */
  readonly body: Uint8Array | null
}

export interface FoundDeliveries {
  /** The webhooks of the deliveries. */
  readonly targets: readonly WebhookTarget[]
  /** Webhooks of the question that are not sent to any more: deleted, or their creators lost the right. */
  readonly gone: readonly string[]
  readonly deliveries: readonly DueDelivery[]
}

// Buffer of this thread, for one document at a time.
const writer = new ByteWriter()

/** @param maySend whether the webhook's creator may still administer its collection */
export function dueDeliveries(view: View, wanted: WantedDeliveries, maySend: (hook: Webhook) => boolean, nowMs: number): FoundDeliveries {
  const targets = new Map<string, WebhookTarget>()
  const deliveries: DueDelivery[] = []
  let bytes = 0
  const tell = (hook: Webhook): void => {
    if (!targets.has(hook.id)) targets.set(hook.id, targetOf(hook, secretsOf(view, hook.id), view.now))
  }
  const add = (hook: Webhook, rows: readonly Delivery[]): void => {
    for (const row of rows) {
      const isShown = row.dueAt <= nowMs && bytes < PAGE_BYTES_WANTED
      const body = isShown ? payloadOf(view, hook, row) : null
      bytes += body?.length ?? 0
      deliveries.push(dueOf(row, body))
    }
    if (rows.length > 0) tell(hook)
  }
  const gone: string[] = []
  for (const id of wanted.isChanged ? Object.keys(wanted.after) : []) {
    const hook = findWebhook(view, id)
    if (hook !== undefined && maySend(hook)) tell(hook)
    else gone.push(id)
  }
  for (const [id, lsn] of wanted.again) {
    const hook = findWebhook(view, id)
    const row = hook === undefined ? undefined : tolerated(() => view.deliveries.find(id, BigInt(lsn), 'waiting'))
    if (hook !== undefined && row !== undefined && maySend(hook)) add(hook, [row])
  }
  const skip = new Set(wanted.skip)
  for (const id of view.deliveries.hooksWith('waiting')) {
    const left = wanted.count - deliveries.length
    if (left <= 0 || bytes >= PAGE_BYTES_WANTED) break
    const hook = skip.has(id) ? undefined : findWebhook(view, id)
    if (hook === undefined || !maySend(hook)) continue
    add(hook, view.deliveries.of(id, 'waiting', BigInt(wanted.after[id] ?? 0), Math.min(left, PAGE_OF_HOOK_MAX)))
  }
  return { targets: [...targets.values()], gone, deliveries }
}

/** The name on which the creator must be an administrator. */
export function administered({ collection }: Webhook): string {
  return collection === '' ? ALL_COLLECTIONS : collection
}

function dueOf({ hook, lsn, event, collection, docid, attempts, dueAt }: Delivery, body: Uint8Array | null): DueDelivery {
  const document = docid === 0 ? '' : `${collection}/${docid}`
  return { hook, lsn: Number(lsn), event, document, collection, attempts, dueAt, body }
}

/** Without a secret, nothing could be signed: then the signature is that of an empty one, and is refused. */
function targetOf({ id, url }: Webhook, secrets: WebhookSecrets | undefined, now: number): WebhookTarget {
  const previous = secrets?.previous !== undefined && secrets.previous.until > now ? [secrets.previous.secret] : []
  return { hook: id, url, secrets: [secrets?.secret ?? '', ...previous], headers: secrets?.headers ?? {} }
}

function payloadOf(view: View, hook: Webhook, row: Delivery): Uint8Array {
  const { event, collectionName, at } = row
  const change = changeOf(view, row)
  const { key, lang } = identityOf(view, row, change)
  const deletedCount = change?.deletedCount
  const facts = {
    ...{ event, type: TYPES[event], collection: collectionName, key, lang, timestamp: at },
    ...(deletedCount === undefined ? {} : { detail: { deletedCount } }),
    // Of an encrypted collection, and the entry was trimmed: not to be taken for the collection as a whole.
    ...(key === '' && row.docid !== 0 ? { detail: { keyUnknown: true } } : {}),
  }
  const document = event === 'doc.deleted' ? undefined : documentOf(view, hook, row)
  if (document === undefined) return Buffer.from(JSON.stringify(facts))
  return Buffer.concat([Buffer.from(`${JSON.stringify(facts).slice(0, -1)},"document":`), document, Buffer.from('}')])
}

/** Undefined: the binlog does not reach back that far. */
export function changeOf(view: View, { lsn }: Delivery): DocumentChange | undefined {
  const [change] = view.binlog.changesAfter(lsn - 1n, 1).changes
  return change?.lsn === lsn ? change : undefined
}

/**
 * Of an encrypted collection the row has none: the entry has it, or the document, as long as one is there.
 */
function identityOf(
  view: View,
  { key, lang, collection, docid }: Delivery,
  change: DocumentChange | undefined,
): { readonly key: string; readonly lang: string } {
  if (key !== null && lang !== null) return { key, lang }
  if (change !== undefined) return change
  const head = tolerated(() => view.headEvenExpired(collection, docid))
  return head === undefined ? { key: '', lang: '' } : textOfHead(head)
}

/**
 * As the change made it, else as it is now. Undefined: it is gone, or can't be read: a document whose body is
 * damaged, was removed with its collection, or can't be fetched must not hold up the deliveries of others.
 */
function documentOf(view: View, hook: Webhook, row: Delivery): Buffer | undefined {
  const then = readable(() => stateOf(view, row))
  const shown = then === undefined ? undefined : readable(() => textOf(view, hook, row, then))
  if (shown !== undefined) return shown
  const now = readable(() => view.head(row.collection, row.docid))
  return now === undefined ? undefined : readable(() => textOf(view, hook, row, now))
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof BodiesWanted) return undefined
    noteDamage(error)
    return undefined
  }
}

function textOf(view: View, { includeSealed }: Webhook, row: Delivery, state: Head): Buffer {
  if (view.isSealed(row.collection) && !includeSealed) {
    const { id, key, lang } = textOfHead(state)
    const { addedAt, updatedAt, expiresAt } = state
    return Buffer.from(JSON.stringify({ id, key, lang, addedAt, updatedAt, ...(expiresAt === 0 ? {} : { expiresAt }) }))
  }
  writer.begin()
  view.writeDocument(state, writer, true)
  return Buffer.from(writer.view())
}

function stateOf(view: View, { lsn, collection }: Delivery): Head | undefined {
  const [entry] = view.binlog.entriesAfter(lsn - 1n, 1)
  return entry?.kind === 'put' && entry.lsn === lsn ? decodeHead(entry.head, collection, () => `head of entry ${lsn}`) : undefined
}
