/**
 * `decide`: turns a prepared command into entries. It runs on the write lane inside the write transaction,
 * where it sees every earlier command of its group. It stamps docid, LSN, times and revision number and
 * writes nothing. The caller applies the result at once. Identity rules: service-1, "Document".
 */
import { encodeDelete, encodeDrop, stampUpsert } from '../engine/search/index_batch.js'
import type { WriteTransaction } from '../store/apply.js'
import { isExpired } from '../store/documents/heads.js'
import { ENTRY_FLAGS } from '../store/entries/entry_kind.js'
import type { Head, HeadFields } from '../store/head.js'
import { collectionOfText, encodeHead, HEAD_FLAGS, jsonOfRecord, textOfHead } from '../store/head.js'
import type { BodyMove, PreparedDocument } from './commands.js'
import { codeMarksOf, isCodeDocument } from './documents/code_document.js'
import { documentId, requirePlainName } from './documents/identity.js'
import { trimBelowOnPut } from './revision_trim.js'
import type { Step } from './step.js'

export interface PutDecision {
  readonly steps: readonly Step[]
  readonly added: boolean
  /** JSON text of the new head, without content and closing brace. */
  readonly headJson: Buffer
}

/** A write of a whole document by identity: an update if the identity exists, else a new document. */
export function decidePut(transaction: WriteTransaction, collectionName: string, document: PreparedDocument): PutDecision {
  const { view } = transaction
  const known = view.collection(collectionName)
  if (known === undefined) requirePlainName('collection', collectionName)
  const collection = known?.id ?? transaction.nextCollection
  const identity = known === undefined ? undefined : view.identity(collection, document.key, document.lang)
  const old = identity === undefined ? undefined : view.headOf(collection, identity)
  if (identity === undefined) requirePlainName('lang', document.lang)
  const steps: Step[] = []
  let lsn = transaction.nextLsn
  const expired = old !== undefined && isExpired(old, view.now)
  if (expired) {
    // The document has expired, so readers no longer see it. The write creates a new document with its own
    // history.
    const { entry, ...rest } = deleteStep(transaction, lsn, old, document.key, document.lang, known?.name ?? '')
    steps.push({ ...rest, entry: { ...entry, origin: 'expiry', actor: null } })
    lsn++
  }
  const current = expired ? undefined : old
  const docid = current?.docid ?? transaction.counters(collection).nextDocid
  const fields = headFields(view.now, lsn, docid, current, document)
  const id = documentId(collectionName, document.key, document.lang)
  const head = encodeHead(fields, { id, key: document.key, lang: document.lang, meta: document.meta })
  const trimBelow = current === undefined ? 0 : trimBelowOnPut(transaction, current, document.flags)
  stampUpsert(document.index, { collection, docid, lsn, addedAt: fields.addedAt, updatedAt: fields.updatedAt })
  steps.push({
    entry: {
      kind: 'put',
      lsn,
      collection,
      docid,
      collectionName: known?.name ?? collectionName,
      key: document.key,
      lang: document.lang,
      head,
      trimBelow,
      object: bufferOf(document.object?.record),
      wantsVectors: document.embeds === true && isEmbeddedAgain(current, document),
      flags: flagsOf(document),
      ...(fields.updatedAt === view.now ? {} : { at: view.now }),
    },
    body: isKeptHere(document) && document.body.kind === 'new' ? document.body.record : undefined,
    indexOp: document.index,
    // An expired document is deleted by the step before.
    ...(expired ? {} : { present: { head: current, identity } }),
  })
  return { steps, added: current === undefined, headJson: jsonOfRecord(head) }
}

/**
 * Whether the document's vectors must be computed: the content is new, or it is now chunked differently.
 * Equal content that was sent again is detected when the document is processed.
 */
function isEmbeddedAgain(current: Head | undefined, { key, meta, body }: PreparedDocument): boolean {
  if (current === undefined || body.kind === 'new' || body.lsn !== current.bodyLsn) return true
  const isCode = (text: string): boolean => isCodeDocument(codeMarksOf(key, Object.entries(JSON.parse(text) as Record<string, string[]>)))
  return isCode(meta) !== isCode(current.meta.toString())
}

/**
 * A revision's body is always stored in the env. The body of any other state is stored there only if it has
 * no object.
 */
function isKeptHere({ object, flags }: PreparedDocument): boolean {
  return object === undefined || (flags & HEAD_FLAGS.revision) !== 0
}

