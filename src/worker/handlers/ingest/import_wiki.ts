/**
 * Imports of wikis on the lanes: the request is checked before anything is read; then batches of pages come
 * from the process that reads the dump (src/background/wiki), and are prepared like an ingest.
 */
import type { WikiImportOptions } from '../../../conversion/wiki/import_options.js'
import type { PageItem } from '../../../conversion/wiki/page_batches.js'
import { readPageBatch } from '../../../conversion/wiki/page_batches.js'
import { unfinishedWikiJobs } from '../../../domain/bulk_ingest.js'
import type { Command, PreparedDocument } from '../../../domain/commands.js'
import { requirePlainName } from '../../../domain/documents/identity.js'
import { requireText } from '../../../domain/documents/metadata.js'
import { findDuplicates } from '../../../domain/ingest/duplicates.js'
import { ingestFlags } from '../../../domain/ingest/ingest_options.js'
import { beginWikiRecord, type PageStep, type WikiRecord } from '../../../domain/wiki_import.js'
import { enriched } from '../../../domain/writes/enrichment.js'
import { prepareEnriched } from '../../../domain/writes/preparation.js'
import type { WriteRules } from '../../../domain/writes/write_rules.js'
import { badRequest, ServiceError, serviceError } from '../../../errors.js'
import {
  importPages as pagesRow,
  importWiki as importRow,
  openWikiJobs as openRow,
  submitWikiJob as submitRow,
  WIKI_BATCH_PAGES_DEFAULT,
} from '../../../operations/documents/import_wiki.js'
import type { InputOf } from '../../../operations/row/operation.js'
import type { Answer } from '../../../wire/answer.js'
import type { StoreFirst } from '../../../wire/messages/messages.js'
import type { WikiImport } from '../../../wire/messages/wiki_messages.js'
import { type BoundHandler, io, type LaneContext, prepare, read, type RequestContext } from '../../request/handler.js'
import { commandOf } from '../../request/storage.js'
import { rulesOf } from '../documents.js'

/** Pages that a request may have stored together: as many documents as a batch may have. */
const WIKI_BATCH_PAGES_MAX = 10_000
/** Namespaces of a request: large wikis have 50. Their ids go to some thousands. */
const WIKI_NAMESPACES_MAX = 100
const WIKI_NAMESPACE_ID = /^-?\d{1,5}$/

function check(_lane: LaneContext, input: InputOf<typeof importRow>, { access: { principal } }: RequestContext): WikiImport {
  const {
    collection,
    lang,
    skipRedirects = false,
    skipFts = false,
    maxPages = 0,
    batchSize = WIKI_BATCH_PAGES_DEFAULT,
    job = false,
  } = input
  requirePlainName('collection', collection)
  requirePlainName('lang', lang)
  const { profile, flags } = ingestFlags({ profile: input.profile ?? 'default' })
  if (batchSize < 1 || batchSize > WIKI_BATCH_PAGES_MAX) throw badRequest(`invalid batchSize: from 1 to ${WIKI_BATCH_PAGES_MAX}`)
  const namespaces = namespacesOf(input.namespaces ?? '0')
  const [file] = input.files
  if (file === undefined) throw serviceError('missingFields')
  if (file.spooled === undefined || file.bytes === 0) throw badRequest('the file is empty')
  const submitter = principal.kind === 'user' ? principal.name : ''
  return {
    collection,
    options: { lang, namespaces, skipRedirects, skipFts, fast: flags.skipDuplicates, maxPages, batchSize },
    profile,
    record: beginWikiRecord(collection, submitter),
    spooled: file.spooled,
    bytes: file.bytes,
    isJob: job,
    submitter,
  }
}

function namespacesOf(text: string): readonly number[] {
  const ids = text.split(',').map((id) => id.trim())
  if (ids.length > WIKI_NAMESPACES_MAX || !ids.every((id) => WIKI_NAMESPACE_ID.test(id)))
    throw badRequest('invalid namespaces: ids separated by commas, such as 0,4')
  return ids.map(Number)
}

function preparePages(lane: LaneContext, input: InputOf<typeof pagesRow>, request: RequestContext): Command | StoreFirst {
  const { job, collection, lang, maxPages, after, last, fault } = input
  const items = readPageBatch(input.pages)
  const duplicates = input.fast ? duplicatesAmong(lane, collection, lang, items) : undefined
  const rules = rulesOf(lane, collection)
  const documents: PreparedDocument[] = []
  const steps = items.map((item, index): PageStep => {
    if (request.shouldStop()) throw serviceError('deadline')
    const { pages, skipped, title, problem } = item
    const step = { pages, skipped, title, problem, hasDocument: false }
    if (title === '' || problem !== '') return step
    if (duplicates?.[index] === true) return { ...step, skipped: skipped + 1 }
    try {
      documents.push(preparePage(lane, input, rules, item))
      return { ...step, hasDocument: true }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { ...step, problem: error.message }
    }
  })
  const record = (input.record ?? null) as WikiRecord | null
  return commandOf(lane, { kind: 'importPages', job, collection, documents, steps, after, record, maxPages, isLast: last, fault })
}

/** By the index of the item. */
function duplicatesAmong(lane: LaneContext, collection: string, lang: string, items: readonly PageItem[]): readonly boolean[] {
  const found = new Array<boolean>(items.length).fill(false)
  const pages = items.map((item, index) => ({ ...item, lang, index })).filter(({ title, problem }) => title !== '' && problem === '')
  const duplicates = lane.store.read((view) => findDuplicates(view, view.collection(collection)?.id, pages))
  pages.forEach(({ index }, at) => (found[index] = duplicates[at] === true))
  return found
}

function preparePage(
  lane: LaneContext,
  { lang, fast, skipFts }: InputOf<typeof pagesRow>,
  rules: WriteRules,
  { key, meta, contentMd }: PageItem,
): PreparedDocument {
  requireText(contentMd, meta)
  const draft = { key, lang, contentMd, meta, ttl: 0, rules, saveRevision: !fast, answered: false }
  const wishes = { skipsFullText: skipFts, skipsEmbedding: true, skipsWebhooks: true }
  return prepareEnriched(lane, { ...draft, ...wishes }, enriched(draft))
}

function submit(_lane: LaneContext, { id, collection, submitter, options }: InputOf<typeof submitRow>): Command {
  return { kind: 'submitIngest', id, collection, total: 0, callbackUrl: '', submitter, wiki: options as WikiImportOptions }
}

/** With all fields, those that clients are not shown included. */
function open(lane: LaneContext): Answer {
  return { body: JSON.stringify(lane.store.read(unfinishedWikiJobs).map(({ id, fields }) => ({ id, record: fields }))) }
}

export const importWikiHandlers: readonly BoundHandler[] = [
  io(importRow, check),
  prepare(pagesRow, preparePages),
  prepare(submitRow, submit),
  read(openRow, open),
]
