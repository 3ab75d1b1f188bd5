/**
 * Writes that build on a stored document. The change is applied to the state in a view, and the whole
 * document is prepared again. A read lane does this first. If the state changes before the commit, the write
 * lane repeats it inside its transaction, so that no update is lost.
 */
import { badRequest, serviceError } from '../../errors.js'
import { unescapeContent } from '../../store/body.js'
import type { Head } from '../../store/head.js'
import { HEAD_FLAGS, isOfCollection, textOfHead } from '../../store/head.js'
import { CorruptRecord } from '../../store/rows/record.js'
import type { View } from '../../store/view.js'
import type { Base, PreparedDocument, SharedBody, UpdateCommand, WantedRevision } from '../commands.js'
import { requireText } from '../documents/metadata.js'
import type { SettingsCache } from '../settings/collection_settings.js'
import type { PreparationTools } from './preparation.js'
import { prepareDocument } from './preparation.js'
import { writeRulesOfCollection } from './write_rules.js'

export interface PreparedChange {
  readonly base: Base
  readonly document: PreparedDocument
}

export interface ChangeTools extends PreparationTools {
  readonly settings: SettingsCache
}

/** Parts of a document to replace; null leaves a part as it is. */
interface DocumentChange {
  readonly meta: Readonly<Record<string, readonly string[]>> | null
  readonly contentMd: string | null
  readonly ttl: number | null
  /** Default: the new state is kept as a revision. */
  readonly saveRevision?: boolean
}

/** @throws ServiceError 404 if no document has this spelling */
export function findDocument(view: View, collectionName: string, key: string, lang: string): Head {
  const collection = view.collection(collectionName)
  const head = collection === undefined ? undefined : view.find(collection.id, key, lang)
  if (head === undefined) throw serviceError('notFound')
  requireCollection(head, collectionName)
  return head
}

/** @throws CorruptRecord if a damaged row has led to the document of another collection */
export function requireCollection(head: Head, name: string): void {
  if (!isOfCollection(head, name)) throw new CorruptRecord(`head ${head.collection}/${head.docid}`, 'it is of another collection')
}

export function prepareUpdate(tools: ChangeTools, view: View, head: Head, change: DocumentChange): PreparedChange {
  const text = textOfHead(head)
  const contentMd = change.contentMd ?? unescapeContent(view.escapedContent(head))
  const document = prepareDocument(tools, {
    key: text.key,
    lang: text.lang,
    meta: change.meta ?? text.metaValues,
    rules: writeRulesOfCollection(tools.settings, view, head.collection),
    contentMd,
    ttl: change.ttl,
    saveRevision: change.saveRevision ?? true,
    // A body that is stored only in a storage backend belongs to a state that was not a revision. This state
    // becomes a revision, so its body must be in the env and is not shared.
    ...(change.contentMd === null && !view.objects.isElsewhere(head) ? { sharedBody: bodyOf(head) } : {}),
    answered: true,
  })
  return { base: { docid: head.docid, lsn: head.lsn }, document }
}

/** The revision becomes the document's state again, as a new revision. The expiry does not change. */
export function prepareRestore(tools: ChangeTools, view: View, head: Head, wanted: WantedRevision): PreparedChange {
  const revision = findRevision(view, head, wanted)
  const text = textOfHead(head)
  const document = prepareDocument(tools, {
    key: text.key,
    lang: text.lang,
    meta: textOfHead(revision).metaValues,
    rules: writeRulesOfCollection(tools.settings, view, head.collection),
    contentMd: unescapeContent(view.escapedContent(revision)),
    ttl: null,
    saveRevision: true,
    // A body stored as a delta would slow down every read of the document. It is not shared; a whole body is
    // written.
    ...(view.isWhole(revision) ? { sharedBody: bodyOf(revision) } : {}),
    answered: true,
  })
  return { base: { docid: head.docid, lsn: head.lsn }, document }
}

/**
 * All states of a document that count as revisions, newest first; the current one is the newest. Read one at
 * a time, because there may be a million.
 */
export function* revisionsOf(view: View, head: Head): Generator<Head> {
  if ((head.flags & HEAD_FLAGS.revision) !== 0) yield head
  yield* view.revisions.of(head.collection, head.docid)
}

function findRevision(view: View, head: Head, wanted: WantedRevision): Head {
  for (const state of revisionsOf(view, head))
    if (state.updatedAt === wanted.timestamp && (wanted.revision === null || state.revision === wanted.revision)) return state
  throw serviceError('notFound')
}

function bodyOf(head: Head): SharedBody {
  return { kind: 'shared', lsn: head.bodyLsn, rawBytes: head.bodyRawBytes, storedBytes: head.bodyStoredBytes }
}

/**
 * The change that a command was prepared from. The content is recovered from its escaped form, because a
 * string would lose lone surrogates when passed between threads.
 */
export function changeOf({ replaces, document }: UpdateCommand): DocumentChange {
  return {
    meta: replaces.meta ? (JSON.parse(document.meta) as DocumentChange['meta']) : null,
    contentMd: replaces.contentMd ? unescapeContent(document.escaped) : null,
    ttl: document.ttl,
    saveRevision: (document.flags & HEAD_FLAGS.revision) !== 0,
  }
}

/**
 * The change that a PATCH asks for. At least one part must be given. `{}` clears the metadata. null counts as
 * absent, as everywhere.
 */
export function parseChange(input: {
  readonly meta?: unknown
  readonly contentMd?: string | null
  readonly ttl?: number | null
}): DocumentChange {
  const change: DocumentChange = {
    meta: (input.meta ?? null) as DocumentChange['meta'],
    contentMd: input.contentMd ?? null,
    ttl: input.ttl ?? null,
  }
  if (change.meta === null && change.contentMd === null && change.ttl === null) throw serviceError('nothingToUpdate')
  if (change.ttl !== null && change.ttl < 0) throw badRequest('invalid ttl')
  requireText(change.contentMd, change.meta)
  return change
}
