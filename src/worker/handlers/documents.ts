/**
 * Documents: add, get, update, delete and operations on one document. Reads answer from stored bytes. Writes
 * are prepared here and decided on the write lane.
 */
import type { Command } from '../../domain/commands.js'
import type { PreparedDocument, StatedTimes, UpdateCommand } from '../../domain/commands.js'
import { checkIdentity } from '../../domain/documents/identity.js'
import { requireText } from '../../domain/documents/metadata.js'
import { readSecond, stateAsOf } from '../../domain/documents/past_states.js'
import { appendPlain } from '../../domain/documents/plain_document.js'
import { Template } from '../../domain/documents/template.js'
import { findDocument, parseChange, prepareUpdate } from '../../domain/writes/changes.js'
import { checkTtl, prepareDocument } from '../../domain/writes/preparation.js'
import { NO_RULES, type WriteRules } from '../../domain/writes/write_rules.js'
import { badRequest, ServiceError, serviceError } from '../../errors.js'
import { BATCH_DOCUMENTS_MAX } from '../../limits/documents.js'
import {
  add as addRow,
  addBatch as addBatchRow,
  deleteBatch as deleteBatchRow,
  deleteDocument as deleteRow,
  docMeta as docMetaRow,
  get as getRow,
  setTtl as setTtlRow,
  update as updateRow,
  updateBatch as updateBatchRow,
} from '../../operations/documents/documents.js'
import type { InputOf } from '../../operations/row/operation.js'
import type { Head } from '../../store/head.js'
import { HEAD_FLAGS } from '../../store/head.js'
import { BodiesWanted } from '../../store/objects.js'
import { CorruptRecord } from '../../store/rows/record.js'
import type { View } from '../../store/view.js'
import type { Answer } from '../../wire/answer.js'
import type { StoreFirst } from '../../wire/messages/messages.js'
import { countAccess } from '../request/access_count.js'
import { type BoundHandler, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'
import { commandOf } from '../request/storage.js'

/** Entries of `env` in /v1/get. */
const TEMPLATE_VARIABLES_MAX = 256

function prepareAdd(lane: LaneContext, input: InputOf<typeof addRow>): Command | StoreFirst {
  requireText(input.contentMd, input.meta)
  const rules = rulesOf(lane, input.collection)
  const { meta, ttl = 0, skipRevision = false } = input
  const document = prepareDocument(lane, { ...input, meta, rules, ttl, saveRevision: !skipRevision, answered: true })
  return commandOf(lane, { kind: 'add', collection: input.collection, document })
}

export function rulesOf(lane: LaneContext, collection: string): WriteRules {
  return lane.collections.find(collection)?.rules ?? NO_RULES
}

function prepareAddBatch(lane: LaneContext, input: InputOf<typeof addBatchRow>, request: RequestContext): Command | StoreFirst {
  checkBatch(input.documents)
  const rules = rulesOf(lane, input.collection)
  const documents: PreparedDocument[] = []
  const errors: string[] = []
  input.documents.forEach((item, index) => {
    if (request.shouldStop()) throw serviceError('deadline')
    try {
      documents.push(prepareItem(lane, rules, item, input.keepTimes === true))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      errors.push(`documents[${index}]: ${error.message}`)
    }
  })
  return commandOf(lane, { kind: 'addBatch', collection: input.collection, documents, errors })
}

/** @throws ServiceError 400 */
export function checkBatch(documents: readonly unknown[]): void {
  if (documents.length > BATCH_DOCUMENTS_MAX)
    throw badRequest(`invalid documents: ${documents.length}, at most ${BATCH_DOCUMENTS_MAX} are allowed`)
}

/**
 * Prepares one document of a batch, independently of the others: any error in it is an error of this document
 * only.
 */
export function prepareItem(lane: LaneContext, rules: WriteRules, item: unknown, keepsTimes: boolean): PreparedDocument {
  const { key, lang, contentMd, meta, ttl, saveRevision, expiresAt, addedAt, updatedAt } = fieldsOf(item)
  if (isMissing(key) || isMissing(lang) || contentMd === undefined || contentMd === null) throw serviceError('missingFields')
  if (typeof key !== 'string') throw badRequest('invalid key')
  if (typeof lang !== 'string') throw badRequest('invalid lang')
  if (typeof contentMd !== 'string') throw badRequest('invalid contentMd')
  if (typeof (ttl ?? 0) !== 'number') throw badRequest('invalid ttl')
  const expiry = secondOf('expiresAt', expiresAt)
  if (typeof (saveRevision ?? true) !== 'boolean') throw badRequest('invalid saveRevision')
  requireText(contentMd, meta)
  return prepareDocument(lane, {
    key,
    lang,
    contentMd,
    meta,
    rules,
    ttl: (ttl ?? 0) as number,
    ...(expiry === undefined ? {} : { expiresAt: expiry }),
    ...(keepsTimes ? { times: timesOf(addedAt, updatedAt) } : {}),
    saveRevision: (saveRevision ?? true) as boolean,
    answered: false,
  })
}

function timesOf(addedAt: unknown, updatedAt: unknown): StatedTimes {
  const [added, updated] = [secondOf('addedAt', addedAt), secondOf('updatedAt', updatedAt)]
  return { ...(added === undefined ? {} : { addedAt: added }), ...(updated === undefined ? {} : { updatedAt: updated }) }
}

function secondOf(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') throw badRequest(`invalid ${name}`)
  return value
}

function fieldsOf(item: unknown): Readonly<Record<string, unknown>> {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw badRequest('an object is expected')
  return item as Record<string, unknown>
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function get(lane: LaneContext, input: InputOf<typeof getRow>, request: RequestContext): Answer {
  return lane.store.read((view) => {
    const values = parseTemplateValues(input.env)
    const out = lane.out.begin()
    const plain = input.asOf === undefined && values.length === 0 ? appendPlain(view, input, out) : undefined
    if (plain !== undefined) {
      countAccess(lane, view, plain)
      return { body: out.view() }
    }
    const present = findDocument(view, input.collection, input.key, input.lang)
    const head = input.asOf === undefined ? present : stateAsOf(view, present, readSecond('asOf', input.asOf))
    if (values.length === 0 || (head.flags & HEAD_FLAGS.template) === 0) view.writeDocument(head, out, true)
    else {
      out.bytes(head.json)
      out.ascii(',"contentMd":"')
      new Template(values).fill(view.escapedContent(head), out, () => {
        if (request.shouldStop()) throw serviceError('deadline')
      })
      out.ascii('"}')
    }
    countAccess(lane, view, head)
    return { body: out.view() }
  })
}

function parseTemplateValues(env: InputOf<typeof getRow>['env']): readonly (readonly [string, string])[] {
  const entries = Object.entries(env ?? {})
  if (entries.length > TEMPLATE_VARIABLES_MAX)
    throw badRequest(`invalid env: ${entries.length} variables, at most ${TEMPLATE_VARIABLES_MAX} are allowed`)
  return entries.map(([name, value]: readonly [string, unknown]) => {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') throw badRequest(`invalid env.${name}`)
    return [name, String(value)]
  })
}

function docMeta(lane: LaneContext, input: InputOf<typeof docMetaRow>): Answer {
  return lane.store.read((view) => {
    const head = findDocument(view, input.collection, input.key, input.lang || 'en')
    const out = lane.out.begin()
    view.writeDocument(head, out, false)
    return { body: out.view() }
  })
}

function update(lane: LaneContext, input: InputOf<typeof updateRow>): Command | StoreFirst {
  const { collection, key, lang } = input
  const change = parseChange(input)
  const prepared = lane.store.read((view) => prepareUpdate(lane, view, findDocument(view, collection, key, lang), change))
  const replaces = { meta: change.meta !== null, contentMd: change.contentMd !== null }
  return commandOf(lane, { kind: 'update', collection, key, lang, replaces, ...prepared })
}

function updateBatch(lane: LaneContext, input: InputOf<typeof updateBatchRow>, request: RequestContext): Command | StoreFirst {
  checkBatch(input.documents)
  const { collection } = input
  const updates: UpdateCommand[] = []
  const errors: string[] = []
  let notFound = 0
  input.documents.forEach((item, index) => {
    if (request.shouldStop()) throw serviceError('deadline')
    try {
      updates.push(prepareBatchUpdate(lane, collection, item))
    } catch (error) {
      if (error instanceof BodiesWanted)
        lane.store.read((view) => view.objects.wantAll(error, keptContents(view, collection, input.documents)))
      if (!(error instanceof ServiceError || error instanceof CorruptRecord)) throw error
      if (error instanceof ServiceError && error.code === 'notFound') notFound += 1
      else errors.push(`documents[${index}]: ${error.message}`)
    }
  })
  return commandOf(lane, { kind: 'updateBatch', collection, updates, notFound, errors })
}

/** The present states of the documents of a batch whose content stays. */
function* keptContents(view: View, collectionName: string, documents: readonly unknown[]): Generator<Head> {
  const collection = view.collection(collectionName)
  if (collection === undefined) return
  for (const item of documents) {
    if (typeof item !== 'object' || item === null) continue
    const { key, lang, contentMd } = fieldsOf(item)
    if (typeof key !== 'string' || typeof lang !== 'string' || typeof contentMd === 'string') continue
    const head = view.find(collection.id, key, lang)
    if (head !== undefined) yield head
  }
}

function prepareBatchUpdate(lane: LaneContext, collection: string, item: unknown): UpdateCommand {
  const [key, lang] = identityOf(item)
  const { contentMd, meta, saveRevision } = fieldsOf(item)
  if (typeof (contentMd ?? '') !== 'string') throw badRequest('invalid contentMd')
  if (typeof (saveRevision ?? true) !== 'boolean') throw badRequest('invalid saveRevision')
  const change = {
    ...parseChange({ meta, contentMd: (contentMd ?? null) as string | null }),
    saveRevision: (saveRevision ?? true) as boolean,
  }
  const prepared = lane.store.read((view) => prepareUpdate(lane, view, findDocument(view, collection, key, lang), change))
  return {
    kind: 'update',
    collection,
    key,
    lang,
    replaces: { meta: change.meta !== null, contentMd: change.contentMd !== null },
    ...prepared,
  }
}

function remove(_lane: LaneContext, { collection, key, lang }: InputOf<typeof deleteRow>): Command {
  return { kind: 'delete', collection, key, lang }
}

function removeBatch(_lane: LaneContext, input: InputOf<typeof deleteBatchRow>): Command {
  checkBatch(input.documents)
  const documents: (readonly [string, string])[] = []
  const errors: string[] = []
  input.documents.forEach((item, index) => {
    try {
      documents.push(identityOf(item))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      errors.push(`documents[${index}]: ${error.message}`)
    }
  })
  return { kind: 'deleteBatch', collection: input.collection, documents, errors }
}

function identityOf(item: unknown): readonly [key: string, lang: string] {
  const { key, lang } = fieldsOf(item)
  if (typeof key !== 'string' || typeof lang !== 'string' || key === '' || lang === '') throw badRequest('missing key or lang')
  checkIdentity(key, lang)
  return [key, lang]
}

function setTtl(_lane: LaneContext, { collection, key, lang, ttl }: InputOf<typeof setTtlRow>): Command {
  checkTtl(ttl)
  return { kind: 'setTtl', collection, key, lang, ttl }
}

export const documentHandlers: readonly BoundHandler[] = [
  prepare(addRow, prepareAdd),
  prepare(addBatchRow, prepareAddBatch),
  read(getRow, get),
  read(docMetaRow, docMeta),
  prepare(updateRow, update),
  prepare(deleteRow, remove),
  prepare(deleteBatchRow, removeBatch),
  prepare(updateBatchRow, updateBatch),
  prepare(setTtlRow, setTtl),
]