/** Moves the body of the current state. Undefined if the state has changed since. */
export function decideMove(
  transaction: WriteTransaction,
  collection: number,
  { docid, bodyLsn, object, body }: BodyMove,
): Step | undefined {
  const head = transaction.isRetired(collection) ? undefined : transaction.view.headEvenExpired(collection, docid)
  if (head?.bodyLsn !== bodyLsn) return undefined
  // The body was in the env when this was prepared. Now the object is its only copy.
  if (object === null && body === null && transaction.view.objects.isElsewhere(head)) return undefined
  const entry = { kind: 'move', lsn: transaction.nextLsn, collection, docid, bodyLsn, object: bufferOf(object?.record) } as const
  return { entry, body: bufferOf(body) ?? undefined, indexOp: undefined }
}

/** A view, not a copy. */
function bufferOf(bytes: Uint8Array | null | undefined): Buffer | null {
  return bytes === undefined || bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function headFields(now: number, lsn: bigint, docid: number, current: Head | undefined, document: PreparedDocument): HeadFields {
  const { body } = document
  const { addedAt, updatedAt = now } = document.times ?? {}
  return {
    docid,
    revision: (current?.revision ?? 0) + 1,
    flags: document.flags,
    lsn,
    indexedLsn: lsn,
    bodyLsn: body.kind === 'new' ? lsn : body.lsn,
    bodyRawBytes: body.rawBytes,
    bodyStoredBytes: body.kind === 'new' ? body.record.length : body.storedBytes,
    expiresAt: document.expiresAt ?? expiryOf(now, current, document.ttl),
    addedAt: addedAt ?? current?.addedAt ?? now,
    // Times ascend with the numbers of a document's states, even if the client states other times: past
    // states are found by binary search.
    updatedAt: Math.max(updatedAt, document.times === undefined ? 0 : (current?.updatedAt ?? 0)),
    contentHash: document.contentHash,
    metaTriples: document.metaTriples,
  }
}

function expiryOf(now: number, current: Head | undefined, ttl: number | null): number {
  if (ttl === null) return current?.expiresAt ?? 0
  return ttl > 0 ? now + ttl : 0
}

/**
 * Sets a new expiry on an otherwise unchanged document: no revision, no re-indexing.
 * @param expiresAt Unix seconds, 0 for none
 */
export function decideExpiry(transaction: WriteTransaction, head: Head, expiresAt: number): PutDecision {
  const text = textOfHead(head)
  const lsn = transaction.nextLsn
  const record = encodeHead({ ...head, lsn, expiresAt }, text)
  const step: Step = {
    entry: { kind: 'expiry', lsn, collection: head.collection, docid: head.docid, head: record, at: transaction.view.now },
    body: undefined,
    indexOp: undefined,
  }
  return { steps: [step], added: false, headJson: jsonOfRecord(record) }
}

/** Flags of the parts of this state that consumers of the binlog skip. */
function flagsOf({ flags, skipsWebhooks }: PreparedDocument): number {
  const text = (flags & HEAD_FLAGS.textSkipped) === 0 ? 0 : ENTRY_FLAGS.skipsFullText
  return text | (skipsWebhooks === true ? ENTRY_FLAGS.skipsWebhooks : 0)
}

export function decideDelete(transaction: WriteTransaction, head: Head): Step {
  const text = textOfHead(head)
  const { key, lang } = text
  const name = transaction.view.nameOfCollection(head.collection, collectionOfText(text))
  return deleteStep(transaction, transaction.nextLsn, head, key, lang, name)
}

function deleteStep({ view }: WriteTransaction, lsn: bigint, head: Head, key: string, lang: string, collectionName: string): Step {
  const { collection, docid } = head
  return {
    entry: { kind: 'delete', lsn, collection, docid, key, lang, collectionName, at: view.now },
    body: undefined,
    indexOp: encodeDelete(collection, docid, lsn),
    ...(view.vectors.stamp(collection, docid) === undefined ? {} : { vectorOp: { kind: 'remove', collection, docid, lsn } }),
  }
}

export function decideDrop(transaction: WriteTransaction, collection: number, collectionName: string): Step {
  const lsn = transaction.nextLsn
  const deleted = { documents: transaction.counters(collection).documents, at: transaction.view.now }
  return {
    entry: { kind: 'drop', lsn, collection, docid: 0, collectionName, deleted },
    body: undefined,
    indexOp: encodeDrop(collection, lsn),
    vectorOp: { kind: 'drop', collection },
  }
}
